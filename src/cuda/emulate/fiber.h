/* Fibers: stacks of their own that the program switches between by hand.
 *
 * On x86-64 a switch saves the six registers that a call preserves and changes the stack pointer;
 * elsewhere ucontext does the same, ten times slower. AddressSanitizer and ThreadSanitizer are told
 * of each switch.
 */
#ifndef SOFTDTW_CUDA_EMULATE_FIBER_H
#define SOFTDTW_CUDA_EMULATE_FIBER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__x86_64__) && !defined(SDTW_UCONTEXT)
#define FIBER_ASM 1
#else
#include <ucontext.h>
#endif

/* gcc defines a macro, clang answers a question. FIBER_TSAN is for the compiler's caller to define
 * (emulate.cu). */
#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#ifdef FIBER_ASAN
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

struct fiber {
#ifdef FIBER_ASM
  void *stack_pointer;
#else
  ucontext_t context;
#endif
  char *stack; /* NULL: the stack that the program came with */
  size_t size;
  void *tsan, *asan;
};

/* ---- order of memory ----------------------------------------------------------------------- */

/* What one fiber wrote before releasing a tag, another may read after acquiring it. */
static inline void tag_release(void *tag) {
#ifdef FIBER_TSAN
  __tsan_release(tag);
#endif
  (void)tag;
}

static inline void tag_acquire(void *tag) {
#ifdef FIBER_TSAN
  __tsan_acquire(tag);
#endif
  (void)tag;
}

/* What follows counts as done by `f`, to ThreadSanitizer. */
static inline void fiber_pose_as(fiber *f) {
#ifdef FIBER_TSAN
  __tsan_switch_to_fiber(f->tsan, 1);
#endif
  (void)f;
}

/* ---- switching ----------------------------------------------------------------------------- */

#ifdef FIBER_ASM
extern "C" void sdtw_fiber_jump(void **save, void *to);
__asm__(
    ".text\n"
    ".weak sdtw_fiber_jump\n"
    ".hidden sdtw_fiber_jump\n"
    ".type sdtw_fiber_jump, @function\n"
    "sdtw_fiber_jump:\n"
    "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  mov %rsp, (%rdi)\n"
    "  mov %rsi, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n"
    "  ret\n");
#endif

/* `leaving`: the fiber will never be switched to again. */
static void fiber_switch(fiber *from, fiber *to, bool leaving) {
#ifdef FIBER_TSAN
  const unsigned no_sync = 1; /* scheduling orders nothing */
  __tsan_switch_to_fiber(to->tsan, no_sync);
#endif
#ifdef FIBER_ASAN
  __sanitizer_start_switch_fiber(leaving ? NULL : &from->asan, to->stack, to->size);
#endif
#ifdef FIBER_ASM
  sdtw_fiber_jump(&from->stack_pointer, to->stack_pointer);
#else
  swapcontext(&from->context, &to->context);
#endif
#ifdef FIBER_ASAN
  __sanitizer_finish_switch_fiber(from->asan, NULL, NULL);
#endif
  (void)leaving;
}

/* The first thing a new fiber does. */
static inline void fiber_arrived() {
#ifdef FIBER_ASAN
  __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
}

/* Makes `f` begin with entry(), which must not return. */
static inline void fiber_prepare(fiber *f, void (*entry)()) {
#ifdef FIBER_ASM
  void **top = (void **)(f->stack + f->size);
  *--top = NULL; /* where entry would return to, and 16-byte alignment as after a call */
  *--top = (void *)entry;
  top -= 6;
  memset(top, 0, 6 * sizeof *top);
  f->stack_pointer = top;
#else
  getcontext(&f->context);
  f->context.uc_stack.ss_sp = f->stack;
  f->context.uc_stack.ss_size = f->size;
  f->context.uc_link = NULL;
  makecontext(&f->context, entry, 0);
#endif
}

/* ---- stacks -------------------------------------------------------------------------------- */

/* Below the stack lies a page that may not be touched. Returns false without memory. */
static inline bool fiber_create(fiber *f, size_t size) {
  const size_t page = 4096;
  void *at = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return false;
  mprotect(at, page, PROT_NONE);
  f->stack = (char *)at + page;
  f->size = size;
  f->tsan = f->asan = NULL;
#ifdef FIBER_TSAN
  f->tsan = __tsan_create_fiber(0);
#endif
  return true;
}

/* To ThreadSanitizer a used fiber becomes a new one. */
static inline void fiber_renew(fiber *f) {
#ifdef FIBER_TSAN
  __tsan_destroy_fiber(f->tsan);
  f->tsan = __tsan_create_fiber(0);
#endif
  f->asan = NULL;
}

/* The fiber that the program is already on. */
static inline void fiber_adopt(fiber *f) {
  f->stack = NULL;
  f->size = 0;
  f->tsan = f->asan = NULL;
#ifdef FIBER_TSAN
  f->tsan = __tsan_get_current_fiber();
#endif
#ifdef FIBER_ASAN
  pthread_attr_t attributes;
  void *at;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &at, &f->size);
  pthread_attr_destroy(&attributes);
  f->stack = (char *)at;
#endif
}

#endif
