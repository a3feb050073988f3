/* One sweep: a pack of pairs side by side in the lanes, or one pair with its rows in the lanes (see
 * kernels.h), forward for the value and back for the expected alignment and the gradients.
 *
 * Where only values are wanted, pairs that have x in common follow one another in a strip, as if
 * their y's were one series: lanes that are done with one go on to the next. Between two lies a
 * point so far away that what passes it is nothing beside any path of the next pair.
 *
 * Nothing of size n x m is ever kept. The forward sweep keeps the borders between blocks of lines;
 * going back, each block is swept forward once more, now keeping the shares of its cells, and then
 * swept back. Where even one border a block would exceed border_budget, borders are kept in two
 * levels and a superblock of lines is swept forward twice.
 *
 * The bits of a pair's results do not depend on where it was computed: in a pack or a strip, in
 * which lane, beside which others.
 */
#ifndef SOFTDTW_CORE_SWEEP_H
#define SOFTDTW_CORE_SWEEP_H

#include "arena.h"
#include "kernels.h"
#include "reach.h"
#include "softdtw.h"
#include "threads.h"
#include "window.h"

typedef struct {
  size_t x, y; /* numbers of the series in their sets */
} sdtw_pair;

/* What a sweep is to leave behind beside the value. */
enum { SDTW_WANT_X = 1, SDTW_WANT_Y = 2, SDTW_WANT_MOMENTS = 4, SDTW_WANT_ALIGNMENT = 8 };

typedef struct {
  /* fixed for the job */
  const sdtw_kernels *usual, *unlimited; /* for pairs of moderate cost, and for all others */
  const sdtw_set *x_set, *y_set;
  sdtw_ground_cost cost_kind;
  double gamma;
  const double *centre; /* points are taken as (point - centre) * per_unit */
  double per_unit, scale, hard_unit, square_unit, factor; /* from there to results */
  ptrdiff_t window;
  int hard, kind, wants, all_moderate;
  double far, far_point; /* so far off a point costs more than any path of a moderate pair */

  /* the pairs at hand */
  const sdtw_kernels *kernels;
  int moderate, strip, used;
  ptrdiff_t n[SDTW_MAX_LANES], m[SDTW_MAX_LANES], n_max, m_max;
  ptrdiff_t before[SDTW_MAX_LANES]; /* a strip's columns before those of each pair */
  int read;                         /* a strip's pairs whose values have been read off */
  size_t d;
  const double *given;   /* cost matrix in place of series, n x m */
  double *alignment_out; /* where to put E, n x m */
  double value[SDTW_MAX_LANES];

  /* what the last load left in place: the y's of held_pairs pairs, of a strip x too */
  int held_pairs, held_strip;
  ptrdiff_t held_steps;
  size_t held_lines, held_x, held_y[SDTW_MAX_LANES];

  size_t last_line[SDTW_MAX_LANES], first_end; /* of each pair of a pack, and the least of them */

  /* layout, in scratch memory */
  sdtw_arena scratch;
  sdtw_reach *reach; /* of the pair at hand */
  size_t lines, rows, stride, columns, block, superblock, border_size;
  sdtw_real *x, *y, *points, *delays; /* points: a strip's y column by column */
  sdtw_border border;
  sdtw_real *outer, *inner, *shares, *cost, *state, *alignment;
  sdtw_debt debt;
  sdtw_real *gx, *gy, *travel, *mass, *square;

  sdtw_span span;            /* of the last line, which if it is an inner one serves others */
  int has_inner_span, alike; /* alike: all pairs have the same lengths */
  sdtw_range steps[2];       /* alike packs: those of the rows of the last line, from span.origin */
} sdtw_sweep;

void sdtw_sweep_init(sdtw_sweep *s, const sdtw_job *job, int wants, const double *centre,
                     void *scratch);
/* Takes points in units of `unit`, a power of two; without this it is 1. */
void sdtw_sweep_set_unit(sdtw_sweep *s, double unit);
/* Tells the range of each dimension over all series of the job. Without this every pair is looked
 * at before its kernels are chosen. */
void sdtw_sweep_set_reach(sdtw_sweep *s, const sdtw_reach *reach);
/* Bytes of scratch for any pair of the job's sets. */
size_t sdtw_sweep_bytes(const sdtw_job *job, int wants);

/* Takes the next pairs of a list: as many as fill a pack or a strip when they suit each other, else
 * one. Returns how many; their values are in s->value afterwards. */
int sdtw_sweep_load(sdtw_sweep *s, const sdtw_pair *pairs, size_t count);
void sdtw_sweep_load_cost(sdtw_sweep *s, const double *cost, size_t n, size_t m);
sdtw_status sdtw_sweep_run(sdtw_sweep *s, sdtw_crew *crew, int thread);

/* Adds weight times a pair's gradient (row sums, weighted squares) to a column-major array. */
void sdtw_sweep_add_x(const sdtw_sweep *s, int pair, double weight, double *out);
void sdtw_sweep_add_y(const sdtw_sweep *s, int pair, double weight, double *out);
void sdtw_sweep_add_moments(const sdtw_sweep *s, int pair, double weight, double *mass,
                            double *square);

#endif
