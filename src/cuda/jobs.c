/* Jobs on devices: the pairs of a job in chunks, one launch each, and where their results go.
 *
 * Pairs are taken by decreasing length, so that long ones start first. A chunk is as many of them
 * as some 50 to 100 ms of work, half of the memory that is free, and the host's buffers hold; the
 * devices work on one each, and between chunks the user is asked. While they work the host puts the
 * results of the chunks before where they belong and lists the pairs of those after: it has two of
 * everything that a chunk takes on its side, the devices have one. Where a value comes from does
 * not show in it: the operations of a pair are the same in any chunk, team and device, and
 * SDTW_REDUCE adds blocks of pairs that the job alone decides.
 */
#include <string.h>

#include "core/arena.h"
#include "core/places.h"
#include "device.h"

enum { MOST_DEVICES = 8, MOST_PAIRS = 1 << 20 };
/* Results of a chunk on their way to the caller's arrays, bytes; one pair may take more. */
static const size_t staging_bytes = (size_t)64 << 20;

/* A chunk on the host: its pairs and what comes back. */
typedef struct {
  sdtw_cuda_chunk chunk;
  sdtw_cuda_pair *pairs;
  size_t *out_at, *number; /* number: of each pair in the job (PAIRS) */
  double *value, *weights;
  void *out;
  size_t count;
  double cells;
} portion;

/* A device with the chunk that it works on and the one before or after. */
typedef struct {
  sdtw_cuda_session session;
  int open;
  portion portions[2];
} station;

typedef struct {
  const sdtw_job *job;
  int wants, devices;
  size_t most, staging; /* pairs and bytes of a chunk */
  size_t block, record; /* REDUCE: pairs of a block, numbers summed */
  size_t *order_x, *order_y, *tally;
  size_t i, j;              /* the next pair, in order */
  double cells, cells_done; /* of the job; of what has come back */
  double unit;              /* of the points on the devices */
  station *stations;
  double *sums;       /* REDUCE */
  sdtw_nearest *near; /* KNN: a list for each query */
  double *near_distance;
  size_t *near_index;
} plan;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t most(size_t a, size_t b) { return a > b ? a : b; }

/* ---- planning ------------------------------------------------------------------------------ */

static int wants_of(const sdtw_job *job) {
  int wants = 0;
  if (job->kind == SDTW_ALIGNMENT) wants |= SDTW_CUDA_ALIGNMENT;
  if (job->grad_x || job->sum_x) wants |= SDTW_CUDA_GRAD_X;
  if (job->grad_y) wants |= SDTW_CUDA_GRAD_Y;
  if (job->mass) wants |= SDTW_CUDA_MOMENTS;
  return wants;
}

static size_t number_size(const sdtw_job *job) {
  return job->options.single ? sizeof(float) : sizeof(double);
}

/* Pairs at most; saturates long before it could overflow. */
static size_t pairs_of(const sdtw_job *job) {
  if (job->kind == SDTW_ALIGNMENT) return 1;
  if (job->kind == SDTW_PAIRS || job->kind == SDTW_REDUCE)
    return most(job->x->count, job->y->count);
  if (job->x->count >= MOST_PAIRS || job->y->count >= MOST_PAIRS) return MOST_PAIRS;
  return job->x->count * job->y->count;
}

static size_t results_of(int wants, size_t n, size_t m, size_t d) {
  size_t numbers = 0;
  if (wants & SDTW_CUDA_GRAD_X) numbers += n * d;
  if (wants & SDTW_CUDA_GRAD_Y) numbers += m * d;
  if (wants & SDTW_CUDA_MOMENTS) numbers += n + n * d;
  if (wants & SDTW_CUDA_ALIGNMENT) numbers += n * m;
  return numbers;
}

/* What a chunk's results take on the host: the sums of its blocks, or every pair's. An alignment
 * goes straight to where it belongs. */
static size_t choose_staging(const plan *p) {
  const sdtw_job *job = p->job;
  if (!p->wants || job->kind == SDTW_ALIGNMENT) return 0;
  if (job->kind == SDTW_REDUCE) return (p->most / p->block + 1) * p->record * sizeof(double);
  size_t longest = results_of(p->wants, (size_t)job->x->longest, (size_t)job->y->longest,
                              job->x->d);
  size_t all = longest * p->most * number_size(job);
  return most(longest * number_size(job), least(staging_bytes, all));
}

