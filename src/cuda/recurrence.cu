/* Linear recurrences x_t = a_t x_{t-1} + b_t; the way of core/recurrence.c, for a device.
 *
 * Many sequences: each is a loop of one thread, a warp takes 32. Where sequences lie side by side
 * neighbours read neighbours; where each lies in one piece, 32 steps of 32 sequences go through
 * shared memory, so that they do too.
 *
 * One long sequence, or a few: a scan in one pass (Merrill and Garland 2016). A sequence is cut
 * into tiles of THREADS x STEPS; a block draws a tile, and
 *   1. each thread runs its STEPS from 0 and multiplies their coefficients: from x they end at
 *      A x + B;
 *   2. these pairs are joined over the threads (shuffles in a warp, then over the warps), so that
 *      each thread knows the pair of all steps before its own, and the block that of the tile;
 *   3. the block waits for the x before the tile, hands A x + B to the next tile, and each thread
 *      runs its steps again from its own start, now writing results.
 * Tiles are drawn in order, so whoever is waited for is at work; and what is waited for is always
 * the x just before the tile, never a sum over whichever tiles happen to be ready: the schedule
 * changes no bit. (A library's scan folds what is ready, and knows no way back to the loop.) A and
 * B of more than one thread are wide (wide.cuh), as their products leave every range. Where A x and
 * B nearly cancel, or B itself has overflowed, the formula would be worse than the loop: then the
 * tile's starts are found from thread to thread, each by the formula if that is good and else by
 * the loop (core/recurrence.c says why |A x| <= 4 |A x + B| is good).
 *
 * Per step of a scan: 24 bytes, read and written once (a, b, x: doubles in both precisions; the
 * second pass finds them in the first-level cache), 2 steps of a multiplication and an addition,
 * and 1 wide product of about 12 instructions. Per thread and tile: 11 pairs joined, of about 60
 * instructions each. A loop has the bytes and one step. Registers (nvcc 11.8, sm_90): scan 96 in
 * double, 72 in single, 128 and 116 with logarithms; loops 88, 74, 120 and 95; only the 128 spill,
 * 56 bytes.
 *
 * Limit: of many sequences, memory; with logarithms, instruction issue. Of one sequence, how fast
 * tiles hand on: each waits for two trips through the second-level cache.
 */
#include <stdio.h>

#include "session.cuh"
#include "wide.cuh"

enum { LANES = 32, WARPS = 4, THREADS = LANES * WARPS, STEPS = SDTW_CUDA_TILE / THREADS };
/* Numbers that a thread asks for before it needs the first. */
enum { AHEAD = 8 };
static const unsigned all_lanes = 0xffffffffu;

/* ---- what a launch is given ---------------------------------------------------------------- */

/* The number of step t and sequence (i, o) lies at t * step + i * inner + o * outer. */
struct stream {
  const double *value, *sign;
  sdtw_strides by;
};

struct sink {
  double *value, *sign;
  sdtw_strides by;
};

/* The x before the next piece of a sequence. */
struct carried {
  double mantissa;
  long long exponent;
};

/* What the tiles of a sequence hand on: the x after so many of them. */
struct baton {
  unsigned tiles;
  carried x;
};

struct recurrence {
  stream a, b, x0;
  sink out;
  size_t steps, inner, sequences;
  bool first;        /* from x0, else from `state` */
  bool turned;       /* each sequence lies in one piece */
  carried *state;    /* of each sequence */
  baton *batons;     /* a scan: of each sequence, zeroed */
  unsigned *tickets; /* a scan: tiles drawn so far, zeroed */
};

/* ---- steps --------------------------------------------------------------------------------- */

/* Without logarithms a number is a plain one: the mantissa, with exponent 0. */
template <class T, bool Logs>
SDTW_DEVICE wide<T> number_at(const stream &s, ptrdiff_t at) {
  if (Logs) return wide_exp<T>(s.value[at], s.sign ? s.sign[at] : 1.0);
  wide<T> v = {(T)s.value[at], 0};
  return v;
}

