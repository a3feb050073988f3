/* See recurrence.h.
 *
 * The unit of work is a lane: a stretch of consecutive steps of one sequence. One lane alone is
 * slow, because every step waits for the one before it (a multiplication and an addition, eight
 * cycles) while the processor could do many at once. LANES of them in turn, CHUNK steps each, fill
 * that time.
 *
 * Many sequences: the lanes are sequences, and nothing but the loop is needed.
 *
 * One long sequence: it is cut into blocks, and LANES consecutive blocks are the lanes (a group).
 *   1. Every block of the group is run from 0, which gives its own sum B, and the product A of its
 *      coefficients: from x the block ends at A x + B.
 *   2. With the x before the group, that formula gives the x before every block, and after the
 *      group the x to hand on.
 *   3. Every block is run again from its true x, now writing results.
 * This is an associative scan (Blelloch 1990) with the combination only where blocks meet. Groups
 * are drawn by the threads in order; only step 2, some hundred cycles, waits for the group before.
 * A group's coefficients stay in the second-level cache, so memory is read once.
 *
 * A is a scaled number: forty coefficients of 1e10 have a product beyond any double, while from
 * x = 1e-300 the sequence never leaves the range. Where A x and B nearly cancel, or B itself has
 * overflowed, A x + B would be worse than the plain loop; step 2 then runs that block as a plain
 * loop. With |A x| <= 4 |A x + B| the rounding errors that the formula adds are below 8 * BLOCK
 * units in the last place of the x handed on, in the worst case, and typically a few.
 *
 * Which way is taken, and all block lengths, follow from the job's size alone: the number of
 * threads changes no bit.
 */
#include "recurrence.h"

#include <stdatomic.h>

#include "arena.h"
#include "scaled.h"
#include "threads.h"
#include "vec-generic.h"

/* BLOCK: a group of coefficients and results is 390 kB, and lanes do not fall on the same lines of
 * the first-level cache (as they would 4096 bytes apart). */
enum { LANES = 8, CHUNK = 16, BLOCK = 2040, GROUP = LANES * BLOCK };
/* RUN coefficients between 1 / LARGE and LARGE have a product between 1 / HUGE_PRODUCT and
 * HUGE_PRODUCT, which a number holds to all its digits. */
#ifdef SDTW_SINGLE
enum { RUN = 12 };
#define LARGE 0x1p8f
#define HUGE_PRODUCT 0x1p96f
#else
enum { RUN = 60 };
#define LARGE 0x1p15
#define HUGE_PRODUCT 0x1p900
#endif
/* From here on a scan beats the loop, unless there are sequences enough to fill the lanes. */
enum { LEAST_SCAN = 2 * GROUP };
/* Steps of a lane between two looks at the stop flag, and steps that make a task worth drawing. */
enum { STRETCH = 1 << 14, TASK_STEPS = 1 << 16 };
/* Sequences side by side: their x stay in the first-level cache. */
enum { ABREAST = 256 };

#define INLINE static inline __attribute__((always_inline))
#define RARELY(condition) __builtin_expect(condition, 0)

/* ---- one step ------------------------------------------------------------------------------ */

/* A product that is not fused into the sum after it: alone or beside others, in whatever function,
 * a step has the same bits. */
INLINE sdtw_real keep(sdtw_real product) {
#if defined(__aarch64__)
  __asm__("" : "+w"(product));
#elif defined(__FMA__)
  __asm__("" : "+x"(product));
#endif
  return product;
}

/* Without `logs` a number is a plain one: the mantissa, with exponent 0. */
INLINE sdtw_scaled get(int logs, const sdtw_stream *s, ptrdiff_t at) {
  if (!logs) return (sdtw_scaled){(sdtw_real)s->value[at], 0};
  return sdtw_scaled_exp(s->value[at], s->sign ? s->sign[at] : 1.0);
}

INLINE void put(int logs, const sdtw_sink *s, ptrdiff_t at, sdtw_scaled x) {
  s->value[at] = logs ? sdtw_scaled_log(x) : x.mantissa;
  if (logs && s->sign) s->sign[at] = sdtw_scaled_sign(x);
}