static size_t choose_most(const plan *p) {
  size_t pairs = least(pairs_of(p->job), MOST_PAIRS);
  if (p->job->kind != SDTW_REDUCE) return pairs;
  size_t blocks = most(1, staging_bytes / (p->record * sizeof(double)));
  return least(pairs, blocks * p->block);
}

static portion lay_out_portion(const plan *p, sdtw_arena *arena) {
  portion blank;
  memset(&blank, 0, sizeof blank);
  blank.pairs = sdtw_take(arena, p->most, sizeof(sdtw_cuda_pair));
  blank.out_at = sdtw_take(arena, p->wants ? p->most : 0, sizeof(size_t));
  blank.number = sdtw_take(arena, p->wants ? p->most : 0, sizeof(size_t));
  blank.weights = sdtw_take_doubles(arena, p->job->kind == SDTW_REDUCE ? p->most : 0);
  blank.value = sdtw_take_doubles(arena, p->most);
  blank.out = sdtw_take(arena, p->staging, 1);
  return blank;
}

static void lay_out_stations(plan *p, sdtw_arena *arena) {
  p->stations = sdtw_take(arena, (size_t)p->devices, sizeof(station));
  for (int d = 0; d < p->devices; d++) {
    station blank;
    memset(&blank, 0, sizeof blank);
    for (int i = 0; i < 2; i++) blank.portions[i] = lay_out_portion(p, arena);
    if (arena->base) p->stations[d] = blank;
  }
}

static void lay_out_knn(plan *p, sdtw_arena *arena) {
  size_t queries = p->job->x->count, k = (size_t)p->job->k;
  p->near = sdtw_take(arena, queries, sizeof(sdtw_nearest));
  p->near_distance = sdtw_take_doubles(arena, queries * k);
  p->near_index = sdtw_take(arena, queries * k, sizeof(size_t));
  for (size_t q = 0; q < queries && arena->base; q++) {
    p->near[q].distance = p->near_distance + q * k;
    p->near[q].index = p->near_index + q * k;
    p->near[q].k = k;
    p->near[q].count = 0;
  }
}

static void lay_out(plan *p, const sdtw_job *job, int devices, sdtw_arena *arena) {
  memset(p, 0, sizeof *p);
  p->job = job;
  p->devices = devices;
  p->wants = wants_of(job);
  if (job->kind == SDTW_REDUCE) {
    p->block = sdtw_reduce_block(job);
    p->record = sdtw_reduce_size(job);
    p->sums = sdtw_take_doubles(arena, p->record);
  }
  p->most = choose_most(p);
  p->staging = choose_staging(p);
  lay_out_stations(p, arena);
  if (job->kind == SDTW_ALIGNMENT) return;
  size_t longest = (size_t)job->x->longest + (size_t)job->y->longest;
  size_t count = most(job->x->count, job->y->count);
  p->order_x = sdtw_take(arena, count, sizeof(size_t));
  p->order_y = sdtw_take(arena, count, sizeof(size_t));
  p->tally = sdtw_take(arena, longest + 2, sizeof(size_t));
  if (job->kind == SDTW_KNN) lay_out_knn(p, arena);
}

/* Room for as many devices as there may be: this machine may have fewer. */
static int devices_for(const sdtw_job *job) {
  int devices = sdtw_cuda_count(NULL);
  if (devices < 1) devices = 1;
  return job->kind == SDTW_ALIGNMENT ? 1 : devices < MOST_DEVICES ? devices : MOST_DEVICES;
}

static size_t plan_bytes(const sdtw_job *job) {
  plan p;
  sdtw_arena counting = {NULL, 0};
  lay_out(&p, job, devices_for(job), &counting);
  return counting.used + SDTW_CACHE_LINE;
}

/* ---- pairs in order ------------------------------------------------------------------------ */

