/* The range of each dimension over some series: what their costs can come to at most. */
#ifndef SOFTDTW_CORE_REACH_H
#define SOFTDTW_CORE_REACH_H

#include <math.h>

#include "softdtw.h"

typedef struct {
  double low, high;
} sdtw_reach;

static inline void sdtw_reach_clear(sdtw_reach *reach, size_t d) {
  for (size_t k = 0; k < d; k++) reach[k] = (sdtw_reach){HUGE_VAL, -HUGE_VAL};
}

/* Takes in series i of a set. */
static inline void sdtw_reach_widen(sdtw_reach *reach, const sdtw_set *set, size_t i) {
  const double *value = set->values + set->start[i];
  size_t d = set->d;
  for (size_t k = 0; k < d; k++) {
    double low = reach[k].low, high = reach[k].high;
    for (size_t at = k; at < (size_t)set->length[i] * d; at += d) {
      low = value[at] < low ? value[at] : low;
      high = value[at] > high ? value[at] : high;
    }
    reach[k] = (sdtw_reach){low, high};
  }
}

#endif
