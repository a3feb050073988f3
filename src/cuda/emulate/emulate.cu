/* The scheduler and the runtime of the stand-in. See cuda.h.
 *
 * For ThreadSanitizer this file is compiled without -fsanitize=thread, with -DFIBER_TSAN: what it
 * notes about a thread is not what that thread does. */
#include "cuda.h"

#include <stdio.h>
#include <stdlib.h>

#include "fiber.h"

namespace emulate {

enum { WARP = 32, MOST_THREADS = 1024, RESIDENT = 4, TAGS = 1024 };
static const size_t stack_size = 256 << 10;

enum state { READY, AT_BARRIER, IN_WARP, DONE };

struct thread {
  fiber f;
  block *home;
  unsigned number;
  state at;
  int line;          /* where it waits */
  unsigned barriers; /* passed so far */
  unsigned mask;     /* of the warp operation it waits in */
  warp_op op;
  uint64_t in, out;
  int source;
  char *tag;
};

struct shared_memory {
  const void *place;
  shared_memory *next;
  void *data;
  char tag;
};

struct block {
  unsigned number, count, alive;
  thread **threads;
  shared_memory *memory;
  char barrier_tag[2];
};

struct launch_state {
  const char *name;
  unsigned grid, size;
  body run;
  void *closure;
};

thread *current;
static fiber home; /* the scheduler's own */
static launch_state running;
static bool faulted;
static char fault_text[256];
static char begin_tag, end_tag, warp_tags[TAGS];

/* ---- faults -------------------------------------------------------------------------------- */

/* Ends the launch; on a thread's fiber it does not return. */
static void fault(const char *what, const thread *t) {
  faulted = true;
  snprintf(fault_text, sizeof fault_text, "%s: %s (block %u, thread %u, line %d)", running.name,
           what, t->home->number, t->number, t->line);
  if (!current) return;
  fiber *from = &current->f;
  current = NULL;
  fiber_switch(from, &home, true);
}

/* ---- what a thread asks -------------------------------------------------------------------- */

uint3 thread_index() { return uint3{current->number, 0, 0}; }
uint3 block_index() { return uint3{current->home->number, 0, 0}; }
uint3 block_size() { return uint3{running.size, 1, 1}; }
uint3 grid_size() { return uint3{running.grid, 1, 1}; }
int lane() { return (int)(current->number % WARP); }

static void wait_for_others() {
  thread *t = current;
  current = NULL;
  fiber_switch(&t->f, &home, false);
}

void sync_threads(int line) {
  thread *t = current;
  char *tag = &t->home->barrier_tag[t->barriers++ % 2];
  tag_release(tag);
  t->at = AT_BARRIER;
  t->line = line;
  wait_for_others();
  tag_acquire(tag);
}

/* As if the scheduler had laid it out before the block began: no thread's write comes before any
 * other's. */
static shared_memory *lay_out_shared(block *b, const void *place, size_t bytes) {
  fiber_pose_as(&home);
  shared_memory *m = (shared_memory *)malloc(sizeof *m);
  *m = shared_memory{place, b->memory, malloc(bytes), 0};
  memset(m->data, 0xff, bytes); /* NaN */
  b->memory = m;
  tag_release(&m->tag);
  fiber_pose_as(&current->f);
  return m;
}

void *shared(const void *place, size_t bytes) {
  block *b = current->home;
  shared_memory *m = b->memory;
  while (m && m->place != place) m = m->next;
  if (!m) m = lay_out_shared(b, place, bytes);
  tag_acquire(&m->tag);
  return m->data;
}

/* ---- warp operations ----------------------------------------------------------------------- */

static thread *lane_of(const thread *t, int lane) {
  return t->home->threads[t->number / WARP * WARP + (unsigned)lane];
}

/* Whether all lanes of the mask wait in the operation that t has come to. */
static bool all_here(const thread *t) {
  for (int l = 0; l < WARP; l++) {
    if (!(t->mask >> l & 1)) continue;
    const thread *o = lane_of(t, l);
    if (o->at == DONE) {
      fault("a warp operation's mask names a lane that has left", t);
      return false;
    }
    if (o->at != IN_WARP || o->mask != t->mask || o->op != t->op) return false;
  }
  return true;
}

static void complete(const thread *t) {
  uint64_t votes = 0;
  for (int l = 0; l < WARP; l++) {
    if (t->mask >> l & 1) votes |= (lane_of(t, l)->in & 1) << l;
  }
  for (int l = 0; l < WARP; l++) {
    if (!(t->mask >> l & 1)) continue;
    thread *o = lane_of(t, l);
    o->out = votes;
    if (o->op == SHUFFLE) {
      if (!(t->mask >> o->source & 1)) fault("a shuffle reads a lane outside its mask", o);
      o->out = lane_of(t, o->source)->in;
    }
    o->at = READY;
  }
}

/* The lanes of one __syncwarp() share a tag that no other operation nearby has. */
static char *common_tag(const thread *t) {
  static unsigned next;
  for (int l = 0; l < WARP; l++) {
    if (!(t->mask >> l & 1)) continue;
    const thread *o = lane_of(t, l);
    if (o != t && o->at == IN_WARP && o->op == SYNC && o->mask == t->mask) return o->tag;
  }
  return &warp_tags[next++ % TAGS];
}

uint64_t warp_exchange(unsigned mask, warp_op op, uint64_t in, int source, int line) {
  thread *t = current;
  unsigned left = t->home->count - t->number / WARP * WARP;
  t->mask = left >= WARP ? mask : mask & ((1u << left) - 1);
  t->op = op;
  t->in = in;
  t->source = source;
  t->line = line;
  if (!(t->mask >> (t->number % WARP) & 1)) fault("a lane is missing from its own mask", t);
  char *tag = op == SYNC ? t->tag = common_tag(t) : NULL;
  if (tag) tag_release(tag);
  t->at = IN_WARP;
  if (all_here(t)) {
    complete(t);
  } else {
    wait_for_others();
  }
  if (tag) tag_acquire(tag);
  return t->out;
}

/* ---- blocks -------------------------------------------------------------------------------- */

static void thread_main() {
  fiber_arrived();
  tag_acquire(&begin_tag);
  running.run(running.closure);
  tag_release(&end_tag);
  thread *t = current;
  t->at = DONE;
  t->home->alive--;
  current = NULL;
  fiber_switch(&t->f, &home, true);
}

/* Lets every thread that can go on do so once; says whether any could. */
static bool run_ready(block *b, const unsigned *order) {
  bool any = false;
  for (unsigned i = 0; i < b->count && !faulted; i++) {
    thread *t = b->threads[order[i]];
    if (t->at != READY) continue;
    any = true;
    current = t;
    fiber_switch(&home, &t->f, false);
    current = NULL;
  }
  return any;
}

/* Opens the block's barrier when all living threads are at it; says whether they were. */
static bool open_barrier(block *b) {
  const thread *first = NULL;
  for (unsigned i = 0; i < b->count; i++) {
    const thread *t = b->threads[i];
    if (t->at == DONE) continue;
    if (t->at != AT_BARRIER) return false;
    if (!first) first = t;
    if (t->line != first->line) {
      fault("threads wait at different __syncthreads()", t);
      return false;
    }
  }
  for (unsigned i = 0; i < b->count; i++) {
    if (b->threads[i]->at == AT_BARRIER) b->threads[i]->at = READY;
  }
  return first != NULL;
}

static void report_deadlock(block *b) {
  for (unsigned i = 0; i < b->count; i++) {
    if (b->threads[i]->at == DONE) continue;
    fault("deadlock", b->threads[i]);
    return;
  }
}

/* One turn of a block. */
static void run_block(block *b, const unsigned *order) {
  if (!run_ready(b, order) && !faulted && !open_barrier(b) && !faulted) report_deadlock(b);
}

/* ---- schedules ----------------------------------------------------------------------------- */

static uint64_t random_state = 1;

static unsigned random_below(unsigned n) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (unsigned)(random_state >> 11) % n;
}

