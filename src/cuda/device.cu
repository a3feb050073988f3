/* Devices: what they are, what they keep between jobs, and how one works through a chunk.
 *
 * Series stay on a device after a job, so that the iterations of a barycenter or of k-means send
 * only their centroids. A set is known by its content, a hash of 128 bits over every value and
 * length, never by its address: a stale set is impossible, and reading memory once is several times
 * faster than sending it. The MOST_SETS last used are kept, fewer when memory is short.
 *
 * Nothing here calls R, throws or exits; a CUDA error becomes a status with its message.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if !defined(_WIN32)
#include <unistd.h>
#endif

#include "device.h"
#include "launch.cuh"
#include "session.cuh"

enum { MOST_DEVICES = 8, MOST_SETS = 4 };
/* Of the free memory: the rest is left to the driver and to others. */
static const double share_of_memory = 0.8;
static const double ln2 = 0.693147180559945309417232121458;

/* ---- errors -------------------------------------------------------------------------------- */

sdtw_status failed(sdtw_error *error, sdtw_failure kind, const char *text) {
  if (error) {
    error->kind = kind;
    snprintf(error->message, sizeof error->message, "%s", text);
  }
  return SDTW_FAILED;
}

sdtw_status cuda_failed(sdtw_error *error, cudaError_t code, const char *action) {
  char text[sizeof error->message];
  bool memory = code == cudaErrorMemoryAllocation;
  snprintf(text, sizeof text, "CUDA could not %s: %s", action, cudaGetErrorString(code));
  return failed(error, memory ? SDTW_DEVICE_MEMORY : SDTW_DEVICE_ERROR, text);
}

/* ---- devices ------------------------------------------------------------------------------- */

#if defined(_WIN32)
static bool is_fork() { return false; }
static void remember_process() {}
#else
/* CUDA does not survive a fork: a child may use it only if its parent never has. */
static pid_t process;
static bool is_fork() { return process != 0 && process != getpid(); }
static void remember_process() { process = getpid(); }
#endif

sdtw_cuda_kind sdtw_cuda_built(void) {
#ifdef SDTW_EMULATE
  return SDTW_CUDA_EMULATED;
#else
  return SDTW_CUDA_PRESENT;
#endif
}

double sdtw_cuda_chunk_cells(void) { return sdtw_cuda_built() == SDTW_CUDA_EMULATED ? 2e6 : 2e10; }

int sdtw_cuda_count(sdtw_error *error) {
  int count = 0;
  if (is_fork()) {
    failed(error, SDTW_FORKED,
           "CUDA cannot be used in a forked process whose parent has used it: use a fresh process "
           "(a PSOCK cluster, future::multisession) or backend = \"cpu\"");
    return 0;
  }
  cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count > 0) {
    remember_process();
    return count < MOST_DEVICES ? count : (int)MOST_DEVICES;
  }
  char text[256];
  snprintf(text, sizeof text, "no CUDA device can be used: %s",
           cudaGetErrorString(code == cudaSuccess ? cudaErrorNoDevice : code));
  failed(error, SDTW_NO_DEVICE, text);
  cudaGetLastError();
  return 0;
}

sdtw_status sdtw_cuda_describe(int device, sdtw_cuda_device *description, sdtw_error *error) {
  cudaDeviceProp properties;
  size_t free_bytes, total;
  int kilohertz = 0;
  CHECK(cudaGetDeviceProperties(&properties, device), "ask for the device's properties");
  CHECK(cudaSetDevice(device), "choose the device");
  CHECK(cudaMemGetInfo(&free_bytes, &total), "ask for free memory");
  CHECK(cudaDeviceGetAttribute(&kilohertz, cudaDevAttrClockRate, device), "ask for the clock");
  memset(description, 0, sizeof *description);
  snprintf(description->name, sizeof description->name, "%s", properties.name);
  description->memory = (double)total;
  description->free = (double)free_bytes;
  description->multiprocessors = properties.multiProcessorCount;
  description->kilohertz = kilohertz;
  description->major = properties.major;
  description->minor = properties.minor;
  return SDTW_OK;
}