template <class T, bool Logs>
SDTW_DEVICE void put(const sink &s, ptrdiff_t at, wide<T> x) {
  s.value[at] = Logs ? wide_log(x) : (double)x.mantissa;
  if (Logs && s.sign) s.sign[at] = wide_sign(x);
}

/* Rounded as on the processor, product and sum each. */
template <class T, bool Logs>
SDTW_DEVICE wide<T> advance(wide<T> a, wide<T> x, wide<T> b) {
  if (Logs) return wide_sum(wide_product(a, x), b);
  wide<T> v = {product(a.mantissa, x.mantissa) + b.mantissa, 0};
  return v;
}

SDTW_DEVICE ptrdiff_t place(sdtw_strides by, size_t t, size_t i, size_t o) {
  return (ptrdiff_t)t * by.step + (ptrdiff_t)i * by.inner + (ptrdiff_t)o * by.outer;
}

/* Where the next step of a sequence lies in each stream. */
struct cursor {
  ptrdiff_t a, b, out;
};

SDTW_DEVICE cursor cursor_of(const recurrence &job, size_t s, size_t t) {
  const size_t i = s % job.inner, o = s / job.inner;
  cursor c = {place(job.a.by, t, i, o), place(job.b.by, t, i, o), place(job.out.by, t, i, o)};
  return c;
}

SDTW_DEVICE void move(const recurrence &job, cursor *c, ptrdiff_t steps) {
  c->a += steps * job.a.by.step;
  c->b += steps * job.b.by.step;
  c->out += steps * job.out.by.step;
}

template <class T, bool Logs>
SDTW_DEVICE wide<T> start_of(const recurrence &job, size_t s) {
  if (job.first)
    return number_at<T, Logs>(job.x0, place(job.x0.by, 0, s % job.inner, s / job.inner));
  wide<T> x = {(T)job.state[s].mantissa, job.state[s].exponent};
  return x;
}

template <class T>
SDTW_DEVICE void keep_state(const recurrence &job, size_t s, wide<T> x) {
  const carried c = {(double)x.mantissa, x.exponent};
  job.state[s] = c;
}

/* AHEAD steps at most, all loaded before the first is taken. */
template <class T, bool Logs>
SDTW_DEVICE void load(const recurrence &job, const cursor &c, int count, wide<T> *a, wide<T> *b) {
  SDTW_UNROLL
  for (int t = 0; t < AHEAD; t++) {
    if (t >= count) break;
    a[t] = number_at<T, Logs>(job.a, c.a + t * job.a.by.step);
    b[t] = number_at<T, Logs>(job.b, c.b + t * job.b.by.step);
  }
}

/* Runs `count` steps from x and writes them where Writing says so. */
template <class T, bool Logs, bool Writing>
SDTW_DEVICE wide<T> walk(const recurrence &job, cursor c, size_t count, wide<T> x) {
  for (size_t done = 0; done < count; done += AHEAD) {
    const int steps = count - done < AHEAD ? (int)(count - done) : (int)AHEAD;
    wide<T> a[AHEAD], b[AHEAD];
    load<T, Logs>(job, c, steps, a, b);
    SDTW_UNROLL
    for (int t = 0; t < AHEAD; t++) {
      if (t >= steps) break;
      x = advance<T, Logs>(a[t], x, b[t]);
      if (Writing) put<T, Logs>(job.out, c.out + t * job.out.by.step, x);
    }
    move(job, &c, steps);
  }
  return x;
}

/* ---- stretches of steps -------------------------------------------------------------------- */

/* From x a stretch ends at factor * x + sum. */
template <class T>
struct affine {
  wide<T> factor, sum;
};

template <class T>
SDTW_DEVICE affine<T> unmoved() {
  affine<T> f = {{T(1), 0}, wide_zero<T>()};
  return f;
}