/* Numbers 0..n-1 as the environment wants them. */
static void choose_order(unsigned *order, unsigned n) {
  const char *name = getenv("SOFTDTW_EMULATE_ORDER");
  bool reverse = name && strcmp(name, "reverse") == 0;
  for (unsigned i = 0; i < n; i++) order[i] = reverse ? n - 1 - i : i;
  if (!name || strcmp(name, "random") != 0) return;
  for (unsigned i = n; i > 1; i--) {
    unsigned k = random_below(i), held = order[i - 1];
    order[i - 1] = order[k];
    order[k] = held;
  }
}

static void seed_random() {
  const char *seed = getenv("SOFTDTW_EMULATE_SEED");
  if (seed) random_state = strtoull(seed, NULL, 10) * 2654435761u + 1;
}

/* ---- launches ------------------------------------------------------------------------------ */

static thread *pool; /* RESIDENT * MOST_THREADS, made when first needed */
static bool made[RESIDENT * MOST_THREADS];

static thread *thread_at(unsigned slot, unsigned number) {
  unsigned i = slot * MOST_THREADS + number;
  if (!pool) pool = (thread *)calloc(RESIDENT * MOST_THREADS, sizeof *pool);
  if (!pool) return NULL;
  if (made[i])
    fiber_renew(&pool[i].f);
  else if (!fiber_create(&pool[i].f, stack_size))
    return NULL;
  made[i] = true;
  return &pool[i];
}

