/* The core's public face: what a caller hands over and what it gets back.
 *
 * The core knows no R: it neither allocates, prints nor jumps. The caller asks sdtw_plan() for the
 * bytes of scratch memory a job needs, provides them, and calls sdtw_run(). Series are packed as
 * in an R softdtw_series: inside a series the dimensions of one time step lie together.
 */
#ifndef SOFTDTW_CORE_SOFTDTW_H
#define SOFTDTW_CORE_SOFTDTW_H

#include <stddef.h>

typedef enum { SDTW_SQEUCLIDEAN, SDTW_EUCLIDEAN, SDTW_MANHATTAN, SDTW_COSINE } sdtw_ground_cost;

typedef enum { SDTW_GENERIC, SDTW_AVX2, SDTW_AVX512 } sdtw_isa;

typedef enum { SDTW_OK, SDTW_STOPPED, SDTW_FAILED } sdtw_status;

typedef struct {
  const double *values;
  const size_t *start; /* of each series in values */
  const int *length;   /* time steps of each series */
  size_t count, d;
  int longest;
} sdtw_set;

typedef struct {
  double gamma;          /* 0: hard DTW */
  sdtw_ground_cost cost; /* SDTW_COSINE: the sets hold unit vectors (unit.h) */
  ptrdiff_t window;      /* Sakoe-Chiba radius, negative for none */
  int single;            /* work in float: a third of the digits, about twice the speed */
  int threads;
  sdtw_isa isa;
  double device_memory; /* CUDA only: bytes to use at most, 0 for as many as are free */
} sdtw_options;

/* Called on the calling thread every few milliseconds with the share of work done; a non-zero
 * answer stops the job. */
typedef struct {
  int (*check)(void *data, double done);
  void *data;
} sdtw_monitor;

typedef enum {
  SDTW_PAIRS,     /* value of each pair of x and y (counts equal, or one of them 1) */
  SDTW_MATRIX,    /* x->count by y->count values, column-major; y == x: each pair once */
  SDTW_DIST,      /* the lower triangle of x by x without diagonal, packed by columns */
  SDTW_KNN,       /* for each series of x the k least values among y (y == x: itself left out) */
  SDTW_REDUCE,    /* values of x's only series against all of y, gradients summed with weights */
  SDTW_ALIGNMENT, /* value and expected alignment of one pair, or of a given cost matrix */
} sdtw_job_kind;

typedef struct {
  sdtw_job_kind kind;
  sdtw_options options;
  const sdtw_set *x, *y;
  /* Own values v(s, s): with them MATRIX, DIST and KNN give v(x, y) - (own_x + own_y) / 2. */
  const double *own_x, *own_y;

  double *value;             /* PAIRS, MATRIX, DIST, REDUCE; one number for ALIGNMENT */
  double **grad_x, **grad_y; /* PAIRS: NULL, or for each pair n x d column-major, zeroed */
  const double *weights;     /* REDUCE */
  double *sum_x;             /* REDUCE: n x d sum of weighted gradients, NULL if not wanted */
  double *mass, *square;     /* REDUCE: n weighted row sums of E; n x d weighted sums E (x - y)^2 */
  const double *given_cost;  /* ALIGNMENT: n x m costs instead of series */
  size_t given_n, given_m;
  double *alignment; /* ALIGNMENT: n x m, column-major, zeroed */
  int k;             /* KNN */
  int *index;        /* KNN: x->count by k, column-major, numbered from 1 */
  double *distance;  /* KNN: likewise */
} sdtw_job;

/* The usable instruction sets, most capable last, at most 3; returns their number. */
int sdtw_isa_usable(sdtw_isa found[3]);
const char *sdtw_isa_name(sdtw_isa isa);
int sdtw_isa_lanes(sdtw_isa isa); /* doubles worked on at once */

size_t sdtw_plan(const sdtw_job *job);
sdtw_status sdtw_run(const sdtw_job *job, void *scratch, const sdtw_monitor *monitor);

#endif