/* ---- memory and its record ----------------------------------------------------------------- */

static size_t bytes_now;
static sdtw_cuda_record record;

sdtw_cuda_record sdtw_cuda_take_record(void) {
  sdtw_cuda_record taken = record;
  record.kernel_seconds = 0;
  record.peak_bytes = (double)bytes_now;
  return taken;
}

static void count_bytes(size_t more) {
  bytes_now += more;
  if ((double)bytes_now > record.peak_bytes) record.peak_bytes = (double)bytes_now;
}

static void give_back(void *at, size_t bytes) {
  if (!at) return;
  cudaFree(at);
  bytes_now -= bytes;
}

static double seconds_now() {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void start_clock(sdtw_cuda_session *s) { s->launched = seconds_now(); }

sdtw_status finish_kernels(sdtw_cuda_session *s, const char *action, sdtw_error *error) {
  CHECK(cudaDeviceSynchronize(), action);
  record.kernel_seconds += seconds_now() - s->launched;
  return SDTW_OK;
}

/* ---- content ------------------------------------------------------------------------------- */

typedef struct {
  uint64_t a, b;
} digest;

static uint64_t mixed(uint64_t v) {
  v ^= v >> 32;
  v *= 0xd6e8feb86659fd93u;
  v ^= v >> 29;
  v *= 0x9fb21c651e98df25u;
  return v ^ v >> 32;
}

/* Four strands, so that one multiplication need not wait for another. */
static digest hash_bytes(const void *data, size_t bytes, digest seed) {
  uint64_t strand[4] = {seed.a, seed.b, seed.a ^ 0x9e3779b97f4a7c15u, seed.b ^ bytes};
  const char *at = (const char *)data;
  for (; bytes >= sizeof strand; bytes -= sizeof strand, at += sizeof strand) {
    uint64_t word[4];
    memcpy(word, at, sizeof word);
    for (int i = 0; i < 4; i++) {
      uint64_t v = (strand[i] ^ word[i]) * 0x9fb21c651e98df25u;
      strand[i] = v ^ v >> 29;
    }
  }
  uint64_t rest[4] = {0, 0, 0, 0};
  memcpy(rest, at, bytes);
  for (int i = 0; i < 4; i++) strand[i] = mixed(strand[i] ^ rest[i]);
  digest h = {mixed(strand[0] + 3 * strand[1]) + mixed(strand[2] + 5 * strand[3]),
              mixed(strand[3] + 7 * strand[0]) ^ mixed(strand[1] + 9 * strand[2])};
  return h;
}

static size_t numbers_of(const sdtw_set *set) {
  size_t last = set->count - 1;
  return set->start[last] + (size_t)set->length[last] * set->d;
}

static digest hash_set(const sdtw_set *set, int single, const double *frame) {
  digest h = {set->d + 1, set->count * 2 + (single ? 1 : 0)};
  if (frame) h = hash_bytes(frame, (set->d + 1) * sizeof *frame, h);
  h = hash_bytes(set->length, set->count * sizeof *set->length, h);
  return hash_bytes(set->values, numbers_of(set) * sizeof *set->values, h);
}

/* ---- sets that a device keeps -------------------------------------------------------------- */

typedef struct {
  digest hash;
  void *values; /* NULL: this place is free */
  series_place *places;
  size_t value_bytes, place_bytes;
  unsigned last_use;
  int holders; /* sessions at work with it */
} kept_set;

static kept_set kept[MOST_DEVICES][MOST_SETS];
static unsigned uses;

static void drop_set(kept_set *k) {
  give_back(k->values, k->value_bytes);
  give_back(k->places, k->place_bytes);
  memset(k, 0, sizeof *k);
}

/* Drops the set that nobody holds and that was used longest ago; false when there is none. */
static bool drop_oldest(int device) {
  kept_set *oldest = NULL;
  for (int i = 0; i < MOST_SETS; i++) {
    kept_set *k = &kept[device][i];
    if (k->values && k->holders == 0 && (!oldest || k->last_use < oldest->last_use)) oldest = k;
  }
  if (!oldest) return false;
  drop_set(oldest);
  return true;
}

static size_t bytes_kept(int device, bool held) {
  size_t bytes = 0;
  for (int i = 0; i < MOST_SETS; i++) {
    if ((kept[device][i].holders > 0) == held)
      bytes += kept[device][i].value_bytes + kept[device][i].place_bytes;
  }
  return bytes;
}

/* Asks for memory until nothing is left to drop for it. */
static cudaError_t allocate(int device, void **at, size_t bytes) {
  cudaError_t code = cudaMalloc(at, bytes ? bytes : 1);
  while (code == cudaErrorMemoryAllocation && drop_oldest(device)) {
    cudaGetLastError();
    code = cudaMalloc(at, bytes ? bytes : 1);
  }
  if (code != cudaSuccess) {
    *at = NULL;
    cudaGetLastError();
    return code;
  }
  count_bytes(bytes);
  return code;
}

/* ---- the frame ----------------------------------------------------------------------------- */

/* As in core/batch.c: in single precision points are taken relative to a centre, because seven
 * digits are not to be used up by an offset; and where squares would vanish or overflow though the
 * result would not, in units of a power of two. A frame holds the centre of each dimension and one
 * over the unit. */

static void widen(const sdtw_set *set, double *low, double *high) {
  const double *v = set->values, *end = v + numbers_of(set);
  while (v < end) {
    for (size_t k = 0; k < set->d; k++, v++) {
      if (*v < low[k]) low[k] = *v;
      if (*v > high[k]) high[k] = *v;
    }
  }
}

/* 1 for ranges whose squares are at ease. */
static double choose_unit(const sdtw_job *job, double reach) {
  const double ease = ldexp(1, job->options.single ? 16 : 400);
  int exponent;
  if (job->options.cost == SDTW_COSINE || reach == 0 || (reach >= 1 / ease && reach <= ease))
    return 1;
  frexp(reach, &exponent);
  return ldexp(1, exponent < -1000 ? -1000 : exponent > 1000 ? 1000 : exponent);
}

/* The centre is the middle of the ranges of the larger set (of both, when they are equal): a
 * centroid that moves does not move it, so that the series can stay where they are. Returns the
 * unit; low and high have room for d numbers. */
static double fill_frame(const sdtw_job *job, double *frame, double *low, double *high) {
  const size_t d = job->x->d, x = numbers_of(job->x), y = numbers_of(job->y);
  const sdtw_set *larger = x >= y ? job->x : job->y, *other = x >= y ? job->y : job->x;
  double reach = 0;
  for (size_t k = 0; k < d; k++) {
    low[k] = HUGE_VAL;
    high[k] = -HUGE_VAL;
  }
  widen(larger, low, high);
  if (x == y) widen(other, low, high);
  for (size_t k = 0; k < d; k++)
    frame[k] = job->options.single ? low[k] + 0.5 * (high[k] - low[k]) : 0;
  if (x != y) widen(other, low, high);
  for (size_t k = 0; k < d; k++) reach = high[k] - low[k] > reach ? high[k] - low[k] : reach;
  return choose_unit(job, reach);
}

static sdtw_status find_frame(sdtw_cuda_session *s, sdtw_error *error) {
  const sdtw_job *job = s->job;
  const size_t d = job->x->d;
  if (!job->options.single && job->options.cost != SDTW_EUCLIDEAN) return SDTW_OK;
  double *frame = (double *)malloc(3 * (d + 1) * sizeof *frame);
  if (!frame) return failed(error, SDTW_DEVICE_ERROR, "no memory for the ranges of the series");
  s->unit = fill_frame(job, frame, frame + d + 1, frame + 2 * (d + 1));
  frame[d] = 1 / s->unit;
  s->frame = frame;
  if (job->options.single || s->unit != 1) return SDTW_OK;
  free(frame);
  s->frame = NULL;
  return SDTW_OK;
}

/* ---- sending a set ------------------------------------------------------------------------- */

static sdtw_status send_places(const sdtw_set *set, series_place *to, sdtw_error *error) {
  enum { AT_ONCE = 1024 };
  series_place places[AT_ONCE];
  for (size_t first = 0; first < set->count; first += AT_ONCE) {
    size_t count = set->count - first < AT_ONCE ? set->count - first : (size_t)AT_ONCE;
    for (size_t i = 0; i < count; i++) {
      series_place place = {set->start[first + i], (size_t)set->length[first + i]};
      places[i] = place;
    }
    CHECK(cudaMemcpy(to + first, places, count * sizeof *places, cudaMemcpyHostToDevice),
          "send the lengths of the series");
  }
  return SDTW_OK;
}

template <class T>
static cudaError_t send_values(const sdtw_set *set, const double *frame, double *raw,
                               const kept_set *k) {
  cudaError_t code = cudaMemcpy(raw, set->values, numbers_of(set) * sizeof(double),
                                cudaMemcpyHostToDevice);
  if (code != cudaSuccess || raw == (double *)k->values) return code;
  return launch_arrange(raw, frame, (T *)k->values, k->places, set->count, (int)set->d);
}

static const char *const no_memory = "find memory for the series";

/* Doubles of one dimension are in the kernels' order as they come; others are put in order on the
 * device, from a copy that is freed afterwards. */
static sdtw_status fill_set(int device, const sdtw_set *set, int single, const double *frame,
                            kept_set *k, sdtw_error *error) {
  const size_t numbers = numbers_of(set), raw_bytes = numbers * sizeof(double);
  const bool as_it_is = !single && !frame && set->d == 1;
  double *raw = NULL;
  k->value_bytes = numbers * (single ? sizeof(float) : sizeof(double));
  k->place_bytes = set->count * sizeof(series_place);
  CHECK(allocate(device, &k->values, k->value_bytes), no_memory);
  CHECK(allocate(device, (void **)&k->places, k->place_bytes), no_memory);
  if (send_places(set, k->places, error)) return SDTW_FAILED;
  if (!as_it_is) CHECK(allocate(device, (void **)&raw, raw_bytes), no_memory);
  double *to = as_it_is ? (double *)k->values : raw;
  cudaError_t code = single ? send_values<float>(set, frame, to, k)
                            : send_values<double>(set, frame, to, k);
  if (code == cudaSuccess) code = cudaDeviceSynchronize();
  give_back(raw, raw_bytes);
  CHECK(code, "send the series");
  return SDTW_OK;
}

/* ---- sessions ------------------------------------------------------------------------------ */

enum { PAIRS, OUT_AT, VALUE, OUT, SCRATCH, TICKET, GIVEN, WEIGHTS, SUMS, FRAME };

static const char *const no_room = "find memory for a chunk of work";

/* Buffers of the last job on a device wait for the next, up to a size each: the iterations of a
 * barycenter would else spend more on asking for memory than on their kernels. */
static sdtw_cuda_buffer spare[MOST_DEVICES][SDTW_CUDA_BUFFERS];
static const size_t most_spare = (size_t)64 << 20;

static size_t bytes_of(const sdtw_cuda_buffer *buffers) {
  size_t bytes = 0;
  for (int i = 0; i < SDTW_CUDA_BUFFERS; i++) bytes += buffers[i].bytes;
  return bytes;
}

static void drop_buffers(sdtw_cuda_buffer *buffers, size_t larger_than) {
  for (int i = 0; i < SDTW_CUDA_BUFFERS; i++) {
    if (buffers[i].bytes <= larger_than) continue;
    give_back(buffers[i].at, buffers[i].bytes);
    buffers[i].at = NULL;
    buffers[i].bytes = 0;
  }
}

sdtw_status reserve(sdtw_cuda_session *s, int which, size_t bytes, sdtw_error *error) {
  sdtw_cuda_buffer *b = &s->buffers[which];
  if (b->bytes >= bytes && b->at) return SDTW_OK;
  give_back(b->at, b->bytes);
  b->at = NULL;
  b->bytes = 0;
  bytes = bytes > 0 ? bytes : 1;
  CHECK(allocate(s->device, &b->at, bytes), no_room);
  b->bytes = bytes;
  return SDTW_OK;
}

sdtw_status send(sdtw_cuda_session *s, int which, const void *data, size_t bytes,
                 sdtw_error *error) {
  if (reserve(s, which, bytes, error)) return SDTW_FAILED;
  CHECK(cudaMemcpy(s->buffers[which].at, data, bytes, cudaMemcpyHostToDevice), "send data");
  return SDTW_OK;
}

/* The place of the set on the device, sent there if it is not yet; it is held until let go. */
static sdtw_status keep_set(sdtw_cuda_session *s, const sdtw_set *set, int *place,
                            sdtw_error *error) {
  const int device = s->device;
  const int single = s->job->options.single;
  const digest h = hash_set(set, single, s->frame);
  kept_set *own = kept[device], *k = NULL;
  for (int i = 0; i < MOST_SETS && !k; i++) {
    if (own[i].values && own[i].hash.a == h.a && own[i].hash.b == h.b) k = &own[i];
  }
  if (!k) {
    for (int i = 0; i < MOST_SETS && !k; i++) {
      if (!own[i].values) k = &own[i];
    }
    if (!k) {
      drop_oldest(device);
      return keep_set(s, set, place, error);
    }
    k->holders = 1; /* not to be dropped for its own sake */
    const double *frame = s->frame ? (const double *)s->buffers[FRAME].at : NULL;
    if (fill_set(device, set, single, frame, k, error)) {
      drop_set(k);
      return SDTW_FAILED;
    }
    k->hash = h;
    k->holders = 0;
  }
  k->holders++;
  k->last_use = ++uses;
  *place = (int)(k - own);
  return SDTW_OK;
}

template <class T>
static sdtw_status send_given(sdtw_cuda_session *s, sdtw_error *error) {
  const size_t numbers = s->job->given_n * s->job->given_m;
  if (!s->job->options.single)
    return send(s, GIVEN, s->job->given_cost, numbers * sizeof(double), error);
  /* Through the arranging kernel, as one series of one dimension. */
  series_place whole = {0, numbers};
  if (send(s, OUT, s->job->given_cost, numbers * sizeof(double), error)) return SDTW_FAILED;
  if (send(s, PAIRS, &whole, sizeof whole, error)) return SDTW_FAILED;
  if (reserve(s, GIVEN, numbers * sizeof(T), error)) return SDTW_FAILED;
  CHECK(launch_arrange((const double *)s->buffers[OUT].at, (const double *)NULL,
                       (T *)s->buffers[GIVEN].at, (const series_place *)s->buffers[PAIRS].at, 1, 1),
        "convert the costs");
  return SDTW_OK;
}

/* Bytes that the buffers may take: what is free, or kept for nobody, up to the ceiling. */
sdtw_status find_room(sdtw_cuda_session *s, sdtw_error *error) {
  size_t free_bytes, total;
  CHECK(cudaMemGetInfo(&free_bytes, &total), "ask for free memory");
  double ceiling = s->ceiling;
  s->room = share_of_memory *
            (double)(free_bytes + bytes_kept(s->device, false) + bytes_of(s->buffers));
  if (ceiling > 0) {
    double under = ceiling - (double)bytes_kept(s->device, true);
    while ((double)bytes_kept(s->device, false) > under / 2 && drop_oldest(s->device)) continue;
    under -= (double)bytes_kept(s->device, false);
    if (under < s->room) s->room = under > 0 ? under : 0;
  }
  return SDTW_OK;
}

static sdtw_status send_sets(sdtw_cuda_session *s, sdtw_error *error) {
  const sdtw_job *job = s->job;
  if (find_frame(s, error)) return SDTW_FAILED;
  if (s->frame && send(s, FRAME, s->frame, (job->x->d + 1) * sizeof(double), error))
    return SDTW_FAILED;
  if (keep_set(s, job->x, &s->set_x, error)) return SDTW_FAILED;
  return job->y == job->x ? SDTW_OK : keep_set(s, job->y, &s->set_y, error);
}

sdtw_status take_device(sdtw_cuda_session *s, int device, double ceiling, sdtw_error *error) {
  memset(s, 0, sizeof *s);
  s->device = device;
  s->ceiling = ceiling;
  s->set_x = s->set_y = -1;
  memcpy(s->buffers, spare[device], sizeof spare[device]);
  memset(spare[device], 0, sizeof spare[device]);
  CHECK(cudaSetDevice(device), "choose the device");
  /* What is left from jobs without a ceiling may be above this one's. */
  if (ceiling > 0) drop_buffers(s->buffers, 0);
  return SDTW_OK;
}

sdtw_status sdtw_cuda_open(sdtw_cuda_session *session, int device, const sdtw_job *job, int wants,
                           sdtw_error *error) {
  sdtw_status taken = take_device(session, device, job->options.device_memory, error);
  session->job = job;
  session->wants = wants;
  session->unit = 1;
  if (taken) return taken;
  if (job->given_cost) {
    sdtw_status status = job->options.single ? send_given<float>(session, error)
                                             : send_given<double>(session, error);
    if (status) return status;
  } else if (send_sets(session, error)) {
    return SDTW_FAILED;
  }
  return find_room(session, error);
}

static void let_go(sdtw_cuda_session *s, int place) {
  if (place >= 0) kept[s->device][place].holders--;
}

/* After a fault in a kernel nothing on the device can be trusted or freed: it starts afresh. */
static void recover(int device) {
  cudaGetLastError();
  if (cudaDeviceSynchronize() == cudaSuccess) {
    drop_buffers(spare[device], 0);
    return;
  }
  bytes_now -= bytes_kept(device, false) + bytes_kept(device, true) + bytes_of(spare[device]);
  memset(kept[device], 0, sizeof kept[device]);
  memset(spare[device], 0, sizeof spare[device]);
  cudaDeviceReset();
  cudaGetLastError();
}

void sdtw_cuda_close(sdtw_cuda_session *session, sdtw_status status) {
  free(session->frame);
  if (cudaSetDevice(session->device) != cudaSuccess) return;
  let_go(session, session->set_x);
  let_go(session, session->set_y);
  /* A ceiling holds between jobs too. */
  drop_buffers(session->buffers, session->ceiling > 0 ? 0 : most_spare);
  memcpy(spare[session->device], session->buffers, sizeof session->buffers);
  if (status == SDTW_FAILED) recover(session->device);
}

void sdtw_cuda_forget(void) {
  if (is_fork()) return;
  for (int device = 0; device < MOST_DEVICES; device++) {
    if (bytes_kept(device, false) + bytes_of(spare[device]) == 0) continue;
    if (cudaSetDevice(device) != cudaSuccess) continue;
    while (drop_oldest(device)) continue;
    drop_buffers(spare[device], 0);
  }
}

/* ---- a chunk ------------------------------------------------------------------------------- */

/* Teams of several warps when there are too few pairs to fill the device with single ones. */
enum { LONG_TILE = 64, SHORT_TILE = 32, LONGEST_TILE = 1024 };

template <class T>
static void choose_teams(const sdtw_cuda_session *s, launch<T> *job) {
  const bool back = s->wants != 0;
  const int longest = s->job->given_cost ? (int)s->job->given_n : s->job->x->longest;
  int units = 1;
  cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, s->device);
  int (*resident)(bool, int) = back ? resident_gradient_teams<T> : resident_value_teams<T>;
  job->warps = 1;
  job->teams = (unsigned)(units * resident(job->hard, 1));
  if (job->count < job->teams / 4 && stripes_of(longest) > 1) {
    int stripes = stripes_of(longest);
    job->warps = stripes < MOST_WARPS_A_TEAM ? stripes : (int)MOST_WARPS_A_TEAM;
    job->teams = (unsigned)(units * resident(job->hard, job->warps));
  }
  if (job->teams > job->count) job->teams = job->count;
  job->tile = job->warps > 1 ? SHORT_TILE : LONG_TILE;
}

