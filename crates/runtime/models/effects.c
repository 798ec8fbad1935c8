/* Functions that ask the system or the clock: see effect.h. */
#include "name.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

AFTER(int, stat, (const char *path, struct stat *to), (path, to), NAME(path),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(int, lstat, (const char *path, struct stat *to), (path, to), NAME(path),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(int, fstat, (int descriptor, struct stat *to), (descriptor, to), NUMBER(descriptor),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(int, fstatat, (int directory, const char *path, struct stat *to, int flags),
      (directory, path, to, flags), NUMBER(directory) | NAME_AT(directory, path),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(ssize_t, readlink, (const char *path, char *to, size_t size), (path, to, size),
      NAME(path) | NUMBER(size), WRITTEN(result > 0, to, (size_t)result))
AFTER(ssize_t, readlinkat, (int directory, const char *path, char *to, size_t size),
      (directory, path, to, size), NUMBER(directory) | NAME_AT(directory, path) | NUMBER(size),
      WRITTEN(result > 0, to, (size_t)result))
AFTER(char *, getcwd, (char *to, size_t size), (to, size), NUMBER(size),
      WRITTEN(result != NULL, result, strlen(result) + 1))
AFTER(char *, realpath, (const char *path, char *to), (path, to), NAME(path),
      WRITTEN(result != NULL, result, strlen(result) + 1))
AFTER(int, gethostname, (char *to, size_t size), (to, size), NUMBER(size),
      WRITTEN(result == 0, to, strnlen(to, size)))
AFTER(int, uname, (struct utsname *to), (to), NOTHING, WRITTEN(result == 0, to, sizeof *to))
AFTER(pid_t, wait, (int *status), (status), NOTHING,
      WRITTEN(status != NULL, status, sizeof *status))
AFTER(pid_t, waitpid, (pid_t process, int *status, int options), (process, status, options),
      NUMBER(process), WRITTEN(status != NULL, status, sizeof *status))
AFTER(int, gettimeofday, (struct timeval *restrict to, void *restrict zone), (to, zone), NOTHING,
      WRITTEN(to != NULL, to, sizeof *to))
AFTER(int, clock_gettime, (clockid_t clock, struct timespec *to), (clock, to), NUMBER(clock),
      WRITTEN(result == 0, to, sizeof *to))
AFTER(time_t, time, (time_t *to), (to), NOTHING, WRITTEN(to != NULL, to, sizeof *to))
AFTER(struct tm *, localtime_r, (const time_t *from, struct tm *to), (from, to), OBJECT(from),
      WRITTEN(result != NULL, to, sizeof *to))
AFTER(struct tm *, gmtime_r, (const time_t *from, struct tm *to), (from, to), OBJECT(from),
      WRITTEN(result != NULL, to, sizeof *to))
AFTER(size_t, strftime, (char *to, size_t size, const char *format, const struct tm *from),
      (to, size, format, from), TEXT(format) | OBJECT(from),
      WRITTEN(result > 0, to, result + 1))
