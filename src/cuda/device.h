/* One device at work on one job, as jobs.c and recurrence-jobs.c drive it.
 *
 * A session holds the job's series on the device (kept there afterwards, see device.cu) and the
 * buffers of a chunk of pairs. submit() starts a chunk and returns; collect() waits for it, and
 * only then the next may be submitted. Any failure leaves the session to be closed, which frees
 * everything and makes the device usable again.
 */
#ifndef SOFTDTW_CUDA_DEVICE_H
#define SOFTDTW_CUDA_DEVICE_H

#include "cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a chunk is to leave for each pair beside the value, one after another in this order:
 * gradients (n x d and m x d, column-major), moments (n; n x d), alignment (n x m). */
enum {
  SDTW_CUDA_GRAD_X = 1,
  SDTW_CUDA_GRAD_Y = 2,
  SDTW_CUDA_MOMENTS = 4,
  SDTW_CUDA_ALIGNMENT = 8,
};

typedef struct {
  unsigned x, y; /* numbers of the series in their sets */
} sdtw_cuda_pair;

typedef struct {
  const sdtw_cuda_pair *pairs;
  const size_t *out_at; /* where each pair's results begin, NULL without any */
  size_t count;
  size_t out_numbers; /* results in all */
  /* Sums in place of results: with block > 0, those of each `block` pairs weighted by weights. */
  size_t block, record; /* record: numbers of a pair */
  const double *weights;
} sdtw_cuda_chunk;

typedef struct {
  void *at;
  size_t bytes;
} sdtw_cuda_buffer;

enum { SDTW_CUDA_BUFFERS = 10 };

typedef struct {
  const sdtw_job *job;
  int device, wants;
  int set_x, set_y; /* places among the sets that the device keeps, -1 for none */
  double ceiling;   /* bytes that the package may use, 0 for as many as are free */
  double room;      /* bytes that the buffers may take */
  double *frame;    /* on the host: see device.cu; NULL for points as they are */
  double unit;      /* of the points on the device, a power of two */
  sdtw_cuda_buffer buffers[SDTW_CUDA_BUFFERS];
  sdtw_cuda_chunk chunk;
  double launched; /* when the kernels of the chunk were, in seconds */
} sdtw_cuda_session;

sdtw_status sdtw_cuda_open(sdtw_cuda_session *session, int device, const sdtw_job *job, int wants,
                           sdtw_error *error);
sdtw_status sdtw_cuda_submit(sdtw_cuda_session *session, const sdtw_cuda_chunk *chunk,
                             sdtw_error *error);
/* value: of each pair. out: the results in the precision of the job, or the sums in double. */
sdtw_status sdtw_cuda_collect(sdtw_cuda_session *session, double *value, void *out,
                              sdtw_error *error);
void sdtw_cuda_close(sdtw_cuda_session *session, sdtw_status status);

/* ---- recurrences --------------------------------------------------------------------------- */

/* Steps that a scan takes as one: its pieces are so many, or a multiple, but for the last. */
enum { SDTW_CUDA_TILE = 2048 };

sdtw_status sdtw_cuda_open_recurrence(sdtw_cuda_session *session, int device,
                                      const sdtw_recurrence *job, sdtw_error *error);
/* Bytes that a piece of a recurrence takes on the device. */
double sdtw_cuda_recurrence_bytes(const sdtw_recurrence *piece);
/* Runs a piece, from its x0 or, where it is not the first of its sequences, from where the piece
 * before ended. `scan`: each sequence by many threads, else each by one. */
sdtw_status sdtw_cuda_recur(sdtw_cuda_session *session, const sdtw_recurrence *piece, int scan,
                            int first, sdtw_error *error);

/* Cells that a device sweeps in some 50 to 100 ms: how much to do between looks at the user. */
double sdtw_cuda_chunk_cells(void);

#ifdef __cplusplus
}
#endif

#endif