static void start(plan *p) {
  const sdtw_job *job = p->job;
  p->i = p->j = 0;
  switch (job->kind) {
    case SDTW_PAIRS:
      sdtw_order_by_length(p->order_x, pairs_of(job), job->x, job->y, p->tally);
      break;
    case SDTW_MATRIX:
    case SDTW_DIST:
    case SDTW_KNN:
      sdtw_order_by_length(p->order_x, job->x->count, job->x, NULL, p->tally);
      sdtw_order_by_length(p->order_y, job->y->count, job->y, NULL, p->tally);
      break;
    case SDTW_REDUCE:
    case SDTW_ALIGNMENT:
      break;
  }
}

/* The next pair of a table of x by y; of a self table only what is needed. */
static int next_of_table(plan *p, sdtw_cuda_pair *pair) {
  const sdtw_job *job = p->job;
  const int self = job->x == job->y;
  for (;; p->j++) {
    if (p->j >= job->y->count) {
      p->i++;
      p->j = self && job->kind != SDTW_KNN ? p->i : 0;
    }
    if (p->i >= job->x->count) return 0;
    if (p->j >= job->y->count) continue;
    if (self && job->kind != SDTW_MATRIX && p->order_x[p->i] == p->order_y[p->j]) continue;
    pair->x = (unsigned)p->order_x[p->i];
    pair->y = (unsigned)p->order_y[p->j++];
    return 1;
  }
}

/* number: that of the pair in the job, for those jobs that count them */
static int next_pair(plan *p, sdtw_cuda_pair *pair, size_t *number) {
  const sdtw_job *job = p->job;
  *number = 0;
  if (job->kind == SDTW_MATRIX || job->kind == SDTW_DIST || job->kind == SDTW_KNN)
    return next_of_table(p, pair);
  if (p->i >= pairs_of(job)) return 0;
  *number = job->kind == SDTW_PAIRS ? p->order_x[p->i] : p->i;
  p->i++;
  if (job->kind == SDTW_ALIGNMENT) {
    pair->x = pair->y = 0;
    return 1;
  }
  pair->x = job->x->count == 1 ? 0u : (unsigned)*number;
  pair->y = job->y->count == 1 ? 0u : (unsigned)*number;
  return 1;
}

static double cells_of(const sdtw_job *job, sdtw_cuda_pair pair) {
  if (job->given_cost) return (double)job->given_n * (double)job->given_m;
  return (double)job->x->length[pair.x] * (double)job->y->length[pair.y];
}

static size_t results_of_pair(const plan *p, sdtw_cuda_pair pair) {
  const sdtw_job *job = p->job;
  if (job->given_cost) return job->given_n * job->given_m;
  return results_of(p->wants, (size_t)job->x->length[pair.x], (size_t)job->y->length[pair.y],
                    job->x->d);
}

/* ---- chunks -------------------------------------------------------------------------------- */

/* Whether so many pairs with so many results are not too much. */
static int has_room(const plan *p, const station *s, size_t count, size_t numbers) {
  const size_t bytes = numbers * number_size(p->job), lists = 3 * count * sizeof(double);
  if ((double)(bytes + lists) > s->session.room / 2) return 0;
  return p->block > 0 || p->staging == 0 || bytes <= p->staging;
}

static void add_pair(const plan *p, portion *to, sdtw_cuda_pair pair, size_t number,
                     size_t results) {
  const size_t i = to->count++;
  to->pairs[i] = pair;
  if (p->wants) {
    to->out_at[i] = to->chunk.out_numbers;
    to->number[i] = number;
  }
  if (p->block > 0) to->weights[i] = p->job->weights[number];
  to->chunk.out_numbers += results;
  to->cells += cells_of(p->job, pair);
}

/* Fills a portion with the next pairs, if any: at least one (of sums, one block). */
static void fill(plan *p, const station *s, portion *to) {
  const double enough = sdtw_cuda_chunk_cells();
  const size_t share = p->most / (size_t)p->devices + 1;
  const size_t limit = p->block > 0 ? p->most : least(p->most, share);
  sdtw_cuda_chunk *chunk = &to->chunk;
  memset(chunk, 0, sizeof *chunk);
  to->cells = 0;
  for (to->count = 0; to->count < limit;) {
    const int may_end = to->count > 0 && (p->block == 0 || to->count % p->block == 0);
    const size_t i = p->i, j = p->j;
    size_t number, results;
    sdtw_cuda_pair pair;
    if (may_end && to->cells >= enough) break;
    if (!next_pair(p, &pair, &number)) break;
    results = p->wants ? results_of_pair(p, pair) : 0;
    if (may_end && !has_room(p, s, to->count + 1, chunk->out_numbers + results)) {
      p->i = i; /* put it back */
      p->j = j;
      break;
    }
    add_pair(p, to, pair, number, results);
  }
  chunk->pairs = to->pairs;
  chunk->out_at = p->wants ? to->out_at : NULL;
  chunk->count = to->count;
  chunk->block = p->block;
  chunk->record = p->record;
  chunk->weights = to->weights;
}