/* Scratch of a team: enough for the most demanding pair of the chunk. */
template <class T>
static size_t scratch_of_team(const sdtw_cuda_session *s, const launch<T> &job) {
  const bool back = s->wants != 0;
  size_t most = 0;
  int n = 0, m = 0;
  if (s->job->given_cost)
    return lay_out(job.given_n, job.given_m, 0, job.window, back, job.warps, job.tile).total;
  for (size_t p = 0; p < s->chunk.count; p++) {
    int next_n = s->job->x->length[s->chunk.pairs[p].x];
    int next_m = s->job->y->length[s->chunk.pairs[p].y];
    if (next_n == n && next_m == m) continue;
    n = next_n;
    m = next_m;
    size_t total = lay_out(n, m, job.d, job.window, back, job.warps, job.tile).total;
    if (total > most) most = total;
  }
  return most;
}

static size_t buffer_bytes(const sdtw_cuda_session *s) {
  size_t bytes = 0;
  for (int i = 0; i < SDTW_CUDA_BUFFERS; i++) {
    if (i != SCRATCH) bytes += s->buffers[i].bytes;
  }
  return bytes;
}

/* The next thing to try where memory has no room for a pair: a team of one warp, then longer tiles,
 * which save fewer fronts. False when nothing is left. */
template <class T>
static bool make_slimmer(launch<T> *job) {
  if (job->warps > 1) {
    job->warps = 1;
    job->tile = LONG_TILE;
    return true;
  }
  job->tile *= 2;
  return job->tile <= LONGEST_TILE;
}