/* Blocks in flight, and the memory of those that have ended: it is given back when all have, so
 * that its reuse orders nothing between blocks. */
struct board {
  block slots[RESIDENT];
  unsigned used;
  thread *threads[RESIDENT][MOST_THREADS];
  shared_memory *spent;
};

static bool start_block(board *all, unsigned slot, unsigned number) {
  block *b = &all->slots[slot];
  *b = block{};
  b->number = number;
  b->count = b->alive = running.size;
  b->threads = all->threads[slot];
  for (unsigned i = 0; i < running.size; i++) {
    thread *t = b->threads[i] = thread_at(slot, i);
    if (!t) return false;
    t->home = b;
    t->number = i;
    t->at = READY;
    t->barriers = 0;
    t->line = 0;
    fiber_prepare(&t->f, thread_main);
  }
  return true;
}

static void retire(board *all, block *b) {
  while (b->memory) {
    shared_memory *m = b->memory;
    b->memory = m->next;
    m->next = all->spent;
    all->spent = m;
  }
}

static void discard(board *all) {
  while (all->spent) {
    shared_memory *m = all->spent;
    all->spent = m->next;
    free(m->data);
    free(m);
  }
}

/* Runs the blocks, RESIDENT of them in turn. */
static void run_grid(board *all, const unsigned *blocks, const unsigned *order) {
  unsigned next = 0, alive = 0;
  bool live[RESIDENT] = {};
  do {
    for (unsigned slot = 0; slot < RESIDENT && !faulted; slot++) {
      if (!live[slot] && next < running.grid) {
        live[slot] = start_block(all, slot, blocks[next++]);
        if (!live[slot]) faulted = true;
        alive++;
      }
      if (!live[slot] || faulted) continue;
      run_block(&all->slots[slot], order);
      if (all->slots[slot].alive > 0) continue;
      retire(all, &all->slots[slot]);
      live[slot] = false;
      alive--;
    }
  } while (!faulted && (alive > 0 || next < running.grid));
  for (unsigned slot = 0; slot < RESIDENT; slot++) {
    if (live[slot]) retire(all, &all->slots[slot]);
  }
}

static cudaError_t last_error = cudaSuccess;

static bool told_to_fail() {
  static unsigned launches;
  static char text[32];
  const char *wish = getenv("SOFTDTW_EMULATE_FAIL");
  if (!wish) {
    text[0] = 0;
    return false;
  }
  if (strncmp(text, wish, sizeof text - 1) != 0) {
    snprintf(text, sizeof text, "%s", wish);
    launches = 0;
  }
  return ++launches == (unsigned)atoi(wish);
}

void launch(const char *name, unsigned grid, unsigned size, body run, void *closure) {
  static board all;
  running = launch_state{name, grid, size, run, closure};
  if (last_error != cudaSuccess) return;
  if (grid == 0 || size == 0 || size > MOST_THREADS || told_to_fail()) {
    snprintf(fault_text, sizeof fault_text, "%s: launch failed", name);
    last_error = cudaErrorLaunchFailure;
    return;
  }
  unsigned *blocks = (unsigned *)malloc(grid * sizeof *blocks), order[MOST_THREADS];
  seed_random();
  choose_order(blocks, grid);
  choose_order(order, size);
  faulted = false;
  fiber_adopt(&home);
  tag_release(&begin_tag);
  run_grid(&all, blocks, order);
  tag_acquire(&end_tag);
  discard(&all);
  free(blocks);
  if (faulted) last_error = cudaErrorLaunchFailure;
}

/* ---- memory -------------------------------------------------------------------------------- */

/* AddressSanitizer has guards of its own, which these would hide. */
#ifdef FIBER_ASAN
enum { GUARD = 0 };
#else
enum { GUARD = 64 };
#endif
enum { MOST_DEVICES = 8, GUARD_BYTE = 0xa5, FRESH_BYTE = 0xcd };

struct allocation {
  allocation *next;
  char *base;
  size_t bytes;
  int device;
};

static allocation *allocations;
static size_t in_use[MOST_DEVICES];
static int chosen_device;