INLINE sdtw_scaled advance(int logs, sdtw_scaled a, sdtw_scaled x, sdtw_scaled b) {
  if (!logs) return (sdtw_scaled){keep(a.mantissa * x.mantissa) + b.mantissa, 0};
  return sdtw_scaled_sum(sdtw_scaled_product(a, x), b);
}

/* ---- lanes --------------------------------------------------------------------------------- */

typedef struct {
  ptrdiff_t a, b, out; /* where its next step lies in each stream */
  size_t left;         /* steps */
  sdtw_scaled x, product;
  sdtw_scaled *kept; /* a scan with `logs`: a and b of its next step, once it has been summarised */
} lane;

INLINE void skip(const sdtw_recurrence *job, lane *l, size_t count) {
  l->a += job->a.by.step * (ptrdiff_t)count;
  l->b += job->b.by.step * (ptrdiff_t)count;
  l->out += job->out.by.step * (ptrdiff_t)count;
  l->left -= count;
  if (l->kept) l->kept += 2 * count;
}

INLINE void walk(int logs, const sdtw_recurrence *job, lane *l, size_t count) {
  const sdtw_stream a_in = job->a, b_in = job->b;
  const sdtw_sink sink = job->out;
  ptrdiff_t a = l->a, b = l->b, out = l->out;
  sdtw_scaled x = l->x;
  for (size_t t = 0; t < count; t++) {
    if (logs && l->kept)
      x = advance(logs, l->kept[2 * t], x, l->kept[2 * t + 1]);
    else
      x = advance(logs, get(logs, &a_in, a), x, get(logs, &b_in, b));
    put(logs, &sink, out, x);
    a += a_in.by.step;
    b += b_in.by.step;
    out += sink.by.step;
  }
  l->x = x;
  skip(job, l, count);
}

/* The product of the next coefficients where it, or one of them, is far from 1 or 0. */
static void multiply_carefully(const sdtw_recurrence *job, lane *l, size_t count) {
  for (size_t t = 0; t < count; t++) {
    sdtw_real a = (sdtw_real)job->a.value[l->a + (ptrdiff_t)t * job->a.by.step];
    l->product = sdtw_scaled_product(l->product, sdtw_scaled_normal(a, 0));
  }
}

/* Step 1: x from 0 and the product. A running product that stays between 1 / HUGE_PRODUCT and
 * HUGE_PRODUCT is exact to rounding, so its exponent is split off only once for `count` steps. With
 * `logs` the numbers are kept: their exponentials are half of the work. */
INLINE void summarise(int logs, const sdtw_recurrence *job, lane *l, size_t count) {
  const sdtw_stream a_in = job->a, b_in = job->b;
  ptrdiff_t a = l->a, b = l->b;
  sdtw_scaled x = l->x, product = l->product;
  sdtw_real running = product.mantissa;
  int fits = 1;
  for (size_t t = 0; t < count; t++) {
    sdtw_scaled factor = get(logs, &a_in, a), term = get(logs, &b_in, b);
    x = advance(logs, factor, x, term);
    if (logs) {
      product = sdtw_scaled_product(product, factor);
      l->kept[2 * t] = factor;
      l->kept[2 * t + 1] = term;
    } else {
      running *= factor.mantissa;
      fits &= SDTW_REAL(fabs)(running) < HUGE_PRODUCT &&
              SDTW_REAL(fabs)(running) > 1 / HUGE_PRODUCT;
    }
    a += a_in.by.step;
    b += b_in.by.step;
  }
  if (logs)
    l->product = product;
  else if (RARELY(!fits) && product.mantissa != 0)
    multiply_carefully(job, l, count);
  else
    l->product = sdtw_scaled_normal(running, product.exponent);
  l->x = x;
  skip(job, l, count);
}

/* ---- all lanes at once --------------------------------------------------------------------- */

/* The vectors of all lanes, as wide as every processor of a kind has them. */
typedef struct {
  V of[LANES / V_WIDTH];
} bundle;