/* As many teams as the device holds at once and as memory has scratch for. */
template <class T>
static sdtw_status reserve_scratch(sdtw_cuda_session *s, launch<T> *job, sdtw_error *error) {
  const double left = s->room - (double)buffer_bytes(s);
  double each, least = HUGE_VAL;
  do {
    job->scratch_size = scratch_of_team(s, *job);
    each = (double)(job->scratch_size * sizeof(T));
    if (each < least) least = each;
  } while (each > left && make_slimmer(job));
  if (each * job->teams > left) job->teams = each <= left ? (unsigned)(left / each) : 0;
  if (job->teams == 0) {
    char text[sizeof error->message];
    snprintf(text, sizeof text,
             "the device has %.3g MB free for a job whose longest pair alone needs %.3g MB",
             s->room / 1e6, (least + (double)buffer_bytes(s)) / 1e6);
    return failed(error, SDTW_DEVICE_MEMORY, text);
  }
  if (reserve(s, SCRATCH, (size_t)job->teams * job->scratch_size * sizeof(T), error))
    return SDTW_FAILED;
  job->scratch = (T *)s->buffers[SCRATCH].at;
  return SDTW_OK;
}

template <class T>
static void fill_constants(const sdtw_cuda_session *s, launch<T> *job) {
  const sdtw_options *o = &s->job->options;
  const bool cosine = o->cost == SDTW_COSINE; /* half the squared distance of unit vectors */
  job->hard = o->gamma == 0;
  job->ground = cosine ? SDTW_SQEUCLIDEAN : (int)o->cost;
  const double cost_unit = job->ground == SDTW_SQEUCLIDEAN ? s->unit * s->unit : s->unit;
  job->scale = (T)((cosine ? 0.5 : 1.0) * (job->hard ? 1.0 : cost_unit / o->gamma / ln2));
  job->unit = job->hard ? cost_unit : -(o->gamma * ln2);
  job->window = o->window;
  job->wants = s->wants;
  job->count = (unsigned)s->chunk.count;
  if (s->job->given_cost) {
    job->given = (const T *)s->buffers[GIVEN].at;
    job->given_n = (int)s->job->given_n;
    job->given_m = (int)s->job->given_m;
    return;
  }
  const kept_set *x = &kept[s->device][s->set_x];
  const kept_set *y = s->set_y < 0 ? x : &kept[s->device][s->set_y];
  job->d = (int)s->job->x->d;
  job->x = (const T *)x->values;
  job->y = (const T *)y->values;
  job->x_place = x->places;
  job->y_place = y->places;
}

