/* The Sakoe-Chiba window around the line through the corners: cell (i, j), counted from 1, is
 * allowed iff |(i-1)(m-1) - (j-1)(n-1)| <= w max(n-1, m-1), in whole numbers. Equal lengths give
 * |i - j| <= w. Every allowed cell can be reached from (1, 1) through allowed cells if w >= 1. */
#ifndef SOFTDTW_CORE_WINDOW_H
#define SOFTDTW_CORE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

/* The CUDA kernels include this file too and set their own qualifiers. */
#ifndef SDTW_WINDOW_INLINE
#define SDTW_WINDOW_INLINE static inline
#endif

typedef struct {
  ptrdiff_t lo, hi;
} sdtw_range;

/* The allowed columns of row i; window < 0: all. Both ends never fall as i grows. */
SDTW_WINDOW_INLINE sdtw_range sdtw_window_range(ptrdiff_t i, ptrdiff_t n, ptrdiff_t m,
                                                ptrdiff_t window) {
  sdtw_range range = {1, m};
  int64_t rows = n - 1, columns = m - 1, longer = rows > columns ? rows : columns;
  if (window < 0 || window >= longer || rows == 0) return range;
  if (rows == columns) { /* the same without divisions */
    range.lo = i > window ? i - window : 1;
    range.hi = m - i > window ? i + window : m;
    return range;
  }
  int64_t centre = (int64_t)(i - 1) * columns, reach = (int64_t)window * longer;
  int64_t first = centre - reach, last = (centre + reach) / rows;
  first = first <= 0 ? 0 : (first + rows - 1) / rows;
  range.lo = (ptrdiff_t)first + 1;
  range.hi = (ptrdiff_t)(last < columns ? last : columns) + 1;
  return range;
}

#endif
