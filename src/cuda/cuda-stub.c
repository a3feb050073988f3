/* A build without CUDA: the engine is there and says so. */
#include <stdio.h>
#include <string.h>

#include "cuda.h"

static sdtw_status absent(sdtw_error *error) {
  static const char reason[] =
      "this build of softdtw has no CUDA: install it again with the environment variable "
      "SOFTDTW_CUDA=yes where the CUDA toolkit is";
  if (!error) return SDTW_FAILED;
  error->kind = SDTW_NO_DEVICE;
  snprintf(error->message, sizeof error->message, "%s", reason);
  return SDTW_FAILED;
}

static size_t plan(const sdtw_job *job) {
  (void)job;
  return 1;
}

static sdtw_status run(const sdtw_job *job, void *scratch, const sdtw_monitor *monitor,
                       sdtw_error *error) {
  (void)job;
  (void)scratch;
  (void)monitor;
  return absent(error);
}

const sdtw_engine sdtw_cuda_engine = {"cuda", plan, run};

static size_t plan_recurrence(const sdtw_recurrence *job) {
  (void)job;
  return 1;
}

static sdtw_status recur(const sdtw_recurrence *job, void *scratch, const sdtw_monitor *monitor,
                         sdtw_error *error) {
  (void)job;
  (void)scratch;
  (void)monitor;
  return absent(error);
}

const sdtw_recurrence_engine sdtw_cuda_recurrence_engine = {plan_recurrence, recur};

sdtw_cuda_kind sdtw_cuda_built(void) { return SDTW_CUDA_ABSENT; }

int sdtw_cuda_count(sdtw_error *error) {
  absent(error);
  return 0;
}

sdtw_status sdtw_cuda_describe(int device, sdtw_cuda_device *description, sdtw_error *error) {
  (void)device;
  memset(description, 0, sizeof *description);
  return absent(error);
}

sdtw_cuda_record sdtw_cuda_take_record(void) { return (sdtw_cuda_record){0, 0}; }

void sdtw_cuda_forget(void) {}