/* Unrolled by hand: a compiler that kept these a loop would keep the vectors in memory. */
#ifdef SDTW_SINGLE
#define EACH_VECTOR(DO) DO(0) DO(1)
#define VECTOR(at) \
  { at(0), at(1), at(2), at(3) }
#define EACH_LANE(DO, v) DO(v, 0) DO(v, 1) DO(v, 2) DO(v, 3)
#else
#define EACH_VECTOR(DO) DO(0) DO(1) DO(2) DO(3)
#define VECTOR(at) \
  { at(0), at(1) }
#define EACH_LANE(DO, v) DO(v, 0) DO(v, 1)
#endif

INLINE bundle gather(const double *const *from, ptrdiff_t at) {
  bundle x;
#define NUMBER(l) (sdtw_real)(first[l][at])
#define GET(v)                                       \
  do {                                               \
    const double *const *first = from + v * V_WIDTH; \
    x.of[v] = (V)VECTOR(NUMBER);                     \
  } while (0);
  EACH_VECTOR(GET)
#undef GET
#undef NUMBER
  return x;
}

INLINE void scatter(double *const *to, ptrdiff_t at, bundle x) {
#define PUT_LANE(v, l) to[v * V_WIDTH + l][at] = (double)x.of[v][l];
#define PUT(v) EACH_LANE(PUT_LANE, v)
  EACH_VECTOR(PUT)
#undef PUT
#undef PUT_LANE
}

INLINE bundle step(bundle a, bundle x, bundle b) {
#define STEP(v) x.of[v] = v_keep(a.of[v] * x.of[v]) + b.of[v];
  EACH_VECTOR(STEP)
#undef STEP
  return x;
}

typedef struct {
  const double *a[LANES], *b[LANES];
  double *out[LANES];
} places;

static places places_of(const sdtw_recurrence *job, const lane *lanes) {
  places p;
  for (int i = 0; i < LANES; i++) {
    p.a[i] = job->a.value + lanes[i].a;
    p.b[i] = job->b.value + lanes[i].b;
    p.out[i] = job->out.value + lanes[i].out;
  }
  return p;
}

INLINE bundle bundle_of(const lane *lanes) {
  bundle x;
#define MANTISSA(l) first[l].x.mantissa
#define GET(v)                               \
  do {                                       \
    const lane *first = lanes + v * V_WIDTH; \
    x.of[v] = (V)VECTOR(MANTISSA);           \
  } while (0);
  EACH_VECTOR(GET)
#undef GET
#undef MANTISSA
  return x;
}

static void walk_together(const sdtw_recurrence *job, lane *lanes, size_t count) {
  const places p = places_of(job, lanes);
  const ptrdiff_t a_step = job->a.by.step, b_step = job->b.by.step, out_step = job->out.by.step;
  ptrdiff_t a = 0, b = 0, out = 0;
  bundle x = bundle_of(lanes);
  for (size_t t = 0; t < count; t++) {
    x = step(gather(p.a, a), x, gather(p.b, b));
    scatter(p.out, out, x);
    a += a_step;
    b += b_step;
    out += out_step;
  }
  for (int i = 0; i < LANES; i++) {
    lanes[i].x = (sdtw_scaled){x.of[i / V_WIDTH][i % V_WIDTH], 0};
    skip(job, lanes + i, count);
  }
}

INLINE void multiply(bundle *product, bundle *largest, bundle *smallest, bundle factor) {
#define MULTIPLY(v)                                            \
  product->of[v] = product->of[v] * factor.of[v];              \
  largest->of[v] = v_max(largest->of[v], v_abs(factor.of[v])); \
  smallest->of[v] = v_min(smallest->of[v], v_abs(factor.of[v]));
  EACH_VECTOR(MULTIPLY)
#undef MULTIPLY
}

