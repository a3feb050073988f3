/* A crew of threads working through numbered tasks, with one eye on the user.
 *
 * Only the calling thread talks to the monitor (R may be touched from nowhere else); the others
 * see its answer in a flag. A caller that has run out of tasks keeps watching until all are done.
 */
#ifndef SOFTDTW_CORE_THREADS_H
#define SOFTDTW_CORE_THREADS_H

#include <stddef.h>

#include "softdtw.h"

/* Threads for the next call: what sdtw_threads_set() said, else OMP_NUM_THREADS, else the physical
 * cores, never more than OMP_THREAD_LIMIT; 1 in a forked child, where OpenMP's pool is gone. */
int sdtw_threads(void);
void sdtw_threads_set(int n); /* 0: back to the default */
int sdtw_processors(void);    /* physical cores this process may use */
int sdtw_has_openmp(void);
void sdtw_threads_init(void); /* once, when the library is loaded */

typedef struct sdtw_crew sdtw_crew;
typedef void (*sdtw_task)(void *context, size_t task, int thread, sdtw_crew *crew);

sdtw_status sdtw_crew_run(const sdtw_monitor *monitor, int threads, size_t tasks, sdtw_task work,
                          void *context);
/* Non-zero once the work is to stop. Cheap; to be asked at least every 10 ms of work. */
int sdtw_crew_stopped(sdtw_crew *crew, int thread);
/* Between two looks at what another thread is about to do: nothing at first, then a nap. */
void sdtw_crew_pause(int tries);

#endif
