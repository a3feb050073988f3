/* Jobs over sets of series: which pairs go together, in what order, and where results go.
 *
 * Series are taken by decreasing length (ties in input order), so that the pairs of a pack are
 * alike and long work starts first. Work is cut into tasks of roughly task_cells cells that the
 * threads draw one by one. A value does not depend on its neighbours (see sweep.h), so tasks may
 * be cut freely; sums do depend on their order, so SDTW_REDUCE adds within and between blocks whose
 * size follows from the job alone. No thread count changes a bit of any result.
 */
#include <math.h>
#include <string.h>

#include "batch.h"
#include "places.h"
#include "sweep.h"

/* Cells of a task: tens of milliseconds, so that interrupts, progress and balance come cheap. */
static const double task_cells = 2e7;
enum { LONGEST_EDGE = 32, PAIRS_A_TASK = 64, KNN_QUERIES = 16, KNN_CANDIDATES = 64 };
enum { MOST_PAIRS = LONGEST_EDGE * LONGEST_EDGE };

typedef struct {
  sdtw_sweep sweep;
  sdtw_pair *pairs;
  double *value;
} worker;

typedef struct {
  const sdtw_job *job;
  int wants;
  double *centre;
  sdtw_reach *reach; /* of all series */
  worker *workers;
  size_t pairs; /* PAIRS, REDUCE */
  size_t edge;  /* MATRIX, DIST: a task is edge x edge pairs; PAIRS, REDUCE: edge pairs */
  size_t *order_x, *order_y, *tally;
  double *partial; /* REDUCE: the sums of each block */
  size_t partial_size;
  size_t segments; /* KNN: parts that the candidates are cut into */
  double *near;    /* KNN: the k nearest of each query in each segment */
  size_t *near_index;
  double *merged; /* KNN: room for one list */
  size_t *merged_index;
} batch;

static size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }
static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t most(size_t a, size_t b) { return a > b ? a : b; }

/* ---- planning ------------------------------------------------------------------------------ */

static int wants_of(const sdtw_job *job) {
  int wants = 0;
  if (job->kind == SDTW_ALIGNMENT) wants |= SDTW_WANT_ALIGNMENT;
  if (job->grad_x || job->sum_x) wants |= SDTW_WANT_X;
  if (job->grad_y) wants |= SDTW_WANT_Y;
  if (job->mass) wants |= SDTW_WANT_MOMENTS;
  return wants;
}

static double longest_cells(const sdtw_job *job) {
  return (double)job->x->longest * (double)job->y->longest;
}

static size_t choose_edge(const sdtw_job *job) {
  double pairs = task_cells / longest_cells(job);
  if (job->kind == SDTW_REDUCE) return sdtw_reduce_block(job);
  if (job->kind == SDTW_PAIRS)
    return pairs >= PAIRS_A_TASK ? PAIRS_A_TASK : pairs >= 1 ? (size_t)pairs : 1;
  double edge = floor(sqrt(pairs));
  return edge >= LONGEST_EDGE ? LONGEST_EDGE : edge >= 4 ? (size_t)edge : 4;
}

static void lay_out_workers(batch *b, sdtw_arena *arena) {
  size_t threads = (size_t)b->job->options.threads;
  size_t sweep_bytes = sdtw_sweep_bytes(b->job, b->wants);
  b->workers = sdtw_take(arena, threads, sizeof(worker));
  for (size_t t = 0; t < threads; t++) {
    void *scratch = sdtw_take(arena, sweep_bytes, 1);
    sdtw_pair *pairs = sdtw_take(arena, MOST_PAIRS, sizeof(sdtw_pair));
    double *value = sdtw_take_doubles(arena, MOST_PAIRS);
    if (!arena->base) continue;
    sdtw_sweep_init(&b->workers[t].sweep, b->job, b->wants, b->centre, scratch);
    b->workers[t].pairs = pairs;
    b->workers[t].value = value;
  }
}

static void lay_out_knn(batch *b, sdtw_arena *arena) {
  size_t blocks = divide_up(b->job->x->count, KNN_QUERIES);
  size_t most_segments = divide_up(b->job->y->count, KNN_CANDIDATES);
  b->segments = least(most_segments, divide_up(64, blocks));
  size_t kept = blocks * KNN_QUERIES * b->segments * (size_t)b->job->k;
  b->near = sdtw_take_doubles(arena, kept);
  b->near_index = sdtw_take(arena, kept, sizeof(size_t));
  b->merged = sdtw_take_doubles(arena, (size_t)b->job->k);
  b->merged_index = sdtw_take(arena, (size_t)b->job->k, sizeof(size_t));
}