/* ---- results ------------------------------------------------------------------------------- */

static double result(const plan *p, const void *out, size_t i) {
  return p->job->options.single ? (double)((const float *)out)[i] : ((const double *)out)[i];
}

/* From sums of E (x - y), of points in the device's unit, to gradients. */
static double gradient_factor(const plan *p) {
  const sdtw_ground_cost cost = p->job->options.cost;
  return cost == SDTW_SQEUCLIDEAN ? 2 * p->unit : cost == SDTW_COSINE ? p->unit : 1;
}

static void put_gradients(const plan *p, const portion *from, size_t i) {
  const sdtw_job *job = p->job;
  const double factor = gradient_factor(p);
  size_t at = p->wants ? from->out_at[i] : 0, which = from->number[i], d = job->x->d;
  if (job->grad_x) {
    size_t numbers = (size_t)job->x->length[from->pairs[i].x] * d;
    for (size_t t = 0; t < numbers; t++)
      job->grad_x[which][t] = factor * result(p, from->out, at + t);
    at += numbers;
  }
  if (job->grad_y) {
    size_t numbers = (size_t)job->y->length[from->pairs[i].y] * d;
    for (size_t t = 0; t < numbers; t++)
      job->grad_y[which][t] = factor * result(p, from->out, at + t);
  }
}

static void put_pair(plan *p, const portion *from, size_t i) {
  const sdtw_job *job = p->job;
  const size_t x = from->pairs[i].x, y = from->pairs[i].y;
  const double value = from->value[i];
  switch (job->kind) {
    case SDTW_PAIRS:
      job->value[job->x->count == 1 ? y : x] = value;
      if (p->wants) put_gradients(p, from, i);
      break;
    case SDTW_MATRIX:
      sdtw_put_matrix(job, x, y, sdtw_without_own(job, value, x, y));
      break;
    case SDTW_DIST:
      sdtw_put_dist(job, x, y, sdtw_without_own(job, value, x, y));
      break;
    case SDTW_KNN:
      sdtw_consider(&p->near[x], sdtw_without_own(job, value, x, y), y);
      break;
    case SDTW_REDUCE:
      job->value[y] = value;
      break;
    case SDTW_ALIGNMENT:
      job->value[0] = value;
      break;
  }
}

/* Chunks come in the order of their pairs, so sums do too. */
static void add_blocks(plan *p, const portion *from) {
  const double *block = from->out;
  for (size_t b = 0; b * p->block < from->count; b++, block += p->record) {
    for (size_t i = 0; i < p->record; i++) p->sums[i] += block[i];
  }
}

/* An alignment in single precision lies at the front of the array that it is to fill. */
static void widen(double *numbers, size_t count) {
  for (size_t i = count; i-- > 0;) {
    float v;
    memcpy(&v, (char *)numbers + i * sizeof v, sizeof v);
    numbers[i] = (double)v;
  }
}

static void put_chunk(plan *p, const portion *from) {
  const sdtw_job *job = p->job;
  for (size_t i = 0; i < from->count; i++) put_pair(p, from, i);
  if (p->block > 0) add_blocks(p, from);
  if (job->kind == SDTW_ALIGNMENT && job->options.single)
    widen(job->alignment, from->chunk.out_numbers);
}

static void finish_reduce(const plan *p) {
  const sdtw_job *job = p->job;
  const size_t n = (size_t)job->x->length[0], d = job->x->d;
  const double factor = gradient_factor(p);
  const double *sums = p->sums;
  if (job->sum_x) {
    for (size_t i = 0; i < n * d; i++) job->sum_x[i] = factor * sums[i];
    sums += n * d;
  }
  if (!job->mass) return;
  memcpy(job->mass, sums, n * sizeof(double));
  for (size_t i = 0; i < n * d; i++) job->square[i] = p->unit * p->unit * sums[n + i];
}

