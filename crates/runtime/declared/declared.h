/* Functions with which programs written for other tools declare their input, rely on conditions and report
 * errors: what they mean in a program of ours.
 *
 * The same text makes two sorts of code. In the plain, checked and covered program the functions are weak
 * members of an archive, so that a program's own of that name wins; in the traced program (PARALLAX_TRACED)
 * they are models, instrumented like any other, that also label what they declare. So a finding of the
 * traced program means the same in the plain one.
 */
#ifndef PARALLAX_DECLARED_H
#define PARALLAX_DECLARED_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Fills memory with the contents of the next object of the file that KTEST_FILE names; with the fallback,
 * or zeros without one, if there is none left. Returns the object's number. */
unsigned __parallax_next_object(void *to, size_t size, const char *name, const void *fallback);

/* Kinds of reports, as the trace names them. */
enum { report_assertion = 1, report_error = 2, report_reached = 3 };

#ifdef PARALLAX_TRACED

#define NAME(function) __plx_m_##function
void __plx_declare(void *address, size_t size, unsigned number, const char *name);
void __plx_report(unsigned kind, const char *message);
void __plx_m_klee_assume(uintptr_t condition);
unsigned __plx_peek(const void *address, size_t size);
void __plx_lose(const char *function);
void __plx_fix(void *variable, size_t size);

#define LABEL(address, size, number, name) __plx_declare(address, size, number, name)
#define REPORT(kind, message) __plx_report(kind, message)
#define ASSUME(condition) __plx_m_klee_assume((uintptr_t)(condition))
/* A variable counts with its present value alone: if that depends on the input, the trace says so. */
#define CONCRETE(variable, function)                                                               \
    do {                                                                                           \
        if (__plx_peek(&(variable), sizeof(variable))) {                                           \
            __plx_lose(function);                                                                  \
            __plx_fix(&(variable), sizeof(variable));                                              \
        }                                                                                          \
    } while (0)

#else

#define NAME(function) __attribute__((weak)) function
#define LABEL(address, size, number, name) ((void)(number))
#define REPORT(kind, message) ((void)(kind))
#define ASSUME(condition) ((condition) ? (void)0 : _Exit(0))
#define CONCRETE(variable, function) ((void)(variable))

#endif

/* Declares memory as input. */
static inline void declare(void *to, size_t size, const char *name, const void *fallback)
{
    unsigned number = __parallax_next_object(to, size, name, fallback);
    LABEL(to, size, number, name);
}

static inline _Noreturn void fail(unsigned kind, const char *message)
{
    REPORT(kind, message);
    fprintf(stderr, "parallax: %s\n", message);
    abort();
}

#endif