static void lay_out(batch *b, sdtw_arena *arena) {
  const sdtw_job *job = b->job;
  b->wants = wants_of(job);
  b->centre = sdtw_take_doubles(arena, job->given_cost ? 0 : job->x->d);
  b->reach = sdtw_take(arena, job->given_cost ? 0 : job->x->d, sizeof(sdtw_reach));
  lay_out_workers(b, arena);
  if (job->kind == SDTW_ALIGNMENT) return;
  b->edge = choose_edge(job);
  b->pairs = most(job->x->count, job->y->count);
  b->order_x = sdtw_take(arena, b->pairs, sizeof(size_t));
  b->order_y = sdtw_take(arena, b->pairs, sizeof(size_t));
  b->tally = sdtw_take(arena, (size_t)job->x->longest + (size_t)job->y->longest + 2,
                       sizeof(size_t));
  if (job->kind == SDTW_REDUCE) {
    b->partial_size = sdtw_reduce_size(job);
    b->partial = sdtw_take_doubles(arena, divide_up(b->pairs, b->edge) * b->partial_size);
  }
  if (job->kind == SDTW_KNN) lay_out_knn(b, arena);
}

static batch empty_batch(const sdtw_job *job) {
  batch b;
  memset(&b, 0, sizeof b);
  b.job = job;
  return b;
}

size_t sdtw_batch_plan(const sdtw_job *job) {
  batch b = empty_batch(job);
  sdtw_arena counting = {NULL, 0};
  lay_out(&b, &counting);
  return counting.used + SDTW_CACHE_LINE;
}

/* ---- values of a list of pairs ------------------------------------------------------------- */

static void evaluate(worker *w, size_t count, sdtw_crew *crew, int thread) {
  for (size_t done = 0; done < count;) {
    int taken = sdtw_sweep_load(&w->sweep, w->pairs + done, count - done);
    if (sdtw_sweep_run(&w->sweep, crew, thread)) return;
    memcpy(w->value + done, w->sweep.value, (size_t)taken * sizeof(double));
    done += (size_t)taken;
  }
}

/* Waking threads for less work than this, in cells, costs more than it saves. */
static const double cells_a_thread = 2e5;

/* pairs: an upper bound of the job's number of pairs */
static sdtw_status share_out(batch *b, const sdtw_monitor *monitor, size_t tasks, sdtw_task work,
                             double pairs) {
  double worth = pairs * longest_cells(b->job) / cells_a_thread;
  int threads = b->job->options.threads;
  if (worth < threads) threads = worth < 1 ? 1 : (int)worth;
  return sdtw_crew_run(monitor, threads, tasks, work, b);
}

/* ---- SDTW_PAIRS ---------------------------------------------------------------------------- */

static sdtw_pair pair_number(const sdtw_job *job, size_t p) {
  return (sdtw_pair){job->x->count == 1 ? 0 : p, job->y->count == 1 ? 0 : p};
}

static void pairs_task(void *context, size_t task, int thread, sdtw_crew *crew) {
  batch *b = context;
  const sdtw_job *job = b->job;
  worker *w = b->workers + thread;
  size_t from = task * b->edge, count = least(b->edge, b->pairs - from);
  for (size_t i = 0; i < count; i++) w->pairs[i] = pair_number(job, b->order_x[from + i]);
  for (size_t done = 0; done < count;) {
    int taken = sdtw_sweep_load(&w->sweep, w->pairs + done, count - done);
    if (sdtw_sweep_run(&w->sweep, crew, thread)) return;
    for (int l = 0; l < taken; l++) {
      size_t p = b->order_x[from + done + (size_t)l];
      job->value[p] = w->sweep.value[l];
      if (job->grad_x) sdtw_sweep_add_x(&w->sweep, l, 1.0, job->grad_x[p]);
      if (job->grad_y) sdtw_sweep_add_y(&w->sweep, l, 1.0, job->grad_y[p]);
    }
    done += (size_t)taken;
  }
}

static sdtw_status run_pairs(batch *b, const sdtw_monitor *monitor) {
  sdtw_order_by_length(b->order_x, b->pairs, b->job->x, b->job->y, b->tally);
  return share_out(b, monitor, divide_up(b->pairs, b->edge), pairs_task, (double)b->pairs);
}

/* ---- SDTW_MATRIX and SDTW_DIST ------------------------------------------------------------- */

