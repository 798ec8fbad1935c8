/* Functions that take names of files and give back nothing that is input: see name.h. */
#include "name.h"
#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#define NOTHING_WRITTEN (void)0
#define ANSWER(type, name, parameters, arguments, looked_at)                                       \
    AFTER(type, name, parameters, arguments, looked_at, NOTHING_WRITTEN)

/* The mode is there only if a file may be made. */
static int may_create(int flags)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

static int open_named(const char *function, int directory, const char *name, int flags, mode_t mode)
{
    if (NUMBER(directory) | NUMBER(mode) | NAME_AT(directory, name))
        LOSE(function);
    return openat(directory, name, flags, mode);
}

int __plx_m_open(const char *name, int flags, ...)
{
    FIX(flags);
    mode_t mode = 0;
    if (may_create(flags)) {
        va_list list;
        va_start(list, flags);
        mode = va_arg(list, mode_t);
        va_end(list);
    }
    return open_named("open", AT_FDCWD, name, flags, mode);
}

int __plx_m_openat(int directory, const char *name, int flags, ...)
{
    FIX(flags);
    mode_t mode = 0;
    if (may_create(flags)) {
        va_list list;
        va_start(list, flags);
        mode = va_arg(list, mode_t);
        va_end(list);
    }
    return open_named("openat", directory, name, flags, mode);
}

/* Fortified calls without a mode. The real functions end the program if one is missing. */
int __open_2(const char *name, int flags);
int __openat_2(int directory, const char *name, int flags);
ANSWER(int, __open_2, (const char *name, int flags), (name, flags), NUMBER(flags) | NAME(name))
ANSWER(int, __openat_2, (int directory, const char *name, int flags), (directory, name, flags),
       NUMBER(directory) | NUMBER(flags) | NAME_AT(directory, name))

ANSWER(int, creat, (const char *name, mode_t mode), (name, mode), NUMBER(mode) | NAME(name))
ANSWER(FILE *, fopen, (const char *restrict name, const char *restrict mode), (name, mode),
       TEXT(mode) | NAME(name))
ANSWER(DIR *, opendir, (const char *name), (name), NAME(name))
ANSWER(int, access, (const char *name, int mode), (name, mode), NUMBER(mode) | NAME(name))
ANSWER(int, euidaccess, (const char *name, int mode), (name, mode), NUMBER(mode) | NAME(name))
ANSWER(int, faccessat, (int directory, const char *name, int mode, int flags),
       (directory, name, mode, flags),
       NUMBER(directory) | NUMBER(mode) | NUMBER(flags) | NAME_AT(directory, name))
ANSWER(long, pathconf, (const char *name, int what), (name, what), NUMBER(what) | NAME(name))
ANSWER(int, chdir, (const char *name), (name), NAME(name))

ANSWER(int, mkdir, (const char *name, mode_t mode), (name, mode), NUMBER(mode) | NAME(name))
ANSWER(int, mkdirat, (int directory, const char *name, mode_t mode), (directory, name, mode),
       NUMBER(directory) | NUMBER(mode) | NAME_AT(directory, name))
ANSWER(int, mkfifo, (const char *name, mode_t mode), (name, mode), NUMBER(mode) | NAME(name))
ANSWER(int, mkfifoat, (int directory, const char *name, mode_t mode), (directory, name, mode),
       NUMBER(directory) | NUMBER(mode) | NAME_AT(directory, name))
ANSWER(int, mknod, (const char *name, mode_t mode, dev_t device), (name, mode, device),
       NUMBER(mode) | NUMBER(device) | NAME(name))
ANSWER(int, mknodat, (int directory, const char *name, mode_t mode, dev_t device),
       (directory, name, mode, device),
       NUMBER(directory) | NUMBER(mode) | NUMBER(device) | NAME_AT(directory, name))

