/* The innermost loops, as a table of functions filled once per instruction set.
 *
 * A kernel works on a *line* of rows, each lagging one step behind the one before, so that the line
 * runs along the anti-diagonal: row r of a line works on column step - r. In a *strip* the lanes
 * are the rows of one pair of series. In a *pack* half the lanes are one row each of as many pairs,
 * the other half the next row of the same pairs; that needs hardly any ramp, so it suits short
 * series, and each cell of the border between lines serves two rows. Steps are numbered from 1, as
 * columns are. The cell above is in the row before or, for a line's first row, in the border.
 *
 * Numbers of a lane vector are stored together: element l of step t at [t * lanes + l].
 */
#ifndef SOFTDTW_CORE_KERNELS_H
#define SOFTDTW_CORE_KERNELS_H

#include <stddef.h>

#include "precision.h"

#ifdef SDTW_SINGLE
enum { SDTW_MAX_LANES = 32 };
#else
enum { SDTW_MAX_LANES = 16 };
#endif

/* Which cells of a line exist: lane l has the steps lo[l]..hi[l], counted from `origin`; all lanes
 * have those from inner_first to inner_last, none has any outside first..last. */
typedef struct {
  sdtw_real lo[SDTW_MAX_LANES], hi[SDTW_MAX_LANES];
  ptrdiff_t origin;
  ptrdiff_t first, last, inner_first, inner_last;
  ptrdiff_t row;                  /* number of rows above the line */
  sdtw_real skip[SDTW_MAX_LANES]; /* how many of them come before the lane's own pair */
  ptrdiff_t due;                  /* 2 and the largest of these */
} sdtw_span;

/* Points of y as the lanes see them: dimension k at step t is at + t * step + k * dim for the first
 * half of the lanes, and `second` further for the other half. */
typedef struct {
  const sdtw_real *at;
  ptrdiff_t step, dim, second;
} sdtw_view;

/* An accumulator for each column and dimension of y: column j at at + j * step + k * dim. */
typedef struct {
  sdtw_real *at;
  ptrdiff_t step, dim;
} sdtw_columns;

/* The border between two lines, forward: mantissa and exponent of each column (gamma = 0: the
 * value, and no exponent). In a pack one number a pair and column, in a strip one a column. */
typedef struct {
  sdtw_real *mantissa, *exponent;
} sdtw_border;

/* The border backward: what the line below owes to the cells above and diagonally above. */
typedef struct {
  sdtw_real *up, *diagonal;
} sdtw_debt;

enum { SDTW_FORWARD_STATE = 4, SDTW_BACKWARD_STATE = 4, SDTW_DELAY_STATE = 20, SDTW_SHARES = 3 };

/* Sweeps the steps from..to-1 of a line: the border above is replaced by the border below. state
 * holds SDTW_FORWARD_STATE vectors between calls on one line. cost and shares start at step `from`;
 * shares: three vectors a step (up, left, diagonal), or NULL where none are kept. */
typedef void sdtw_forward(const sdtw_real *cost, sdtw_border border, sdtw_real *state,
                          sdtw_real *shares, const sdtw_span *span, ptrdiff_t from, ptrdiff_t to);

typedef struct {
  int lanes, width; /* width: pairs in a pack, half the lanes */
  sdtw_real origin; /* the exponent that stands for 2^0 */
  double most;      /* forward, soft: a path may cost less than this */

  void (*fill)(sdtw_real *to, size_t count, sdtw_real value);
  /* Makes vectors of `width`, each of one number, out of the `count` numbers that lie in front. */
  void (*spread)(sdtw_real *numbers, size_t count);

  /* out[t] = scale * cost(x, y[t]) for count steps; kind is an sdtw_ground_cost */
  void (*cost)(int kind, sdtw_real scale, const sdtw_real *x, const sdtw_view *y, size_t d,
               size_t count, sdtw_real *out);

  /* The same for a strip by columns, which are spread over the steps that its lanes meet them in:
   * faster where d is large. count is a multiple of 4, a column's numbers lie together. out begins
   * at the step where the first row meets the first column; its first width steps hold what the
   * call before left there for the second half of the lanes. state: SDTW_DELAY_STATE vectors,
   * carried from call to call on a line. */
  void (*strip_cost)(int kind, sdtw_real scale, const sdtw_real *x, const sdtw_real *y, size_t d,
                     size_t count, sdtw_real *state, sdtw_real *out);

  sdtw_forward *forward[2][2][2]; /* [hard][strip][keeping shares] */

  /* Sweeps back from step to-1 to `from`: E of each cell into alignment, debts to the line above
   * in place of those from the line below. state holds SDTW_BACKWARD_STATE vectors. */
  void (*backward)(int strip, const sdtw_real *shares, sdtw_debt debt, sdtw_real *state,
                   sdtw_real *alignment, ptrdiff_t from, ptrdiff_t to);

  /* Adds E * d cost / d x to gx (d vectors) and E * d cost / d y to gy (may be NULL), up to a
   * constant factor. travel holds d vectors: the sums of y's gradient on their way. alignment
   * is overwritten for the euclidean cost. */
  void (*gradient)(int kind, int strip, sdtw_real *alignment, const sdtw_real *x,
                   const sdtw_view *y, size_t d, ptrdiff_t from, ptrdiff_t to, sdtw_real *gx,
                   const sdtw_columns *gy, sdtw_real *travel);

  /* Adds E to mass (a vector) and E (x - y)^2 to square (d vectors). */
  void (*moments)(const sdtw_real *alignment, const sdtw_real *x, const sdtw_view *y, size_t d,
                  size_t count, sdtw_real *mass, sdtw_real *square);
} sdtw_kernels;

extern const sdtw_kernels sdtw_kernels_generic;
#if defined(__x86_64__)
extern const sdtw_kernels sdtw_kernels_avx2;
extern const sdtw_kernels sdtw_kernels_avx512;
#endif

#endif
