/* More functions that ask the system, and times of day: see effect.h. */
#include "name.h"
#include <iconv.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/vfs.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

AFTER(int, statx, (int directory, const char *restrict path, int flags, unsigned mask,
                   struct statx *restrict to),
      (directory, path, flags, mask, to), NUMBER(directory) | NAME_AT(directory, path),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(int, statfs, (const char *path, struct statfs *to), (path, to), NAME(path),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(int, fstatfs, (int descriptor, struct statfs *to), (descriptor, to), NUMBER(descriptor),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(int, statvfs, (const char *restrict path, struct statvfs *restrict to), (path, to), NAME(path),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(int, fstatvfs, (int descriptor, struct statvfs *to), (descriptor, to), NUMBER(descriptor),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(int, getrlimit, (__rlimit_resource_t resource, struct rlimit *to), (resource, to),
      NUMBER(resource), WRITTEN(result == 0, to, sizeof *to))
AFTER(int, getrusage, (__rusage_who_t who, struct rusage *to), (who, to), NUMBER(who),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(int, sysinfo, (struct sysinfo * to), (to), NOTHING, WRITTEN(result == 0, to, sizeof *to))
AFTER(clock_t, times, (struct tms * to), (to), NOTHING, WRITTEN(to != NULL, to, sizeof *to))
AFTER(int, clock_getres, (clockid_t clock, struct timespec *to), (clock, to), NUMBER(clock),
      WRITTEN(to != NULL, to, sizeof *to))
AFTER(int, nanosleep, (const struct timespec *wanted, struct timespec *left), (wanted, left),
      OBJECT(wanted), WRITTEN(result != 0 && left != NULL, left, sizeof *left))
AFTER(int, tcgetattr, (int descriptor, struct termios *to), (descriptor, to), NUMBER(descriptor),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(int, poll, (struct pollfd * set, nfds_t count, int timeout), (set, count, timeout),
      BYTES(set, count * sizeof *set) | NUMBER(count) | NUMBER(timeout),
      WRITTEN(set != NULL, set, count * sizeof *set))

static void forget_set(fd_set *set)
{
    if (set != NULL)
        __plx_clear(set, sizeof *set);
}
AFTER(int, select,
      (int count, fd_set *restrict in, fd_set *restrict out, fd_set *restrict error,
       struct timeval *restrict timeout),
      (count, in, out, error, timeout), NUMBER(count) | OBJECT(timeout), {
          forget_set(in);
          forget_set(out);
          forget_set(error);
          WRITTEN(timeout != NULL, timeout, sizeof *timeout);
      })

/* Names of temporary files are made in place. */
#define TEMPORARY(type, name, parameters, arguments)                                               \
    AFTER(type, name, parameters, arguments, TEXT(path), WRITTEN(1, path, strlen(path)))
TEMPORARY(int, mkstemp, (char *path), (path))
TEMPORARY(int, mkostemp, (char *path, int flags), (path, flags))
TEMPORARY(int, mkstemps, (char *path, int suffix), (path, suffix))
TEMPORARY(char *, mkdtemp, (char *path), (path))

/* Broken-down time is brought into range in place. */
AFTER(time_t, mktime, (struct tm * time), (time), OBJECT(time), WRITTEN(1, time, sizeof *time))
AFTER(time_t, timegm, (struct tm * time), (time), OBJECT(time), WRITTEN(1, time, sizeof *time))
AFTER(char *, strptime,
      (const char *restrict text, const char *restrict format, struct tm *restrict to),
      (text, format, to), TEXT(text) | TEXT(format), WRITTEN(1, to, sizeof *to))
AFTER(char *, asctime_r, (const struct tm *restrict from, char *restrict to), (from, to),
      OBJECT(from), WRITTEN(result != NULL, to, strlen(to) + 1))
AFTER(char *, ctime_r, (const time_t *restrict from, char *restrict to), (from, to), OBJECT(from),
      WRITTEN(result != NULL, to, strlen(to) + 1))

/* Conversion between character sets, with all of its state behind pointers. */
size_t __plx_m_iconv(iconv_t conversion, char **restrict from, size_t *restrict from_left,
                     char **restrict to, size_t *restrict to_left)
{
    if (from != NULL && *from != NULL && (__plx_peek(*from, *from_left) || LABELLED(*from_left)))
        LOSE("iconv");
    char *start = to != NULL ? *to : NULL;
    size_t result = iconv(conversion, from, from_left, to, to_left);
    if (from != NULL && *from != NULL) {
        __plx_clear(from, sizeof *from);
        __plx_clear(from_left, sizeof *from_left);
    }
    if (start != NULL) {
        __plx_clear(start, (size_t)(*to - start));
        __plx_clear(to, sizeof *to);
        __plx_clear(to_left, sizeof *to_left);
    }
    return result;
}
