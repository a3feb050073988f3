/* See unit.h. */
#include "unit.h"

#include <math.h>

/* Scaled by the largest component first, so that neither squares overflow nor vanish. */
static double norm(const double *point, size_t d, double *largest) {
  double top = 0, sum = 0;
  for (size_t k = 0; k < d; k++) {
    if (fabs(point[k]) > top) top = fabs(point[k]);
  }
  *largest = top;
  if (top == 0) return 0;
  for (size_t k = 0; k < d; k++) sum += (point[k] / top) * (point[k] / top);
  return sqrt(sum);
}

void sdtw_unit_vectors(const double *values, size_t count, size_t d, double *unit) {
  for (size_t t = 0; t < count; t++) {
    double largest, length = norm(values + t * d, d, &largest);
    for (size_t k = 0; k < d; k++)
      unit[t * d + k] = largest == 0 ? 0 : values[t * d + k] / largest / length;
  }
}

void sdtw_unit_gradient(const double *values, size_t n, size_t d, double *gradient) {
  for (size_t t = 0; t < n; t++) {
    const double *point = values + t * d;
    double largest, length = norm(point, d, &largest), along = 0;
    for (size_t k = 0; k < d && largest > 0; k++)
      along += gradient[t + n * k] * (point[k] / largest / length);
    for (size_t k = 0; k < d; k++) {
      double *g = gradient + t + n * k;
      *g = largest == 0 ? 0 : (*g - along * (point[k] / largest / length)) / largest / length;
    }
  }
}