static sdtw_status send_chunk(sdtw_cuda_session *s, size_t number_size, sdtw_error *error) {
  const sdtw_cuda_chunk *c = &s->chunk;
  const unsigned zero = 0;
  if (send(s, PAIRS, c->pairs, c->count * sizeof *c->pairs, error)) return SDTW_FAILED;
  if (send(s, TICKET, &zero, sizeof zero, error)) return SDTW_FAILED;
  if (reserve(s, VALUE, c->count * sizeof(double), error)) return SDTW_FAILED;
  if (!s->wants) return SDTW_OK;
  if (send(s, OUT_AT, c->out_at, c->count * sizeof *c->out_at, error)) return SDTW_FAILED;
  if (reserve(s, OUT, c->out_numbers * number_size, error)) return SDTW_FAILED;
  CHECK(cudaMemset(s->buffers[OUT].at, 0, c->out_numbers * number_size), "clear the results");
  if (c->block == 0) return SDTW_OK;
  size_t blocks = (c->count + c->block - 1) / c->block;
  if (send(s, WEIGHTS, c->weights, c->count * sizeof *c->weights, error)) return SDTW_FAILED;
  return reserve(s, SUMS, blocks * c->record * sizeof(double), error);
}

template <class T>
static sdtw_status submit(sdtw_cuda_session *s, sdtw_error *error) {
  const sdtw_cuda_chunk *c = &s->chunk;
  launch<T> job;
  memset(&job, 0, sizeof job);
  if (send_chunk(s, sizeof(T), error)) return SDTW_FAILED;
  fill_constants(s, &job);
  choose_teams(s, &job);
  if (reserve_scratch(s, &job, error)) return SDTW_FAILED;
  job.pairs = (const sdtw_cuda_pair *)s->buffers[PAIRS].at;
  job.ticket = (unsigned *)s->buffers[TICKET].at;
  job.value = (double *)s->buffers[VALUE].at;
  job.out = (T *)s->buffers[OUT].at;
  job.out_at = (const size_t *)s->buffers[OUT_AT].at;
  start_clock(s);
  CHECK(s->wants ? launch_gradient(job) : launch_value(job), "start the kernel");
  if (c->block > 0)
    CHECK(launch_sum(job.out, (const double *)s->buffers[WEIGHTS].at, c->count, c->block, c->record,
                     (double *)s->buffers[SUMS].at),
          "start the sums");
  return SDTW_OK;
}