static void finish_knn(const plan *p) {
  const size_t queries = p->job->x->count;
  for (size_t q = 0; q < queries; q++) {
    for (size_t i = 0; i < p->near[q].count; i++) {
      p->job->distance[q + i * queries] = p->near[q].distance[i];
      p->job->index[q + i * queries] = (int)p->near[q].index[i] + 1;
    }
  }
}

/* ---- running ------------------------------------------------------------------------------- */

/* A round is a portion, the first or the second, of every device. */

static void fill_round(plan *p, int round) {
  for (int d = 0; d < p->devices; d++) fill(p, &p->stations[d], &p->stations[d].portions[round]);
}

static sdtw_status submit_round(plan *p, int round, sdtw_error *error) {
  for (int d = 0; d < p->devices; d++) {
    station *s = &p->stations[d];
    const portion *given = &s->portions[round];
    if (given->count > 0 && sdtw_cuda_submit(&s->session, &given->chunk, error)) return SDTW_FAILED;
  }
  return SDTW_OK;
}

static sdtw_status collect_round(plan *p, int round, sdtw_error *error) {
  for (int d = 0; d < p->devices; d++) {
    station *s = &p->stations[d];
    portion *from = &s->portions[round];
    void *out = p->job->kind == SDTW_ALIGNMENT ? (void *)p->job->alignment : from->out;
    if (from->count == 0) continue;
    if (sdtw_cuda_collect(&s->session, from->value, out, error)) return SDTW_FAILED;
    p->cells_done += from->cells;
  }
  return SDTW_OK;
}

static void put_round(plan *p, int round) {
  for (int d = 0; d < p->devices; d++) put_chunk(p, &p->stations[d].portions[round]);
}

/* The devices are idle only from the end of a round to the start of the next. */
static sdtw_status work(plan *p, const sdtw_monitor *monitor, sdtw_error *error) {
  start(p);
  fill_round(p, 0);
  if (submit_round(p, 0, error)) return SDTW_FAILED;
  for (int now = 0; p->stations[0].portions[now].count > 0; now = !now) {
    fill_round(p, !now);
    if (collect_round(p, now, error)) return SDTW_FAILED;
    if (monitor && monitor->check(monitor->data, p->cells_done / p->cells)) return SDTW_STOPPED;
    if (submit_round(p, !now, error)) return SDTW_FAILED;
    put_round(p, now);
  }
  return SDTW_OK;
}

static sdtw_status open_stations(plan *p, sdtw_error *error) {
  for (int i = 0; i < p->devices; i++) {
    p->stations[i].open = 1;
    if (sdtw_cuda_open(&p->stations[i].session, i, p->job, p->wants, error)) return SDTW_FAILED;
    p->unit = p->stations[i].session.unit;
  }
  return SDTW_OK;
}

static sdtw_status run(const sdtw_job *job, void *scratch, const sdtw_monitor *monitor,
                       sdtw_error *error) {
  plan p;
  size_t past = (size_t)scratch % SDTW_CACHE_LINE;
  sdtw_arena arena = {(char *)scratch + (past ? SDTW_CACHE_LINE - past : 0), 0};
  if (sdtw_cuda_count(error) == 0) return SDTW_FAILED;
  lay_out(&p, job, devices_for(job), &arena);
  p.cells = sdtw_job_cells(job);
  if (p.record > 0) memset(p.sums, 0, p.record * sizeof(double));
  sdtw_status status = open_stations(&p, error);
  if (status == SDTW_OK) status = work(&p, monitor, error);
  for (int i = 0; i < p.devices; i++) {
    if (p.stations[i].open) sdtw_cuda_close(&p.stations[i].session, status);
  }
  if (status == SDTW_OK && job->kind == SDTW_REDUCE) finish_reduce(&p);
  if (status == SDTW_OK && job->kind == SDTW_KNN) finish_knn(&p);
  return status;
}

const sdtw_engine sdtw_cuda_engine = {"cuda", plan_bytes, run};
