/* Times the CUDA engine and prints a table, with published figures of other packages beside it.
 *
 * usage: bench [--quick]         --quick: small sizes, to see that the program works
 *
 * Times are of the kernels (from their launch until the host, which lists the next pairs meanwhile,
 * finds them done) and of the whole call, which sends the pairs and fetches the results as well;
 * the series are on the device already, as the tensors of the others are. Each is the median of
 * several runs. Memory is what the device holds at most; "own" is what is left of it when the
 * series and the results themselves are taken off.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/engine.h"
#include "cuda/cuda.h"

/* Forward and backward, of the figures published with sdtw-cuda-torch 97fe99c in
 * bench/softdtw_memory_benchmark.csv: the fastest of the three that it compares, and the leanest.
 * The GPU is not named there. 0: not published. */
typedef struct {
  int batch, length, d;
  double milliseconds, megabytes;
} published;

static const published others[] = {
    {16, 128, 1, 2.16, 0},  {32, 512, 64, 20.1, 161}, {32, 1024, 1, 59.1, 0},
    {16, 1024, 64, 0, 289}, {32, 2048, 1, 489, 0},    {32, 2048, 64, 492, 2134},
};

static const published *find_published(int batch, int length, int d) {
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (others[i].batch == batch && others[i].length == length && others[i].d == d)
      return &others[i];
  }
  return NULL;
}

/* ---- data ---------------------------------------------------------------------------------- */

static sdtw_set make_set(size_t count, int length, size_t d) {
  size_t numbers = count * (size_t)length * d, *start = malloc(count * sizeof *start);
  int *lengths = malloc(count * sizeof *lengths);
  double *values = malloc(numbers * sizeof *values);
  if (!start || !lengths || !values) {
    printf("no memory for the series\n");
    exit(1);
  }
  for (size_t i = 0; i < count; i++) {
    start[i] = i * (size_t)length * d;
    lengths[i] = length;
  }
  for (size_t i = 0; i < numbers; i++) values[i] = (double)rand() / RAND_MAX - 0.5;
  sdtw_set set = {values, start, lengths, count, d, length};
  return set;
}

static void free_set(sdtw_set *set) {
  free((void *)set->values);
  free((void *)set->start);
  free((void *)set->length);
}

/* ---- timing -------------------------------------------------------------------------------- */

typedef struct {
  double kernels, call, peak; /* seconds, seconds, bytes */
} measured;