/* At most RUN steps. */
static void summarise_together(const sdtw_recurrence *job, lane *lanes, size_t count) {
  const places p = places_of(job, lanes);
  const ptrdiff_t a_step = job->a.by.step, b_step = job->b.by.step;
  ptrdiff_t a = 0, b = 0;
  const V one = v_set(1);
  bundle x = bundle_of(lanes), product;
#define SET(v) product.of[v] = one;
  EACH_VECTOR(SET)
#undef SET
  bundle largest = product, smallest = product;
  for (size_t t = 0; t < count; t++) {
    bundle factor = gather(p.a, a);
    x = step(factor, x, gather(p.b, b));
    multiply(&product, &largest, &smallest, factor);
    a += a_step;
    b += b_step;
  }
  for (int i = 0; i < LANES; i++) {
    lane *l = lanes + i;
    int v = i / V_WIDTH, k = i % V_WIDTH;
    l->x = (sdtw_scaled){x.of[v][k], 0};
    if (l->product.mantissa != 0) {
      if (RARELY(largest.of[v][k] > LARGE || smallest.of[v][k] < 1 / LARGE))
        multiply_carefully(job, l, count);
      else
        l->product = sdtw_scaled_normal(l->product.mantissa * product.of[v][k],
                                        l->product.exponent);
    }
    skip(job, l, count);
  }
}

/* All lanes to their ends, or `most` steps on: together while all have steps, then taking turns. */
INLINE void all_lanes(int logs, int writing, const sdtw_recurrence *job, lane *lanes, int count,
                      size_t most) {
  size_t done = 0;
  if (!logs && count == LANES) {
    size_t shared = lanes[LANES - 1].left < most ? lanes[LANES - 1].left : most;
    for (; done < shared; done += RUN) {
      size_t steps = shared - done < RUN ? shared - done : RUN;
      if (writing)
        walk_together(job, lanes, steps);
      else
        summarise_together(job, lanes, steps);
    }
  }
  for (; done < most; done += CHUNK) {
    for (int i = 0; i < count; i++) {
      lane *l = lanes + i;
      size_t steps = l->left < CHUNK ? l->left : CHUNK;
      if (writing)
        walk(logs, job, l, steps);
      else
        summarise(logs, job, l, steps);
    }
  }
}

static void walk_all(const sdtw_recurrence *job, lane *lanes, int count, size_t most) {
  if (job->logs)
    all_lanes(1, 1, job, lanes, count, most);
  else
    all_lanes(0, 1, job, lanes, count, most);
}

static void summarise_all(const sdtw_recurrence *job, lane *lanes, int count, size_t most) {
  if (job->logs)
    all_lanes(1, 0, job, lanes, count, most);
  else
    all_lanes(0, 0, job, lanes, count, most);
}

/* ---- sequences ----------------------------------------------------------------------------- */

static ptrdiff_t start_of(sdtw_strides by, size_t i, size_t o) {
  return (ptrdiff_t)i * by.inner + (ptrdiff_t)o * by.outer;
}

/* The whole of sequence s, before its first step. */
static lane lane_of(const sdtw_recurrence *job, size_t s) {
  size_t i = s % job->inner, o = s / job->inner;
  lane l = {start_of(job->a.by, i, o),
            start_of(job->b.by, i, o),
            start_of(job->out.by, i, o),
            job->steps,
            sdtw_scaled_zero,
            sdtw_scaled_one,
            NULL};
  l.x = get(job->logs, &job->x0, start_of(job->x0.by, i, o));
  return l;
}

static size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }
static size_t least(size_t a, size_t b) { return a < b ? a : b; }

typedef struct {
  const sdtw_recurrence *job;
  size_t sequences, width; /* sequences of a task */
} many;

/* Sequences in the lanes, eight at a time. */
static void many_task(void *context, size_t task, int thread, sdtw_crew *crew) {
  const many *m = context;
  size_t end = least((task + 1) * m->width, m->sequences);
  for (size_t first = task * m->width; first < end; first += LANES) {
    lane lanes[LANES];
    int count = (int)least(LANES, end - first);
    for (int i = 0; i < count; i++) lanes[i] = lane_of(m->job, first + (size_t)i);
    for (size_t done = 0; done < m->job->steps; done += STRETCH) {
      if (sdtw_crew_stopped(crew, thread)) return;
      walk_all(m->job, lanes, count, least(STRETCH, lanes[0].left));
    }
  }
}