static size_t device_memory() {
  const char *bytes = getenv("SOFTDTW_EMULATE_MEMORY");
  return bytes ? (size_t)strtod(bytes, NULL) : (size_t)1000000000;
}

static int device_count() {
  const char *count = getenv("SOFTDTW_EMULATE_DEVICES");
  int n = count ? atoi(count) : 1;
  return n < 0 ? 0 : n > MOST_DEVICES ? MOST_DEVICES : n;
}

static bool intact(const allocation *a) {
  for (int i = 0; i < GUARD; i++) {
    if ((unsigned char)a->base[i] != GUARD_BYTE ||
        (unsigned char)a->base[GUARD + a->bytes + (size_t)i] != GUARD_BYTE)
      return false;
  }
  return true;
}

static void check_guards() {
  for (allocation *a = allocations; a && last_error == cudaSuccess; a = a->next) {
    if (intact(a)) continue;
    last_error = cudaErrorIllegalAddress;
    snprintf(fault_text, sizeof fault_text, "a kernel wrote outside %zu bytes of device memory",
             a->bytes);
  }
}

static bool on_device(const void *at, size_t bytes) {
  for (const allocation *a = allocations; a; a = a->next) {
    const char *begin = a->base + GUARD, *p = (const char *)at;
    if (p >= begin && p + bytes <= begin + a->bytes) return true;
  }
  return false;
}

static void release(allocation **link) {
  allocation *a = *link;
  *link = a->next;
  in_use[a->device] -= a->bytes;
  free(a->base);
  free(a);
}

}  // namespace emulate

/* ---- the runtime --------------------------------------------------------------------------- */

using namespace emulate;

const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
      return fault_text;
    default:
      return "invalid argument";
  }
}

/* Faults of a kernel stay until the device is reset, as on a GPU. */
cudaError_t cudaGetLastError() { return last_error; }

cudaError_t cudaGetDeviceCount(int *count) {
  *count = device_count();
  return *count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

static const int multiprocessors = 2;

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
  if (device < 0 || device >= device_count()) return cudaErrorInvalidDevice;
  *properties = cudaDeviceProp{};
  snprintf(properties->name, sizeof properties->name, "emulated device %d", device);
  properties->totalGlobalMem = device_memory();
  properties->multiProcessorCount = multiprocessors;
  return cudaSuccess;
}

/* An emulated device has no clock. */
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
  *value = attribute == cudaDevAttrMultiProcessorCount ? multiprocessors : 0;
  return device < device_count() ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= device_count()) return cudaErrorInvalidDevice;
  chosen_device = device;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free, size_t *total) {
  *total = device_memory();
  *free = *total > in_use[chosen_device] ? *total - in_use[chosen_device] : 0;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void **at, size_t bytes) {
  if (last_error != cudaSuccess) return last_error;
  size_t free_bytes, total;
  cudaMemGetInfo(&free_bytes, &total);
  if (bytes > free_bytes) return cudaErrorMemoryAllocation;
  allocation *a = (allocation *)malloc(sizeof *a);
  char *base = (char *)malloc(bytes + 2 * GUARD);
  if (!a || !base) {
    free(a);
    free(base);
    return cudaErrorMemoryAllocation;
  }
  memset(base, GUARD_BYTE, bytes + 2 * GUARD);
  memset(base + GUARD, FRESH_BYTE, bytes);
  *a = allocation{allocations, base, bytes, chosen_device};
  allocations = a;
  in_use[chosen_device] += bytes;
  *at = base + GUARD;
  return cudaSuccess;
}

cudaError_t cudaFree(void *at) {
  if (!at) return cudaSuccess;
  check_guards();
  for (allocation **link = &allocations; *link; link = &(*link)->next) {
    if ((*link)->base + GUARD != at) continue;
    release(link);
    return last_error;
  }
  return cudaErrorInvalidValue;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
  check_guards();
  if (last_error != cudaSuccess) return last_error;
  const void *device = kind == cudaMemcpyHostToDevice ? to : from;
  if (bytes > 0 && !on_device(device, bytes)) return cudaErrorInvalidValue;
  memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemset(void *at, int byte, size_t bytes) {
  if (last_error != cudaSuccess) return last_error;
  if (bytes > 0 && !on_device(at, bytes)) return cudaErrorInvalidValue;
  memset(at, byte, bytes);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  check_guards();
  return last_error;
}

cudaError_t cudaDeviceReset() {
  allocation **link = &allocations;
  while (*link) {
    if ((*link)->device == chosen_device) {
      release(link);
    } else {
      link = &(*link)->next;
    }
  }
  last_error = cudaSuccess;
  return cudaSuccess;
}