/* Task numbers of a self matrix run through the tiles (row, column) with row <= column. */
static void triangle_tile(size_t task, size_t *row, size_t *column) {
  size_t c = (size_t)((sqrt(8.0 * (double)task + 1.0) - 1.0) / 2.0);
  while (c * (c + 1) / 2 > task) c--;
  while ((c + 1) * (c + 2) / 2 <= task) c++;
  *column = c;
  *row = task - c * (c + 1) / 2;
}

typedef struct {
  size_t row, row_end, column, column_end;
  int on_diagonal;
} tile;

static tile tile_at(const batch *b, size_t row, size_t column) {
  const sdtw_job *job = b->job;
  return (tile){row * b->edge, least((row + 1) * b->edge, job->x->count), column * b->edge,
                least((column + 1) * b->edge, job->y->count), job->x == job->y && row == column};
}

/* Lists the pairs of a tile in groups of as many columns as a pack has pairs: all rows that are
 * `whole` there, or all that are not, as those across the diagonal of a self matrix, of which only
 * the pairs on or above it count. */
static size_t list_rows(const batch *b, const tile *t, int whole, worker *w, size_t count) {
  const size_t group = (size_t)w->sweep.usual->width, skip = b->job->kind == SDTW_DIST;
  for (size_t first = t->column; first < t->column_end; first += group) {
    size_t end = least(first + group, t->column_end);
    for (size_t i = t->row; i < t->row_end; i++) {
      size_t from = t->on_diagonal ? most(first, i + skip) : first;
      if ((from == first) != whole) continue;
      for (size_t j = from; j < end; j++)
        w->pairs[count++] = (sdtw_pair){b->order_x[i], b->order_y[j]};
    }
  }
  return count;
}

/* Whole rows come first, so that packs find the same y again and again, and one x in each. */
static size_t list_tile(const batch *b, size_t row, size_t column, worker *w) {
  const tile t = tile_at(b, row, column);
  return list_rows(b, &t, 0, w, list_rows(b, &t, 1, w, 0));
}

static void matrix_task(void *context, size_t task, int thread, sdtw_crew *crew) {
  batch *b = context;
  const sdtw_job *job = b->job;
  worker *w = b->workers + thread;
  size_t row, column, rows = divide_up(job->x->count, b->edge);
  if (job->x == job->y) {
    triangle_tile(task, &row, &column);
  } else {
    row = task % rows;
    column = task / rows;
  }
  size_t count = list_tile(b, row, column, w);
  evaluate(w, count, crew, thread);
  for (size_t i = 0; i < count; i++) {
    double value = sdtw_without_own(job, w->value[i], w->pairs[i].x, w->pairs[i].y);
    if (job->kind == SDTW_DIST)
      sdtw_put_dist(job, w->pairs[i].x, w->pairs[i].y, value);
    else
      sdtw_put_matrix(job, w->pairs[i].x, w->pairs[i].y, value);
  }
}

static sdtw_status run_matrix(batch *b, const sdtw_monitor *monitor) {
  const sdtw_job *job = b->job;
  size_t rows = divide_up(job->x->count, b->edge), columns = divide_up(job->y->count, b->edge);
  sdtw_order_by_length(b->order_x, job->x->count, job->x, NULL, b->tally);
  sdtw_order_by_length(b->order_y, job->y->count, job->y, NULL, b->tally);
  size_t tasks = job->x == job->y ? rows * (rows + 1) / 2 : rows * columns;
  return share_out(b, monitor, tasks, matrix_task, (double)job->x->count * (double)job->y->count);
}

/* ---- SDTW_KNN ------------------------------------------------------------------------------ */

static const size_t nobody = (size_t)-1;

static sdtw_nearest kept_of(const batch *b, size_t query, size_t segment) {
  size_t k = (size_t)b->job->k, at = (query * b->segments + segment) * k;
  return (sdtw_nearest){b->near + at, b->near_index + at, k, 0};
}

/* Compares the queries from..to-1 with the candidates first..end-1, all in length order. */
static void knn_tile(batch *b, size_t from, size_t to, size_t first, size_t end,
                     sdtw_nearest *lists, worker *w, sdtw_crew *crew, int thread) {
  const sdtw_job *job = b->job;
  size_t count = 0;
  for (size_t q = from; q < to; q++) {
    for (size_t c = first; c < end; c++) {
      sdtw_pair p = {b->order_x[q], b->order_y[c]};
      if (job->x != job->y || p.x != p.y) w->pairs[count++] = p;
    }
  }
  evaluate(w, count, crew, thread);
  size_t i = 0;
  for (size_t q = from; q < to; q++) {
    for (; i < count && w->pairs[i].x == b->order_x[q]; i++) {
      sdtw_pair p = w->pairs[i];
      sdtw_consider(lists + (q - from), sdtw_without_own(job, w->value[i], p.x, p.y), p.y);
    }
  }
}