template <class T>
SDTW_DEVICE affine<T> joined(affine<T> first, affine<T> then) {
  affine<T> both = {wide_product(then.factor, first.factor),
                    wide_sum(wide_product(then.factor, first.sum), then.sum)};
  return both;
}

template <class T>
SDTW_DEVICE wide<T> from_above(wide<T> v, int delta) {
  wide<T> got = {__shfl_up_sync(all_lanes, v.mantissa, delta),
                 __shfl_up_sync(all_lanes, v.exponent, delta)};
  return got;
}

/* That of the lane `delta` before; each lane must ask. */
template <class T>
SDTW_DEVICE affine<T> from_above(affine<T> f, int delta) {
  affine<T> got = {from_above(f.factor, delta), from_above(f.sum, delta)};
  return got;
}

template <class T, bool Logs>
SDTW_DEVICE affine<T> summarise(const recurrence &job, cursor c, size_t count) {
  affine<T> f = unmoved<T>();
  wide<T> x = Logs ? wide_zero<T>() : wide<T>{T(0), 0};
  for (size_t done = 0; done < count; done += AHEAD) {
    const int steps = count - done < AHEAD ? (int)(count - done) : (int)AHEAD;
    wide<T> a[AHEAD], b[AHEAD];
    load<T, Logs>(job, c, steps, a, b);
    SDTW_UNROLL
    for (int t = 0; t < AHEAD; t++) {
      if (t >= steps) break;
      x = advance<T, Logs>(a[t], x, b[t]);
      f.factor = wide_product(f.factor, Logs ? a[t] : wide_of(a[t].mantissa, 0));
    }
    move(job, &c, steps);
  }
  f.sum = wide_of(x.mantissa, x.exponent);
  return f;
}

/* The x after a stretch; false where the loop would be better. */
template <class T, bool Logs>
SDTW_DEVICE bool leap(affine<T> f, wide<T> x, wide<T> *after) {
  const wide<T> from_x = wide_product(f.factor, wide_of(x.mantissa, x.exponent));
  const wide<T> end = wide_sum(from_x, f.sum);
  bool good = is_finite(x.mantissa) && is_finite(from_x.mantissa) && is_finite(end.mantissa);
  if (from_x.mantissa != T(0))
    good = good && end.mantissa != T(0) && from_x.exponent <= end.exponent + 1;
  *after = end;
  if (Logs) return good;
  after->mantissa = wide_value(end);
  after->exponent = 0;
  return good && is_finite(after->mantissa);
}

/* ---- a tile -------------------------------------------------------------------------------- */

template <class T>
struct tile_memory {
  unsigned ticket;
  wide<T> x; /* before the tile */
  unsigned leapt[WARPS];
  affine<T> whole[WARPS], own[THREADS];
  wide<T> start[THREADS];
};

SDTW_DEVICE int my_lane() { return (int)threadIdx.x % LANES; }
SDTW_DEVICE int my_warp() { return (int)threadIdx.x / LANES; }

/* The steps of one thread of a tile. */
struct stretch {
  cursor from;
  size_t count;
};

SDTW_DEVICE stretch stretch_of(const recurrence &job, size_t s, size_t tile, int thread) {
  const size_t first = tile * SDTW_CUDA_TILE + (size_t)thread * STEPS;
  stretch own;
  own.count = first >= job.steps          ? 0
              : job.steps - first < STEPS ? job.steps - first
                                          : (size_t)STEPS;
  own.from = cursor_of(job, s, own.count > 0 ? first : 0);
  return own;
}

/* Step 2: the pair of all threads before this one, and that of the tile. Ends with a barrier. */
template <class T>
SDTW_DEVICE affine<T> join_tile(affine<T> own, tile_memory<T> *shared, affine<T> *tile) {
  affine<T> upto = own;
  for (int delta = 1; delta < LANES; delta *= 2) {
    const affine<T> other = from_above(upto, delta);
    if (my_lane() >= delta) upto = joined(other, upto);
  }
  affine<T> before = from_above(upto, 1);
  if (my_lane() == 0) before = unmoved<T>();
  if (my_lane() == LANES - 1) shared->whole[my_warp()] = upto;
  shared->own[threadIdx.x] = own;
  __syncthreads();
  affine<T> warps = unmoved<T>();
  *tile = unmoved<T>();
  for (int w = 0; w < WARPS; w++) {
    if (w == my_warp()) warps = *tile;
    *tile = joined(*tile, shared->whole[w]);
  }
  return joined(warps, before);
}