sdtw_status sdtw_cuda_submit(sdtw_cuda_session *session, const sdtw_cuda_chunk *chunk,
                             sdtw_error *error) {
  session->chunk = *chunk;
  CHECK(cudaSetDevice(session->device), "choose the device");
  return session->job->options.single ? submit<float>(session, error)
                                      : submit<double>(session, error);
}

sdtw_status sdtw_cuda_collect(sdtw_cuda_session *session, double *value, void *out,
                              sdtw_error *error) {
  const sdtw_cuda_chunk *c = &session->chunk;
  const size_t size = session->job->options.single ? sizeof(float) : sizeof(double);
  CHECK(cudaSetDevice(session->device), "choose the device");
  if (finish_kernels(session, "finish a chunk", error)) return SDTW_FAILED;
  CHECK(cudaMemcpy(value, session->buffers[VALUE].at, c->count * sizeof *value,
                   cudaMemcpyDeviceToHost),
        "fetch values");
  if (!session->wants) return SDTW_OK;
  size_t blocks = c->block > 0 ? (c->count + c->block - 1) / c->block : 0;
  size_t bytes = blocks > 0 ? blocks * c->record * sizeof(double) : c->out_numbers * size;
  CHECK(
      cudaMemcpy(out, session->buffers[blocks > 0 ? SUMS : OUT].at, bytes, cudaMemcpyDeviceToHost),
      "fetch results");
  return SDTW_OK;
}
