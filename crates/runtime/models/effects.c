/* Functions that write through pointers and whose results are not input: the real function does all
 * the work, and what it wrote loses its labels. Without this a buffer that once held input
 * would keep the labels of those bytes that happen to stay the same. */
#include "model.h"
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A model that calls the function, then does what is said with its result. */
#define AFTER(type, name, parameters, arguments, effect)                                           \
    type __plx_m_##name parameters                                                                 \
    {                                                                                              \
        type result = name arguments;                                                              \
        effect;                                                                                    \
        return result;                                                                             \
    }

#define WRITTEN(condition, address, size)                                                          \
    if (condition)                                                                                 \
    __plx_clear((void *)(address), (size))

AFTER(int, stat, (const char *path, struct stat *to), (path, to),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(int, lstat, (const char *path, struct stat *to), (path, to),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(int, fstat, (int descriptor, struct stat *to), (descriptor, to),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(int, fstatat, (int directory, const char *path, struct stat *to, int flags),
      (directory, path, to, flags), WRITTEN(result == 0, to, sizeof *to))
AFTER(ssize_t, readlink, (const char *path, char *to, size_t size), (path, to, size),
      WRITTEN(result > 0, to, (size_t)result))
AFTER(ssize_t, readlinkat, (int directory, const char *path, char *to, size_t size),
      (directory, path, to, size), WRITTEN(result > 0, to, (size_t)result))
AFTER(char *, getcwd, (char *to, size_t size), (to, size),
      WRITTEN(result != NULL, result, strlen(result) + 1))
AFTER(char *, realpath, (const char *path, char *to), (path, to),
      WRITTEN(result != NULL, result, strlen(result) + 1))
AFTER(int, gethostname, (char *to, size_t size), (to, size),
      WRITTEN(result == 0, to, strnlen(to, size)))
AFTER(int, uname, (struct utsname *to), (to), WRITTEN(result == 0, to, sizeof *to))
AFTER(int, pipe, (int to[2]), (to), WRITTEN(result == 0, to, 2 * sizeof *to))
AFTER(int, pipe2, (int to[2], int flags), (to, flags), WRITTEN(result == 0, to, 2 * sizeof *to))
AFTER(pid_t, wait, (int *status), (status), WRITTEN(status != NULL, status, sizeof *status))
AFTER(pid_t, waitpid, (pid_t process, int *status, int options), (process, status, options),
      WRITTEN(status != NULL, status, sizeof *status))
AFTER(int, gettimeofday, (struct timeval *restrict to, void *restrict zone), (to, zone),
      WRITTEN(to != NULL, to, sizeof *to))
AFTER(int, clock_gettime, (clockid_t clock, struct timespec *to), (clock, to),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(time_t, time, (time_t *to), (to), WRITTEN(to != NULL, to, sizeof *to))
AFTER(struct tm *, localtime_r, (const time_t *from, struct tm *to), (from, to),
      WRITTEN(result != NULL, to, sizeof *to))
AFTER(struct tm *, gmtime_r, (const time_t *from, struct tm *to), (from, to),
      WRITTEN(result != NULL, to, sizeof *to))
AFTER(size_t, strftime, (char *to, size_t size, const char *format, const struct tm *from),
      (to, size, format, from), WRITTEN(result > 0, to, result + 1))

/* Formatted output to memory. What labelled arguments meant is lost, and noted: kind 1 is a
 * labelled argument of a function without a model. */
int __vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list arguments);
int __vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format,
                    va_list arguments);

/* Of the area of a va_list that holds registers, the general ones come first. What lies beyond them
 * and in memory is looked at as far as calls usually reach. */
enum { saved_bytes = 176, general_bytes = 48, memory_bytes = 64 };

/* Whether one of the slots is labelled or points to something that is. */
static int has_labels(const char *from, size_t size)
{
    if (__plx_peek(from, size))
        return 1;
    for (size_t at = 0; at + sizeof(void *) <= size; at += sizeof(void *))
        if (__plx_peek(*(void *const *)(const void *)(from + at), 1))
            return 1;
    return 0;
}

static void note_loss(va_list arguments, const char *name)
{
    const char *saved = arguments->reg_save_area;
    size_t used = arguments->gp_offset;
    if ((used < general_bytes && has_labels(saved + used, general_bytes - used)) ||
        __plx_peek(saved + general_bytes, saved_bytes - general_bytes) ||
        has_labels(arguments->overflow_arg_area, memory_bytes))
        __plx_loss(1, name, 0);
}

static int written(char *to, size_t size, int length)
{
    if (length >= 0 && size > 0)
        __plx_clear(to, (size_t)length < size ? (size_t)length + 1 : size);
    return length;
}

int __plx_m_vsprintf(char *to, const char *format, va_list arguments)
{
    note_loss(arguments, "sprintf");
    return written(to, (size_t)-1, vsprintf(to, format, arguments));
}

int __plx_m_vsnprintf(char *to, size_t size, const char *format, va_list arguments)
{
    note_loss(arguments, "snprintf");
    return written(to, size, vsnprintf(to, size, format, arguments));
}

int __plx_m___vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list arguments)
{
    note_loss(arguments, "sprintf");
    return written(to, (size_t)-1, __vsprintf_chk(to, flag, room, format, arguments));
}

int __plx_m___vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format,
                            va_list arguments)
{
    note_loss(arguments, "snprintf");
    return written(to, size, __vsnprintf_chk(to, size, flag, room, format, arguments));
}

#define VARIADIC(name, parameters, forwarded)                                                      \
    int __plx_m_##name parameters                                                                  \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        int length = forwarded;                                                                    \
        va_end(arguments);                                                                         \
        return length;                                                                             \
    }

VARIADIC(sprintf, (char *to, const char *format, ...), __plx_m_vsprintf(to, format, arguments))
VARIADIC(snprintf, (char *to, size_t size, const char *format, ...),
         __plx_m_vsnprintf(to, size, format, arguments))
VARIADIC(__sprintf_chk, (char *to, int flag, size_t room, const char *format, ...),
         __plx_m___vsprintf_chk(to, flag, room, format, arguments))
VARIADIC(__snprintf_chk, (char *to, size_t size, int flag, size_t room, const char *format, ...),
         __plx_m___vsnprintf_chk(to, size, flag, room, format, arguments))