/* Waits for the x before a tile, with one warp; ends with a barrier. */
template <class T, bool Logs>
SDTW_DEVICE wide<T> await_x(const recurrence &job, size_t s, unsigned tile,
                            tile_memory<T> *shared) {
  const baton *hand = job.batons + s;
  if (my_warp() == 0) {
    bool ready = tile == 0;
    while (!__ballot_sync(all_lanes, ready))
      ready = my_lane() == 0 && load_acquire(&hand->tiles) >= tile;
    if (my_lane() == 0) {
      const volatile carried *x = &hand->x;
      const wide<T> handed = {(T)x->mantissa, x->exponent};
      shared->x = tile == 0 ? start_of<T, Logs>(job, s) : handed;
    }
  }
  __syncthreads();
  return shared->x;
}

template <class T>
SDTW_DEVICE void hand_on(const recurrence &job, size_t s, unsigned tile, wide<T> x) {
  volatile carried *to = &job.batons[s].x;
  to->mantissa = (double)x.mantissa;
  to->exponent = x.exponent;
  store_release(&job.batons[s].tiles, tile + 1);
  if ((size_t)(tile + 1) * SDTW_CUDA_TILE >= job.steps) keep_state(job, s, x);
}

/* Whether all threads of the block say yes. */
template <class T>
SDTW_DEVICE bool all_of(bool yes, tile_memory<T> *shared) {
  const unsigned votes = __ballot_sync(all_lanes, yes);
  if (my_lane() == 0) shared->leapt[my_warp()] = votes;
  __syncthreads();
  bool all = true;
  for (int w = 0; w < WARPS; w++) all = all && shared->leapt[w] == all_lanes;
  return all;
}

/* Every thread's start from that of the thread before: as good as the loop, and as slow. */
template <class T, bool Logs>
SDTW_DEVICE void find_starts(const recurrence &job, size_t s, size_t tile, wide<T> x,
                             tile_memory<T> *shared) {
  for (int thread = 0; thread < THREADS; thread++) {
    const stretch own = stretch_of(job, s, tile, thread);
    wide<T> after;
    shared->start[thread] = x;
    if (own.count == 0) continue;
    x = leap<T, Logs>(shared->own[thread], x, &after)
            ? after
            : walk<T, Logs, false>(job, own.from, own.count, x);
  }
}

template <class T, bool Logs>
SDTW_DEVICE void run_tile(const recurrence &job, size_t s, unsigned tile, tile_memory<T> *shared) {
  const stretch own = stretch_of(job, s, tile, (int)threadIdx.x);
  const size_t left = job.steps - (size_t)tile * SDTW_CUDA_TILE;
  const size_t steps = left < SDTW_CUDA_TILE ? left : (size_t)SDTW_CUDA_TILE;
  const bool is_last = own.count > 0 && (threadIdx.x + 1) * (size_t)STEPS >= steps;
  affine<T> whole;
  const affine<T> before = join_tile(summarise<T, Logs>(job, own.from, own.count), shared, &whole);
  const wide<T> x = await_x<T, Logs>(job, s, tile, shared);
  wide<T> start, after;
  const bool leapt = leap<T, Logs>(whole, x, &after);
  if (is_last && leapt) hand_on(job, s, tile, after);
  if (!all_of(leap<T, Logs>(before, x, &start) || own.count == 0, shared)) {
    if (threadIdx.x == 0) find_starts<T, Logs>(job, s, tile, x, shared);
    __syncthreads();
    start = shared->start[threadIdx.x];
  }
  after = walk<T, Logs, true>(job, own.from, own.count, start);
  if (is_last && !leapt) hand_on(job, s, tile, after);
}

