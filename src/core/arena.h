/* A bump allocator over memory that the caller provides. With no memory behind it (base NULL) it
 * only counts, so that one layout function both plans and places. */
#ifndef SOFTDTW_CORE_ARENA_H
#define SOFTDTW_CORE_ARENA_H

#include <stddef.h>

enum { SDTW_CACHE_LINE = 64 };

typedef struct {
  char *base;
  size_t used;
} sdtw_arena;

static inline void *sdtw_take(sdtw_arena *arena, size_t count, size_t size) {
  void *place = arena->base ? arena->base + arena->used : NULL;
  size_t bytes = count * size;
  arena->used += (bytes + SDTW_CACHE_LINE - 1) / SDTW_CACHE_LINE * SDTW_CACHE_LINE;
  return place;
}

static inline double *sdtw_take_doubles(sdtw_arena *arena, size_t count) {
  return sdtw_take(arena, count, sizeof(double));
}

#endif
