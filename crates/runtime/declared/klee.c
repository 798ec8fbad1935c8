/* klee/klee.h. Names and meanings are KLEE's, for programs that are run on concrete input one at a time: what
 * steers its search has no effect. Functions that look at labels are in Rust in the traced program. */
#include "declared.h"
#include <stdarg.h>

void NAME(klee_make_symbolic)(void *address, size_t size, const char *name)
{
    CONCRETE(size, "klee_make_symbolic");
    declare(address, size, name ? name : "", NULL);
}

int NAME(klee_int)(const char *name)
{
    int value;
    declare(&value, sizeof value, name ? name : "", NULL);
    return value;
}

int NAME(klee_range)(int first, int behind, const char *name)
{
    int value;
    if (first >= behind)
        fail(report_error, "klee_range: the range is empty");
    if (first == behind - 1)
        return first;
    declare(&value, sizeof value, name ? name : "", &first);
    ASSUME((value >= first) & (value < behind));
    return value;
}

uintptr_t NAME(klee_choose)(uintptr_t count)
{
    uintptr_t value;
    declare(&value, sizeof value, "klee_choose", NULL);
    ASSUME(value < count);
    return value;
}

void NAME(klee_silent_exit)(int status)
{
    exit(status);
}

void NAME(klee_abort)(void)
{
    abort();
}

void NAME(klee_report_error)(const char *file, int line, const char *message, const char *suffix)
{
    char text[1024];
    snprintf(text, sizeof text, "%s:%d: %s (%s)", file ? file : "?", line, message ? message : "?",
             suffix ? suffix : "");
    fail(report_error, text);
}

void NAME(klee_warning)(const char *message)
{
    fprintf(stderr, "parallax: warning: %s\n", message);
}

/* Once for each text: programs hand over literals. */
void NAME(klee_warning_once)(const char *message)
{
    enum { remembered = 64 };
    static const char *said[remembered];
    for (int index = 0; index < remembered; index++) {
        if (said[index] == message)
            return;
        if (said[index] == NULL) {
            said[index] = message;
            break;
        }
    }
    fprintf(stderr, "parallax: warning: %s\n", message);
}

/* The same answers in plain and traced programs, or their ways would part. */
unsigned NAME(klee_is_symbolic)(uintptr_t value)
{
    (void)value;
    return 0;
}

unsigned NAME(klee_is_replay)(void)
{
    return 1;
}

#define NOTHING(function, parameters) \
    void NAME(function) parameters    \
    {                                 \
    }

NOTHING(klee_prefer_cex, (__attribute__((unused)) void *object, __attribute__((unused)) uintptr_t condition))
NOTHING(klee_posix_prefer_cex,
        (__attribute__((unused)) void *object, __attribute__((unused)) uintptr_t condition))
NOTHING(klee_print_expr, (__attribute__((unused)) const char *message, ...))
NOTHING(klee_print_range,
        (__attribute__((unused)) const char *name, __attribute__((unused)) int value))
NOTHING(klee_mark_global, (__attribute__((unused)) void *object))
NOTHING(klee_define_fixed_object,
        (__attribute__((unused)) void *address, __attribute__((unused)) size_t size))
NOTHING(klee_check_memory_access,
        (__attribute__((unused)) const void *address, __attribute__((unused)) size_t size))
NOTHING(klee_set_forking, (__attribute__((unused)) unsigned enable))
NOTHING(klee_alias_function,
        (__attribute__((unused)) const char *name, __attribute__((unused)) const char *other))
NOTHING(klee_stack_trace, (void))
NOTHING(klee_open_merge, (void))
NOTHING(klee_close_merge, (void))
NOTHING(klee_merge, (void))

#ifndef PARALLAX_TRACED

void NAME(klee_assume)(uintptr_t condition)
{
    ASSUME(condition);
}

#define VALUE(function, type)   \
    type NAME(function)(type value) \
    {                           \
        return value;           \
    }

VALUE(klee_get_valuef, float)
VALUE(klee_get_valued, double)
VALUE(klee_get_valuel, long)
VALUE(klee_get_valuell, long long)
VALUE(klee_get_value_i32, int32_t)
VALUE(klee_get_value_i64, int64_t)

#endif
