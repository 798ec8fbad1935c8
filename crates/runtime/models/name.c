/* Names of files that are made of input.
 *
 * What the kernel does with a name depends on what there is of that name, and that is no expression over
 * input bytes. But the files that a run was given are known, and so are the few names that mean something
 * everywhere. So a name is compared with each of them, as a program would do it, with a branch for each
 * comparison: exploration can turn them round and find the file. A name that is none of them and that
 * nothing has may become any other such name, as long as it stays a plain one; one that something else has
 * (a file of the system, a folder by a roundabout way) stays as it is, which is counted as a loss. */
#include "name.h"
#include <errno.h>
#include <sys/stat.h>

const char *__plx_given_name(const char *previous);
unsigned __plx_is_start(int directory);
void __plx_keep_apart(const char *text, size_t size, char byte);

/* The known name's bytes tell where the strings end: they are never labelled. */
static int is_same(const char *name, const char *known)
{
    for (size_t i = 0; name[i] == known[i]; i++)
        if (known[i] == '\0')
            return 1;
    return 0;
}

static int is_known(const char *name)
{
    static const char *const everywhere[] = {"", ".", "..", "/"};
    for (size_t i = 0; i < sizeof everywhere / sizeof everywhere[0]; i++)
        if (is_same(name, everywhere[i]))
            return 1;
    for (const char *given = NULL; (given = __plx_given_name(given)) != NULL;)
        if (is_same(name, given))
            return 1;
    return 0;
}

int __plx_m_decide_name(int directory, const char *name)
{
    if (!is_labelled_text(name))
        return 0;
    int error = errno, is_lost = 0;
    size_t length = strlen(name);
    int is_near = __plx_is_start(directory);
    if (!is_near || !is_known(name)) {
        struct stat status;
        int is_free = fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
        if (is_near && is_free && memchr(name, '/', length) == NULL) {
            __plx_keep_apart(name, length + 1, '/');
        } else {
            __plx_keep(name, length + 1);
            is_lost = 1;
        }
    }
    errno = error;
    return is_lost;
}