static void knn_task(void *context, size_t task, int thread, sdtw_crew *crew) {
  batch *b = context;
  size_t n = b->job->y->count, segment = task % b->segments;
  size_t from = task / b->segments * KNN_QUERIES;
  size_t to = least(from + KNN_QUERIES, b->job->x->count);
  size_t first = n * segment / b->segments, end = n * (segment + 1) / b->segments;
  sdtw_nearest lists[KNN_QUERIES];
  for (size_t q = from; q < to; q++) lists[q - from] = kept_of(b, q, segment);
  for (size_t c = first; c < end; c += KNN_CANDIDATES) {
    if (sdtw_crew_stopped(crew, thread)) return;
    knn_tile(b, from, to, c, least(c + KNN_CANDIDATES, end), lists, b->workers + thread, crew,
             thread);
  }
  for (size_t q = from; q < to; q++) {
    sdtw_nearest *list = lists + (q - from);
    for (size_t i = list->count; i < list->k; i++) list->index[i] = nobody;
  }
}

/* Joins the lists of a query's segments and hands the result out. */
static void merge_segments(const batch *b, size_t query) {
  sdtw_nearest all = {b->merged, b->merged_index, (size_t)b->job->k, 0};
  size_t place = b->order_x[query], queries = b->job->x->count;
  for (size_t s = 0; s < b->segments; s++) {
    sdtw_nearest part = kept_of(b, query, s);
    for (size_t i = 0; i < part.k && part.index[i] != nobody; i++)
      sdtw_consider(&all, part.distance[i], part.index[i]);
  }
  for (size_t i = 0; i < all.count; i++) {
    b->job->distance[place + i * queries] = all.distance[i];
    b->job->index[place + i * queries] = (int)all.index[i] + 1;
  }
}

static sdtw_status run_knn(batch *b, const sdtw_monitor *monitor) {
  const sdtw_job *job = b->job;
  size_t queries = job->x->count;
  sdtw_order_by_length(b->order_x, queries, job->x, NULL, b->tally);
  sdtw_order_by_length(b->order_y, job->y->count, job->y, NULL, b->tally);
  size_t tasks = divide_up(queries, KNN_QUERIES) * b->segments;
  double pairs = (double)queries * (double)job->y->count;
  if (share_out(b, monitor, tasks, knn_task, pairs)) return SDTW_STOPPED;
  for (size_t q = 0; q < queries; q++) merge_segments(b, q);
  return SDTW_OK;
}

/* ---- SDTW_REDUCE --------------------------------------------------------------------------- */

/* A block's sums lie together: gradient, row sums of E, squares; those that are wanted. */
static void add_lane(const batch *b, const sdtw_sweep *s, int lane, double weight, double *sums) {
  size_t n = (size_t)b->job->x->length[0], d = b->job->x->d;
  if (b->job->sum_x) {
    sdtw_sweep_add_x(s, lane, weight, sums);
    sums += n * d;
  }
  if (b->job->mass) sdtw_sweep_add_moments(s, lane, weight, sums, sums + n);
}

static void reduce_task(void *context, size_t task, int thread, sdtw_crew *crew) {
  batch *b = context;
  worker *w = b->workers + thread;
  size_t from = task * b->edge, count = least(b->edge, b->pairs - from);
  double *sums = b->partial + task * b->partial_size;
  memset(sums, 0, b->partial_size * sizeof(double));
  for (size_t i = 0; i < count; i++) w->pairs[i] = (sdtw_pair){0, b->order_y[from + i]};
  for (size_t done = 0; done < count;) {
    int taken = sdtw_sweep_load(&w->sweep, w->pairs + done, count - done);
    if (sdtw_sweep_run(&w->sweep, crew, thread)) return;
    for (int l = 0; l < taken; l++) {
      size_t i = w->pairs[done + (size_t)l].y;
      b->job->value[i] = w->sweep.value[l];
      add_lane(b, &w->sweep, l, b->job->weights[i], sums);
    }
    done += (size_t)taken;
  }
}

/* Adds up one part of all blocks, `offset` numbers into each, in block order. */
static void gather(const batch *b, size_t offset, size_t size, double *out) {
  memset(out, 0, size * sizeof(double));
  for (size_t block = 0; block < divide_up(b->pairs, b->edge); block++) {
    const double *part = b->partial + block * b->partial_size + offset;
    for (size_t i = 0; i < size; i++) out[i] += part[i];
  }
}