static double seconds_now(void) {
  struct timespec t;
  timespec_get(&t, TIME_UTC);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static measured run_once(const sdtw_job *job) {
  sdtw_error error = {SDTW_DEVICE_ERROR, ""};
  void *scratch = malloc(sdtw_cuda_engine.plan(job));
  sdtw_cuda_take_record();
  double before = seconds_now();
  sdtw_status status = sdtw_cuda_engine.run(job, scratch, NULL, &error);
  double call = seconds_now() - before;
  free(scratch);
  if (status != SDTW_OK) {
    printf("%s\n", error.message);
    exit(1);
  }
  sdtw_cuda_record record = sdtw_cuda_take_record();
  return (measured){record.kernel_seconds, call, record.peak_bytes};
}

static int by_kernels(const void *a, const void *b) {
  double x = ((const measured *)a)->kernels, y = ((const measured *)b)->kernels;
  return (x > y) - (x < y);
}

/* What earlier jobs left on the device would count as this one's memory. The first run sends the
 * series and is not counted. */
static measured time_job(const sdtw_job *job, int repeats) {
  measured runs[32];
  sdtw_cuda_forget();
  run_once(job);
  for (int i = 0; i < repeats; i++) runs[i] = run_once(job);
  qsort(runs, (size_t)repeats, sizeof *runs, by_kernels);
  return runs[repeats / 2];
}

/* Instructions that the device issues in a second, over those a forward cell takes (number.cuh): an
 * upper bound that leaves out shuffles, loads and everything else. */
static double most_cells(const sdtw_cuda_device *device, int single, size_t d) {
  double slots = single ? 28.0 + 2.0 * (double)d : 2.0 * (38.0 + 2.0 * (double)d);
  return 128.0 * device->multiprocessors * device->kilohertz * 1e3 / slots;
}

/* ---- batches ------------------------------------------------------------------------------- */

static void print_share(double cells, double seconds, const sdtw_cuda_device *device, int single,
                        size_t d) {
  double most = most_cells(device, single, d);
  printf(" %8.1f", cells / seconds * 1e-9);
  if (most > 0) {
    printf(" %5.1f%%", 100 * cells / seconds / most);
  } else {
    printf("      -");
  }
}

static void print_published(int batch, int length, int d) {
  const published *p = find_published(batch, length, d);
  for (int k = 0; k < 2; k++) {
    double figure = p ? (k ? p->megabytes : p->milliseconds) : 0;
    if (figure > 0) {
      printf(" %8.4g", figure);
    } else {
      printf("        -");
    }
  }
  printf("\n");
}

static double **rows_of(double *from, const sdtw_set *set) {
  double **rows = malloc(set->count * sizeof *rows);
  for (size_t p = 0; p < set->count; p++) rows[p] = from + set->start[p];
  return rows;
}

static void bench_batch(int batch, int length, size_t d, int single,
                        const sdtw_cuda_device *device) {
  sdtw_set x = make_set((size_t)batch, length, d), y = make_set((size_t)batch, length, d);
  size_t numbers = (size_t)batch * (size_t)length * d;
  double cells = (double)batch * length * length;
  double *value = calloc((size_t)batch, sizeof *value), *gx = calloc(numbers, sizeof *gx);
  sdtw_job job = {.kind = SDTW_PAIRS, .x = &x, .y = &y, .value = value};
  job.options = (sdtw_options){.gamma = 1, .window = -1, .threads = 1, .single = single};
  measured forward = time_job(&job, 5);
  job.grad_x = rows_of(gx, &x);
  measured both = time_job(&job, 5);
  double given = (double)numbers * (single ? 4 : 8) * 3; /* x, y and the gradient */
  printf("%5d %6d %4zu %-6s %9.3f %9.3f %9.3f %9.3f %9.1f %9.1f", batch, length, d,
         single ? "single" : "double", 1e3 * forward.kernels, 1e3 * forward.call,
         1e3 * both.kernels, 1e3 * both.call, both.peak / 1e6, (both.peak - given) / 1e6);
  print_share(cells, forward.kernels, device, single, d);
  print_published(batch, length, (int)d);
  fflush(stdout);
  free(job.grad_x);
  free(value);
  free(gx);
  free_set(&x);
  free_set(&y);
}

static void bench_batches(int quick, const sdtw_cuda_device *device) {
  static const int batches[] = {16, 32}, lengths[] = {128, 512, 1024, 2048};
  static const size_t dims[] = {1, 64};
  printf(
      "\nbatches of pairs, squared Euclidean cost, gamma 1; gradient for x\n"
      "%5s %6s %4s %-6s %9s %9s %9s %9s %9s %9s %8s %6s %8s %8s\n",
      "B", "N", "d", "", "fwd ms", "fwd call", "f+b ms", "f+b call", "peak MB", "own MB",
      "Gcells/s", "share", "best ms", "least MB");
  for (int k = 0; k < 2; k++) {
    for (int l = 0; l < (quick ? 1 : 4); l++) {
      for (int b = 0; b < 2; b++) {
        for (int single = 1; single >= 0; single--)
          bench_batch(batches[b], quick ? 40 : lengths[l], quick ? dims[k] / 16 + 1 : dims[k],
                      single, device);
      }
    }
  }
  printf("best ms, least MB: published with sdtw-cuda-torch, forward and backward, another GPU\n");
}

/* ---- matrices ------------------------------------------------------------------------------ */

static void bench_matrix(size_t count, int length, int single, const sdtw_cuda_device *device) {
  sdtw_set x = make_set(count, length, 1);
  double pairs = (double)count * (double)(count - 1) / 2, cells = pairs * length * length;
  double *value = calloc(count * (count - 1) / 2, sizeof *value);
  sdtw_job job = {.kind = SDTW_DIST, .x = &x, .y = &x, .value = value};
  job.options = (sdtw_options){.gamma = 1, .window = -1, .threads = 1, .single = single};
  measured m = time_job(&job, count > 2000 ? 1 : 3);
  printf("%6zu %6d %-6s %10.3f %10.3f %9.1f", count, length, single ? "single" : "double",
         m.kernels, m.call, m.peak / 1e6);
  print_share(cells, m.kernels, device, single, 1);
  printf("\n");
  fflush(stdout);
  free(value);
  free_set(&x);
}

static void bench_matrices(int quick, const sdtw_cuda_device *device) {
  printf("\ndistance matrices, d 1\n%6s %6s %-6s %10s %10s %9s %8s %6s\n", "series", "N", "",
         "kernels s", "call s", "peak MB", "Gcells/s", "share");
  for (int single = 1; single >= 0; single--) {
    bench_matrix(quick ? 20 : 1000, quick ? 40 : 128, single, device);
    if (!quick) bench_matrix(10000, 128, single, device);
  }
}

int main(int argc, char **argv) {
  int quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
  sdtw_error error;
  sdtw_cuda_device device;
  if (sdtw_cuda_count(&error) == 0 || sdtw_cuda_describe(0, &device, &error)) {
    printf("%s\n", error.message);
    return 2;
  }
  printf("%s, %d multiprocessors, %.2f GHz, %.0f GB%s\n", device.name, device.multiprocessors,
         device.kilohertz * 1e-6, device.memory * 1e-9,
         sdtw_cuda_built() == SDTW_CUDA_EMULATED ? " (EMULATED: the times below say nothing)" : "");
  bench_batches(quick, &device);
  bench_matrices(quick, &device);
  sdtw_cuda_forget();
  return 0;
}
