/* The clock of the core: multiplications that wait for one another take three cycles each (additions
 * of constants are done away with by some cores). Called from limit.R through .C(). */
#include <time.h>

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* in: how many multiplications; out: the clock in GHz */
void bench_clock(double *count) {
  long rounds = (long)(*count / 8);
  unsigned long x = 1;
  double start = seconds();
  for (long i = 0; i < rounds; i++)
    __asm__ volatile(
        "imul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\t"
        "imul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\timul $3, %0, %0\n\t"
        : "+r"(x));
  *count = 3 * 8e-9 * (double)rounds / (seconds() - start);
}
