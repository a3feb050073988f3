/* See threads.h. */
#if !defined(_WIN32)
#define _POSIX_C_SOURCE 200809L
#endif
#include "threads.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#if !defined(_WIN32)
#include <pthread.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

static int chosen_threads = 0;
static int in_forked_child = 0;

#if !defined(_WIN32)
static void note_fork(void) { in_forked_child = 1; }
#endif

void sdtw_threads_init(void) {
#if !defined(_WIN32)
  pthread_atfork(NULL, NULL, note_fork);
#endif
}

int sdtw_has_openmp(void) {
#ifdef _OPENMP
  return 1;
#else
  return 0;
#endif
}

static int logical_processors(void) {
#ifdef _OPENMP
  return omp_get_num_procs();
#else
  return 1;
#endif
}

/* Cores, not hyper-threads: the kernels keep a core's vector units busy alone. Linux tells which
 * logical processor is the first of its core; elsewhere the logical ones are counted. */
static int count_cores(void) {
  int cores = 0;
  for (int cpu = 0; cpu < 4096; cpu++) {
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *file = fopen(path, "r");
    if (!file) break;
    int first = -1;
    if (fscanf(file, "%d", &first) == 1 && first == cpu) cores++;
    fclose(file);
  }
  return cores;
}

int sdtw_processors(void) {
  static int cores = -1;
  if (cores < 0) cores = count_cores();
  int allowed = logical_processors();
  return cores > 0 && cores < allowed ? cores : allowed;
}

static int environment_count(const char *name, int otherwise) {
  const char *text = getenv(name);
  if (!text) return otherwise;
  char *end;
  long n = strtol(text, &end, 10);
  return end != text && n >= 1 && n <= INT_MAX ? (int)n : otherwise;
}

int sdtw_threads(void) {
  if (in_forked_child || !sdtw_has_openmp()) return 1;
  int n = chosen_threads > 0 ? chosen_threads
                             : environment_count("OMP_NUM_THREADS", sdtw_processors());
  int limit = environment_count("OMP_THREAD_LIMIT", INT_MAX);
  return n < limit ? n : limit;
}

void sdtw_threads_set(int n) { chosen_threads = n; }

/* ---- crew ---------------------------------------------------------------------------------- */

struct sdtw_crew {
  const sdtw_monitor *monitor;
  size_t tasks;
  atomic_size_t next, done;
  atomic_int stop, finished;
  double next_look;
};

static const double look_every = 0.02; /* seconds: unnoticeable to a person, free for the work */

static double now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void look(sdtw_crew *crew) {
  double time = now();
  if (time < crew->next_look) return;
  double done = (double)atomic_load(&crew->done) / (double)crew->tasks;
  if (crew->monitor->check(crew->monitor->data, done)) atomic_store(&crew->stop, 1);
  crew->next_look = now() + look_every;
}

int sdtw_crew_stopped(sdtw_crew *crew, int thread) {
  if (thread == 0 && crew->monitor && !atomic_load_explicit(&crew->stop, memory_order_relaxed))
    look(crew);
  return atomic_load_explicit(&crew->stop, memory_order_relaxed);
}

/* Most waits are over in microseconds, less than the shortest nap that a system grants; a long one
 * need not be noticed at once. */
void sdtw_crew_pause(int tries) {
  const struct timespec nap = {0, tries < 11000 ? 20000 : 2000000};
  if (tries >= 10000) nanosleep(&nap, NULL);
}

static void work_through(sdtw_crew *crew, int thread, sdtw_task work, void *context) {
  for (;;) {
    size_t task = atomic_fetch_add(&crew->next, 1);
    if (task >= crew->tasks || sdtw_crew_stopped(crew, thread)) return;
    work(context, task, thread, crew);
    atomic_fetch_add(&crew->done, 1);
  }
}

#ifdef _OPENMP
/* Short naps at first: the others are mostly about to finish. */
static void watch_the_others(sdtw_crew *crew, int others) {
  struct timespec nap = {0, 1000};
  while (atomic_load(&crew->finished) < others) {
    nanosleep(&nap, NULL);
    if (nap.tv_nsec < 2000000) nap.tv_nsec *= 2;
    sdtw_crew_stopped(crew, 0);
  }
}
#endif

sdtw_status sdtw_crew_run(const sdtw_monitor *monitor, int threads, size_t tasks, sdtw_task work,
                          void *context) {
  sdtw_crew crew = {.monitor = monitor, .tasks = tasks, .next_look = now() + look_every};
  if (tasks < (size_t)threads) threads = (int)tasks;
#ifdef _OPENMP
  if (threads > 1) {
#pragma omp parallel num_threads(threads)
    {
      int thread = omp_get_thread_num();
      work_through(&crew, thread, work, context);
      if (thread != 0)
        atomic_fetch_add(&crew.finished, 1);
      else
        watch_the_others(&crew, omp_get_num_threads() - 1);
    }
    return atomic_load(&crew.stop) ? SDTW_STOPPED : SDTW_OK;
  }
#endif
  work_through(&crew, 0, work, context);
  return atomic_load(&crew.stop) ? SDTW_STOPPED : SDTW_OK;
}