static sdtw_status run_reduce(batch *b, const sdtw_monitor *monitor) {
  const sdtw_job *job = b->job;
  size_t n = (size_t)job->x->length[0], d = job->x->d;
  sdtw_order_by_length(b->order_y, b->pairs, job->y, NULL, b->tally);
  if (share_out(b, monitor, divide_up(b->pairs, b->edge), reduce_task, (double)b->pairs))
    return SDTW_STOPPED;
  size_t moments = job->sum_x ? n * d : 0;
  if (job->sum_x) gather(b, 0, n * d, job->sum_x);
  if (job->mass) gather(b, moments, n, job->mass);
  if (job->mass) gather(b, moments + n, n * d, job->square);
  return SDTW_OK;
}

/* ---- SDTW_ALIGNMENT ------------------------------------------------------------------------ */

static void alignment_task(void *context, size_t task, int thread, sdtw_crew *crew) {
  batch *b = context;
  const sdtw_job *job = b->job;
  sdtw_sweep *s = &b->workers[thread].sweep;
  const sdtw_pair only = {task, task};
  if (job->given_cost)
    sdtw_sweep_load_cost(s, job->given_cost, job->given_n, job->given_m);
  else
    sdtw_sweep_load(s, &only, 1);
  s->alignment_out = job->alignment;
  if (sdtw_sweep_run(s, crew, thread) == SDTW_OK) job->value[0] = s->value[0];
}

/* ---- centre and unit ------------------------------------------------------------------------ */

static void find_reach(batch *b) {
  const sdtw_job *job = b->job;
  sdtw_reach_clear(b->reach, job->x->d);
  for (size_t i = 0; i < job->x->count; i++) sdtw_reach_widen(b->reach, job->x, i);
  if (job->y == job->x) return;
  for (size_t i = 0; i < job->y->count; i++) sdtw_reach_widen(b->reach, job->y, i);
}

/* A float has seven digits, and an offset common to all series must not use them up: in single
 * precision series are taken relative to the middle of their range. Squares must neither vanish nor
 * overflow where the result would not: then series are taken in units of a power of two, so that no
 * bit is lost. In double only the root of the Euclidean cost hides such squares. */
#ifdef SDTW_SINGLE
static const double small_reach = 0x1p-16, large_reach = 0x1p16;
static int is_centred(void) { return 1; }
static int has_unit(const sdtw_job *job) { return job->options.cost != SDTW_COSINE; }
#else
static const double small_reach = 0x1p-400, large_reach = 0x1p400;
static int is_centred(void) { return 0; }
static int has_unit(const sdtw_job *job) { return job->options.cost == SDTW_EUCLIDEAN; }
#endif

/* Fills b->centre and returns the largest range of a dimension. */
static double find_centre(batch *b) {
  double widest = 0;
  for (size_t k = 0; k < b->job->x->d; k++) {
    double low = b->reach[k].low, range = b->reach[k].high - low;
    b->centre[k] = is_centred() ? low + 0.5 * range : 0;
    widest = fmax(widest, range);
  }
  return widest;
}

static void choose_unit(batch *b, double widest) {
  int exponent;
  if (!has_unit(b->job) || widest == 0 || (widest >= small_reach && widest <= large_reach)) return;
  frexp(widest, &exponent);
  exponent = exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent;
  for (int t = 0; t < b->job->options.threads; t++)
    sdtw_sweep_set_unit(&b->workers[t].sweep, ldexp(1, exponent));
}

static void measure(batch *b) {
  if (b->job->given_cost) return;
  find_reach(b);
  choose_unit(b, find_centre(b));
  for (int t = 0; t < b->job->options.threads; t++)
    sdtw_sweep_set_reach(&b->workers[t].sweep, b->reach);
}

/* ---- entry --------------------------------------------------------------------------------- */

sdtw_status sdtw_batch_run(const sdtw_job *job, void *scratch, const sdtw_monitor *monitor) {
  batch b = empty_batch(job);
  size_t past = (size_t)scratch % SDTW_CACHE_LINE;
  sdtw_arena arena = {(char *)scratch + (past ? SDTW_CACHE_LINE - past : 0), 0};
  lay_out(&b, &arena);
  measure(&b);
  switch (job->kind) {
    case SDTW_PAIRS:
      return run_pairs(&b, monitor);
    case SDTW_MATRIX:
    case SDTW_DIST:
      return run_matrix(&b, monitor);
    case SDTW_KNN:
      return run_knn(&b, monitor);
    case SDTW_REDUCE:
      return run_reduce(&b, monitor);
    case SDTW_ALIGNMENT:
      return sdtw_crew_run(monitor, 1, 1, alignment_task, &b);
  }
  return SDTW_OK;
}