/* Up to ABREAST sequences whose numbers of one step lie together: all make the same step. */
INLINE void step_abreast(int logs, const sdtw_recurrence *job, lane at, sdtw_scaled *x,
                         size_t count) {
  const sdtw_stream a = job->a, b = job->b;
  const sdtw_sink out = job->out;
  for (size_t i = 0; i < count; i++) {
    ptrdiff_t n = (ptrdiff_t)i;
    x[i] = advance(logs, get(logs, &a, at.a + n * a.by.inner), x[i],
                   get(logs, &b, at.b + n * b.by.inner));
    put(logs, &out, at.out + n * out.by.inner, x[i]);
  }
}

static void abreast_task(void *context, size_t task, int thread, sdtw_crew *crew) {
  const many *m = context;
  const sdtw_recurrence *job = m->job;
  size_t rows = divide_up(job->inner, m->width), first = task % rows * m->width;
  size_t count = least(m->width, job->inner - first), s = task / rows * job->inner + first;
  sdtw_scaled x[ABREAST];
  for (size_t i = 0; i < count; i++) x[i] = lane_of(job, s + i).x;
  for (lane at = lane_of(job, s); at.left > 0; skip(job, &at, 1)) {
    if (at.left % CHUNK == 0 && sdtw_crew_stopped(crew, thread)) return;
    if (job->logs)
      step_abreast(1, job, at, x, count);
    else
      step_abreast(0, job, at, x, count);
  }
}

/* Waking a thread takes some microseconds; each is to have some hundred of work. */
static int threads_for(const sdtw_recurrence *job) {
  size_t worth = job->logs ? 1 << 13 : 1 << 17;
  size_t threads = 1 + job->steps * job->inner * job->outer / worth;
  return (int)least(threads, (size_t)job->threads);
}

/* Few sequences are spread over the threads, many are taken until a task is worth its while. */
static sdtw_status run_many(const sdtw_recurrence *job, size_t sequences,
                            const sdtw_monitor *monitor) {
  int threads = threads_for(job);
  size_t share = divide_up(sequences, (size_t)threads);
  size_t worth = divide_up(TASK_STEPS, job->steps);
  many m = {job, sequences, least(share, LANES)};
  if (job->inner >= LANES) {
    m.width = least(least(share, ABREAST), job->inner);
    size_t tasks = divide_up(job->inner, m.width) * job->outer;
    return sdtw_crew_run(monitor, threads, tasks, abreast_task, &m);
  }
  if (worth > m.width) m.width = divide_up(worth, LANES) * LANES;
  return sdtw_crew_run(monitor, threads, divide_up(sequences, m.width), many_task, &m);
}

/* ---- one long sequence --------------------------------------------------------------------- */

/* What the groups of a sequence hand on: the x after the first `groups` of them. */
typedef struct {
  atomic_size_t groups;
  sdtw_scaled x;
} baton;

typedef struct {
  const sdtw_recurrence *job;
  size_t sequences;
  baton *batons;
  sdtw_scaled *kept; /* with `logs`: 2 * GROUP numbers for each thread */
} scan;

/* Cuts a group out of its sequence; returns the number of its blocks. */
static int load_group(const sdtw_recurrence *job, size_t s, size_t group, sdtw_scaled *kept,
                      lane *lanes) {
  lane whole = lane_of(job, s);
  int count = 0;
  skip(job, &whole, group * GROUP);
  whole.kept = kept;
  while (count < LANES && whole.left > 0) {
    lane *l = lanes + count++;
    *l = whole;
    l->left = least(BLOCK, whole.left);
    skip(job, &whole, l->left);
  }
  return count;
}

/* Zero once the group before has handed on, non-zero when the work is to stop first. The threads
 * draw tasks in order, so whoever is waited for is at work. */
static int await(baton *before, size_t group, sdtw_crew *crew, int thread) {
  for (int tries = 0; atomic_load_explicit(&before->groups, memory_order_acquire) < group;
       tries++) {
    if (sdtw_crew_stopped(crew, thread)) return 1;
    sdtw_crew_pause(tries);
  }
  return 0;
}