ANSWER(int, rmdir, (const char *name), (name), NAME(name))
ANSWER(int, unlink, (const char *name), (name), NAME(name))
ANSWER(int, unlinkat, (int directory, const char *name, int flags), (directory, name, flags),
       NUMBER(directory) | NUMBER(flags) | NAME_AT(directory, name))
ANSWER(int, remove, (const char *name), (name), NAME(name))
ANSWER(int, truncate, (const char *name, off_t size), (name, size), NUMBER(size) | NAME(name))

ANSWER(int, rename, (const char *from, const char *to), (from, to), NAME(from) | NAME(to))
ANSWER(int, renameat, (int from_directory, const char *from, int to_directory, const char *to),
       (from_directory, from, to_directory, to),
       NUMBER(from_directory) | NUMBER(to_directory) | NAME_AT(from_directory, from)
           | NAME_AT(to_directory, to))
ANSWER(int, renameat2,
       (int from_directory, const char *from, int to_directory, const char *to, unsigned flags),
       (from_directory, from, to_directory, to, flags),
       NUMBER(from_directory) | NUMBER(to_directory) | NUMBER(flags)
           | NAME_AT(from_directory, from) | NAME_AT(to_directory, to))
ANSWER(int, link, (const char *from, const char *to), (from, to), NAME(from) | NAME(to))
ANSWER(int, linkat,
       (int from_directory, const char *from, int to_directory, const char *to, int flags),
       (from_directory, from, to_directory, to, flags),
       NUMBER(from_directory) | NUMBER(to_directory) | NUMBER(flags)
           | NAME_AT(from_directory, from) | NAME_AT(to_directory, to))

/* What a symbolic link says is only text until somebody follows it, and then it is not the name that
 * was given: nothing is asked about it here. */
ANSWER(int, symlink, (const char *text, const char *name), (text, name), NAME(name))
ANSWER(int, symlinkat, (const char *text, int directory, const char *name), (text, directory, name),
       NUMBER(directory) | NAME_AT(directory, name))

ANSWER(int, chmod, (const char *name, mode_t mode), (name, mode), NUMBER(mode) | NAME(name))
ANSWER(int, fchmodat, (int directory, const char *name, mode_t mode, int flags),
       (directory, name, mode, flags),
       NUMBER(directory) | NUMBER(mode) | NUMBER(flags) | NAME_AT(directory, name))
ANSWER(int, chown, (const char *name, uid_t user, gid_t group), (name, user, group),
       NUMBER(user) | NUMBER(group) | NAME(name))
ANSWER(int, lchown, (const char *name, uid_t user, gid_t group), (name, user, group),
       NUMBER(user) | NUMBER(group) | NAME(name))
ANSWER(int, fchownat, (int directory, const char *name, uid_t user, gid_t group, int flags),
       (directory, name, user, group, flags),
       NUMBER(directory) | NUMBER(user) | NUMBER(group) | NUMBER(flags)
           | NAME_AT(directory, name))

#define BOTH(times) BYTES(times, 2 * sizeof *(times))
ANSWER(int, utimensat,
       (int directory, const char *name, const struct timespec times[2], int flags),
       (directory, name, times, flags),
       NUMBER(directory) | NUMBER(flags) | BOTH(times) | NAME_AT(directory, name))
ANSWER(int, utimes, (const char *name, const struct timeval times[2]), (name, times),
       BOTH(times) | NAME(name))
ANSWER(int, lutimes, (const char *name, const struct timeval times[2]), (name, times),
       BOTH(times) | NAME(name))
ANSWER(int, utime, (const char *name, const struct utimbuf *times), (name, times),
       OBJECT(times) | NAME(name))

/* The rest is the runtime's: it forgets the labels of the buffer. */
FILE *__plx_reopen(const char *name, const char *mode, FILE *stream);
FILE *__plx_m_freopen(const char *restrict name, const char *restrict mode, FILE *restrict stream)
{
    if (NUMBER(mode) | NUMBER(stream) | TEXT(mode) | NAME(name))
        LOSE("freopen");
    return __plx_reopen(name, mode, stream);
}
