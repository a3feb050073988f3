/* The cosine cost, half the squared distance of unit vectors, by way of the squared Euclidean one:
 * series are turned into unit vectors beforehand and gradients are chained through that step. */
#ifndef SOFTDTW_CORE_UNIT_H
#define SOFTDTW_CORE_UNIT_H

#include <stddef.h>

/* Unit vectors of `count` points of d numbers each; a zero vector stays zero. */
void sdtw_unit_vectors(const double *values, size_t count, size_t d, double *unit);

/* Turns a gradient with respect to the unit vectors (n x d, column-major) into one with respect to
 * the points themselves: (g - (g.u) u) / |x|, and 0 where x is 0. */
void sdtw_unit_gradient(const double *values, size_t n, size_t d, double *gradient);

#endif