/* The x after a block: from its summary where that is as good as the loop, else by the loop. */
static sdtw_scaled carry(const sdtw_recurrence *job, lane block, const lane *summary) {
  sdtw_scaled sum = summary->x;
  if (job->logs || (isfinite(sum.mantissa) && isfinite(block.x.mantissa))) {
    sdtw_scaled x = sdtw_scaled_normal(block.x.mantissa, block.x.exponent);
    sdtw_scaled from_x = sdtw_scaled_product(summary->product, x);
    if (from_x.mantissa == 0) return sum;
    sdtw_scaled after = sdtw_scaled_sum(from_x, sdtw_scaled_normal(sum.mantissa, sum.exponent));
    if (after.mantissa != 0 && from_x.exponent <= after.exponent + 1) {
      if (job->logs) return after;
      sdtw_real value = sdtw_scaled_value(after);
      if (isfinite(value)) return (sdtw_scaled){value, 0};
    }
  }
  walk_all(job, &block, 1, block.left);
  return block.x;
}

static void scan_task(void *context, size_t task, int thread, sdtw_crew *crew) {
  const scan *c = context;
  size_t s = task % c->sequences, group = task / c->sequences;
  baton *hand = c->batons + s;
  lane blocks[LANES], summaries[LANES];
  sdtw_scaled *kept = c->kept ? c->kept + (size_t)thread * 2 * GROUP : NULL;
  int count = load_group(c->job, s, group, kept, blocks);
  for (int i = 0; i < count; i++) {
    summaries[i] = blocks[i];
    summaries[i].x = sdtw_scaled_zero;
  }
  summarise_all(c->job, summaries, count, BLOCK);
  if (await(hand, group, crew, thread)) return;
  sdtw_scaled x = hand->x;
  for (int i = 0; i < count; i++) {
    blocks[i].x = x;
    x = carry(c->job, blocks[i], summaries + i);
  }
  hand->x = x;
  atomic_store_explicit(&hand->groups, group + 1, memory_order_release);
  walk_all(c->job, blocks, count, BLOCK);
}

static void lay_out(scan *c, sdtw_arena *arena) {
  const sdtw_recurrence *job = c->job;
  c->batons = sdtw_take(arena, c->sequences, sizeof(baton));
  c->kept = NULL;
  if (job->logs) c->kept = sdtw_take(arena, (size_t)job->threads * 2 * GROUP, sizeof(sdtw_scaled));
}

static sdtw_status run_scan(scan *c, const sdtw_monitor *monitor) {
  for (size_t s = 0; s < c->sequences; s++) {
    atomic_init(&c->batons[s].groups, 0);
    c->batons[s].x = lane_of(c->job, s).x;
  }
  size_t tasks = divide_up(c->job->steps, GROUP) * c->sequences;
  return sdtw_crew_run(monitor, threads_for(c->job), tasks, scan_task, c);
}

/* ---- entry --------------------------------------------------------------------------------- */

static size_t sequences_of(const sdtw_recurrence *job) { return job->inner * job->outer; }

static int is_scan(const sdtw_recurrence *job) {
  return job->steps >= LEAST_SCAN && sequences_of(job) < LANES;
}

size_t sdtw_recurrence_plan_in(const sdtw_recurrence *job) {
  sdtw_arena counting = {NULL, SDTW_CACHE_LINE};
  scan c = {.job = job, .sequences = sequences_of(job)};
  if (is_scan(job)) lay_out(&c, &counting);
  return counting.used;
}

sdtw_status sdtw_recurrence_run_in(const sdtw_recurrence *job, void *scratch,
                                   const sdtw_monitor *monitor) {
  scan c = {.job = job, .sequences = sequences_of(job)};
  if (job->steps == 0 || c.sequences == 0) return SDTW_OK;
  if (!is_scan(job)) return run_many(job, c.sequences, monitor);
  size_t past = (size_t)scratch % SDTW_CACHE_LINE;
  sdtw_arena arena = {(char *)scratch + (past ? SDTW_CACHE_LINE - past : 0), 0};
  lay_out(&c, &arena);
  return run_scan(&c, monitor);
}