template <class T, bool Logs>
__global__ void __launch_bounds__(THREADS) scan_kernel(recurrence job) {
  SDTW_SHARED(tile_memory<T>, shared, 1);
  const size_t tiles = (job.steps + SDTW_CUDA_TILE - 1) / SDTW_CUDA_TILE;
  for (;;) {
    if (threadIdx.x == 0) shared->ticket = atomicAdd(job.tickets, 1u);
    __syncthreads();
    const size_t ticket = shared->ticket;
    if (ticket >= tiles * job.sequences) return;
    run_tile<T, Logs>(job, ticket % job.sequences, (unsigned)(ticket / job.sequences), shared);
    __syncthreads(); /* nobody needs what the tile left */
  }
}

/* ---- many sequences ------------------------------------------------------------------------ */

enum { ROW = LANES + 1 }; /* so that a column of numbers lies in different banks */

/* LANES steps of LANES sequences, each in one piece, or as many as there are. */
template <class T>
SDTW_DEVICE wide<T> walk_turned(const recurrence &job, size_t first, size_t t, wide<T> x, T *a,
                                T *b) {
  const size_t mine = t + (size_t)my_lane();
  const int steps = job.steps - t < LANES ? (int)(job.steps - t) : (int)LANES;
  const int rows = job.sequences - first < LANES ? (int)(job.sequences - first) : (int)LANES;
  for (int r = 0; r < rows && my_lane() < steps; r++) {
    a[r * ROW + my_lane()] = (T)job.a.value[place(job.a.by, mine, 0, first + (size_t)r)];
    b[r * ROW + my_lane()] = (T)job.b.value[place(job.b.by, mine, 0, first + (size_t)r)];
  }
  __syncwarp();
  for (int k = 0; k < steps && my_lane() < rows; k++) {
    const int at = my_lane() * ROW + k;
    b[at] = x.mantissa = product(a[at], x.mantissa) + b[at];
  }
  __syncwarp();
  for (int r = 0; r < rows && my_lane() < steps; r++)
    job.out.value[place(job.out.by, mine, 0, first + (size_t)r)] = (double)b[r * ROW + my_lane()];
  __syncwarp();
  return x;
}

template <class T, bool Logs>
__global__ void __launch_bounds__(LANES) many_kernel(recurrence job) {
  SDTW_SHARED(T, a, LANES * ROW);
  SDTW_SHARED(T, b, LANES * ROW);
  const size_t groups = (job.sequences + LANES - 1) / LANES;
  for (size_t g = blockIdx.x; g < groups; g += gridDim.x) {
    const size_t s = g * LANES + (size_t)my_lane();
    const bool is_there = s < job.sequences;
    wide<T> x = is_there ? start_of<T, Logs>(job, s) : wide_zero<T>();
    if (!Logs && job.turned) {
      for (size_t t = 0; t < job.steps; t += LANES) x = walk_turned(job, g * LANES, t, x, a, b);
    } else if (is_there) {
      x = walk<T, Logs, true>(job, cursor_of(job, s, 0), job.steps, x);
    }
    if (is_there) keep_state(job, s, x);
  }
}

/* ---- launchers ----------------------------------------------------------------------------- */

template <class T, bool Logs>
static cudaError_t launch_scan(const recurrence &job, int units) {
  void (*kernel)(recurrence) = scan_kernel<T, Logs>;
  const size_t tiles = (job.steps + SDTW_CUDA_TILE - 1) / SDTW_CUDA_TILE * job.sequences;
  int resident = 0;
  if (cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, (int)THREADS, 0) !=
      cudaSuccess)
    resident = 1;
  const size_t most = (size_t)units * (size_t)(resident > 0 ? resident : 1);
  SDTW_LAUNCH(kernel, (unsigned)(tiles < most ? tiles : most), (unsigned)THREADS, job);
  return cudaGetLastError();
}

