/* Recurrences on a device: in pieces, and between them the user is asked.
 *
 * A piece is whole sequences or, where one is too long, some of its steps: as much as half of a
 * tenth of a second carries to the device and back, and as fits its memory. Each number is sent
 * once and fetched once, which takes longer than all the arithmetic; so one device does the work.
 * Which way is taken, and where tiles begin, follow from the job's size alone: pieces change no
 * bit.
 */
#include "device.h"

/* Sequences enough for each to be a loop of one thread. */
enum { MANY = 4096 };

typedef struct {
  sdtw_cuda_session session;
  const sdtw_recurrence *job;
  int scan;
  size_t steps, outer; /* of a piece: fewer than all steps only where outer is 1 */
} plan;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t most(size_t a, size_t b) { return a > b ? a : b; }

static size_t numbers_of_piece(void) {
  return (size_t)1 << (sdtw_cuda_built() == SDTW_CUDA_EMULATED ? 18 : 24);
}

static sdtw_stream later(sdtw_stream s, size_t steps, size_t outer) {
  const ptrdiff_t by = (ptrdiff_t)steps * s.by.step + (ptrdiff_t)outer * s.by.outer;
  s.value += by;
  if (s.sign) s.sign += by;
  return s;
}

/* Steps from t on of the sequences from (0, o) on, as many as a piece has. */
static sdtw_recurrence piece_of(const plan *p, size_t t, size_t o) {
  sdtw_recurrence piece = *p->job;
  const ptrdiff_t out = (ptrdiff_t)t * piece.out.by.step + (ptrdiff_t)o * piece.out.by.outer;
  piece.steps = least(p->steps, piece.steps - t);
  piece.outer = least(p->outer, piece.outer - o);
  piece.a = later(piece.a, t, o);
  piece.b = later(piece.b, t, o);
  piece.x0 = later(piece.x0, 0, o);
  piece.out.value += out;
  if (piece.out.sign) piece.out.sign += out;
  return piece;
}

static int fits(const plan *p) {
  const sdtw_recurrence piece = piece_of(p, 0, 0);
  return sdtw_cuda_recurrence_bytes(&piece) <= p->session.room;
}

/* Half of the steps, but whole tiles. */
static size_t halve(size_t steps, size_t unit) { return most(steps / 2 / unit, 1) * unit; }

static void choose_piece(plan *p) {
  const sdtw_recurrence *job = p->job;
  const size_t numbers = numbers_of_piece(), slab = job->inner * job->steps;
  const size_t unit = p->scan ? SDTW_CUDA_TILE : 1;
  p->steps = job->steps;
  p->outer = least(job->outer, most(numbers / slab, 1));
  while (p->outer > 1 && !fits(p)) p->outer = p->outer / 2;
  if (p->outer > 1) return;
  if (slab > numbers) p->steps = least(job->steps, most(numbers / job->inner / unit, 1) * unit);
  while (p->steps > unit && !fits(p)) p->steps = halve(p->steps, unit);
}

static sdtw_status work(plan *p, const sdtw_monitor *monitor, sdtw_error *error) {
  const sdtw_recurrence *job = p->job;
  const double all = (double)job->steps * (double)job->outer;
  for (size_t o = 0; o < job->outer; o += p->outer) {
    for (size_t t = 0; t < job->steps; t += p->steps) {
      const sdtw_recurrence piece = piece_of(p, t, o);
      const double done = (double)o * (double)job->steps + (double)(t + piece.steps);
      if (sdtw_cuda_recur(&p->session, &piece, p->scan, t == 0, error)) return SDTW_FAILED;
      if (monitor && monitor->check(monitor->data, done / all)) return SDTW_STOPPED;
    }
  }
  return SDTW_OK;
}

static sdtw_status run(const sdtw_recurrence *job, void *scratch, const sdtw_monitor *monitor,
                       sdtw_error *error) {
  const size_t sequences = job->inner * job->outer;
  plan p = {.job = job, .scan = job->steps >= 2 * SDTW_CUDA_TILE && sequences < MANY};
  (void)scratch;
  if (job->steps == 0 || sequences == 0) return SDTW_OK;
  if (sdtw_cuda_count(error) == 0) return SDTW_FAILED;
  sdtw_status status = sdtw_cuda_open_recurrence(&p.session, 0, job, error);
  if (status == SDTW_OK) {
    choose_piece(&p);
    status = work(&p, monitor, error);
  }
  sdtw_cuda_close(&p.session, status);
  return status;
}

static size_t plan_bytes(const sdtw_recurrence *job) {
  (void)job;
  return 0;
}

const sdtw_recurrence_engine sdtw_cuda_recurrence_engine = {plan_bytes, run};
