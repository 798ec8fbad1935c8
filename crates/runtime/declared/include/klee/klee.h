/* The functions of KLEE that programs call, as Parallax knows them. A program's own klee/klee.h is
 * found before this one. */
#ifndef KLEE_H
#define KLEE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Makes memory input. The name is for people. */
void klee_make_symbolic(void *address, size_t size, const char *name);
/* An int that is input; of [first, behind) in klee_range; a number below count in klee_choose. */
int klee_int(const char *name);
int klee_range(int first, int behind, const char *name);
uintptr_t klee_choose(uintptr_t count);

/* Runs in which the condition is 0 do not count: they end here, silently. */
void klee_assume(uintptr_t condition);
__attribute__((noreturn)) void klee_silent_exit(int status);

/* Errors. */
__attribute__((noreturn)) void klee_abort(void);
__attribute__((noreturn)) void klee_report_error(const char *file, int line, const char *message,
                                                 const char *suffix);
#ifdef __GLIBC__
#define klee_assert(condition) \
    ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __func__))
#ifdef NDEBUG
extern void __assert_fail(const char *assertion, const char *file, unsigned line,
                          const char *function) __attribute__((noreturn));
#endif
#else
#define klee_assert(condition) assert(condition)
#endif

/* Messages. */
void klee_warning(const char *message);
void klee_warning_once(const char *message);
void klee_stack_trace(void);
void klee_print_expr(const char *message, ...);
void klee_print_range(const char *name, int value);

/* Always 0 and 1 here: plain and traced programs must go the same way. */
unsigned klee_is_symbolic(uintptr_t value);
unsigned klee_is_replay(void);

/* The value that an expression has in this run. */
float klee_get_valuef(float value);
double klee_get_valued(double value);
long klee_get_valuel(long value);
long long klee_get_valuell(long long value);
int32_t klee_get_value_i32(int32_t value);
int64_t klee_get_value_i64(int64_t value);

/* Advice to KLEE's search, without effect. */
void klee_prefer_cex(void *object, uintptr_t condition);
void klee_posix_prefer_cex(void *object, uintptr_t condition);
void klee_mark_global(void *object);
void klee_define_fixed_object(void *address, size_t size);
void klee_check_memory_access(const void *address, size_t size);
void klee_set_forking(unsigned enable);
void klee_alias_function(const char *name, const char *other);
void klee_open_merge(void);
void klee_close_merge(void);
void klee_merge(void);

#ifdef __cplusplus
}
#endif

#endif