template <class T, bool Logs>
static cudaError_t launch_many(const recurrence &job) {
  void (*kernel)(recurrence) = many_kernel<T, Logs>;
  const size_t groups = (job.sequences + LANES - 1) / LANES, most = 1 << 20;
  SDTW_LAUNCH(kernel, (unsigned)(groups < most ? groups : most), (unsigned)LANES, job);
  return cudaGetLastError();
}

template <class T, bool Logs>
static cudaError_t launch_one(const recurrence &job, bool scan, int units) {
  return scan ? launch_scan<T, Logs>(job, units) : launch_many<T, Logs>(job);
}

static cudaError_t launch(const recurrence &job, const sdtw_recurrence *piece, bool scan,
                          int device) {
  int units = 1;
  cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, device);
  if (piece->single)
    return piece->logs ? launch_one<float, true>(job, scan, units)
                       : launch_one<float, false>(job, scan, units);
  return piece->logs ? launch_one<double, true>(job, scan, units)
                     : launch_one<double, false>(job, scan, units);
}

/* ---- pieces -------------------------------------------------------------------------------- */

enum { A, A_SIGN, B, B_SIGN, X0, X0_SIGN, OUT, OUT_SIGN, STATE, BATONS };

/* The numbers of memory from the first to the last of a stream: where it begins, relative to that
 * of step 0 of the first sequence, and how many. */
struct span {
  ptrdiff_t low;
  size_t count;
};

static void widen(span *s, ptrdiff_t stride, size_t extent) {
  const ptrdiff_t reach = stride * ((ptrdiff_t)extent - 1);
  if (reach < 0) s->low += reach;
  s->count += (size_t)(reach < 0 ? -reach : reach);
}

static span span_of(sdtw_strides by, const sdtw_recurrence *piece, size_t steps) {
  span s = {0, 1};
  widen(&s, by.step, steps);
  widen(&s, by.inner, piece->inner);
  widen(&s, by.outer, piece->outer);
  return s;
}

static size_t sequences_of(const sdtw_recurrence *piece) { return piece->inner * piece->outer; }

/* The tickets lie before the batons. */
static size_t baton_bytes(const sdtw_recurrence *piece) {
  return (sequences_of(piece) + 1) * sizeof(baton);
}

static double bytes_of(const double *sign, span s) {
  return (double)s.count * sizeof(double) * (sign ? 2 : 1);
}

double sdtw_cuda_recurrence_bytes(const sdtw_recurrence *piece) {
  return bytes_of(piece->a.sign, span_of(piece->a.by, piece, piece->steps)) +
         bytes_of(piece->b.sign, span_of(piece->b.by, piece, piece->steps)) +
         bytes_of(piece->x0.sign, span_of(piece->x0.by, piece, 1)) +
         bytes_of(piece->out.sign, span_of(piece->out.by, piece, piece->steps)) +
         (double)(sequences_of(piece) * sizeof(carried) + baton_bytes(piece));
}

sdtw_status sdtw_cuda_open_recurrence(sdtw_cuda_session *session, int device,
                                      const sdtw_recurrence *job, sdtw_error *error) {
  if (take_device(session, device, job->device_memory, error)) return SDTW_FAILED;
  return find_room(session, error);
}

static sdtw_status send_stream(sdtw_cuda_session *s, int which, const sdtw_stream &from, span part,
                               stream *to, sdtw_error *error) {
  const size_t bytes = part.count * sizeof(double);
  to->by = from.by;
  to->sign = NULL;
  if (send(s, which, from.value + part.low, bytes, error)) return SDTW_FAILED;
  to->value = (const double *)s->buffers[which].at - part.low;
  if (!from.sign) return SDTW_OK;
  if (send(s, which + 1, from.sign + part.low, bytes, error)) return SDTW_FAILED;
  to->sign = (const double *)s->buffers[which + 1].at - part.low;
  return SDTW_OK;
}

static sdtw_status reserve_sink(sdtw_cuda_session *s, const sdtw_sink &like, span part, sink *to,
                                sdtw_error *error) {
  const size_t bytes = part.count * sizeof(double);
  to->by = like.by;
  to->sign = NULL;
  if (reserve(s, OUT, bytes, error)) return SDTW_FAILED;
  to->value = (double *)s->buffers[OUT].at - part.low;
  if (!like.sign) return SDTW_OK;
  if (reserve(s, OUT_SIGN, bytes, error)) return SDTW_FAILED;
  to->sign = (double *)s->buffers[OUT_SIGN].at - part.low;
  return SDTW_OK;
}

static sdtw_status send_piece(sdtw_cuda_session *s, const sdtw_recurrence *piece, recurrence *job,
                              sdtw_error *error) {
  const span x0 = span_of(piece->x0.by, piece, 1);
  if (send_stream(s, A, piece->a, span_of(piece->a.by, piece, piece->steps), &job->a, error) ||
      send_stream(s, B, piece->b, span_of(piece->b.by, piece, piece->steps), &job->b, error) ||
      (job->first && send_stream(s, X0, piece->x0, x0, &job->x0, error)) ||
      reserve(s, STATE, job->sequences * sizeof(carried), error) ||
      reserve(s, BATONS, baton_bytes(piece), error))
    return SDTW_FAILED;
  CHECK(cudaMemset(s->buffers[BATONS].at, 0, baton_bytes(piece)), "clear the state of the scan");
  job->state = (carried *)s->buffers[STATE].at;
  job->tickets = (unsigned *)s->buffers[BATONS].at;
  job->batons = (baton *)s->buffers[BATONS].at + 1;
  return SDTW_OK;
}

static sdtw_status fetch(sdtw_cuda_session *s, const sdtw_sink &to, span part, sdtw_error *error) {
  const size_t bytes = part.count * sizeof(double);
  CHECK(cudaMemcpy(to.value + part.low, s->buffers[OUT].at, bytes, cudaMemcpyDeviceToHost),
        "fetch results");
  if (!to.sign) return SDTW_OK;
  CHECK(cudaMemcpy(to.sign + part.low, s->buffers[OUT_SIGN].at, bytes, cudaMemcpyDeviceToHost),
        "fetch signs");
  return SDTW_OK;
}

static sdtw_status check_room(const sdtw_cuda_session *s, const sdtw_recurrence *piece,
                              sdtw_error *error) {
  const double bytes = sdtw_cuda_recurrence_bytes(piece);
  char text[sizeof error->message];
  if (bytes <= s->room) return SDTW_OK;
  snprintf(text, sizeof text,
           "the device has %.3g MB free for a recurrence whose smallest piece needs %.3g MB",
           s->room / 1e6, bytes / 1e6);
  return failed(error, SDTW_DEVICE_MEMORY, text);
}

sdtw_status sdtw_cuda_recur(sdtw_cuda_session *session, const sdtw_recurrence *piece, int scan,
                            int first, sdtw_error *error) {
  const span out = span_of(piece->out.by, piece, piece->steps);
  recurrence job;
  memset(&job, 0, sizeof job);
  job.steps = piece->steps;
  job.inner = piece->inner;
  job.sequences = sequences_of(piece);
  job.first = first != 0;
  job.turned = piece->inner == 1;
  if (check_room(session, piece, error)) return SDTW_FAILED;
  CHECK(cudaSetDevice(session->device), "choose the device");
  if (send_piece(session, piece, &job, error)) return SDTW_FAILED;
  if (reserve_sink(session, piece->out, out, &job.out, error)) return SDTW_FAILED;
  start_clock(session);
  CHECK(launch(job, piece, scan != 0, session->device), "start the kernel");
  if (finish_kernels(session, "finish a piece of a recurrence", error)) return SDTW_FAILED;
  return fetch(session, piece->out, out, error);
}
