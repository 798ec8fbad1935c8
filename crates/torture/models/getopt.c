/* getopt.h: all calls for one command line.
 *
 * Fields: flags, locale, letters, names, arguments. Names are lines: name, kind of argument ('0', '1',
 * '2'), 'f' if a flag is to be set, value (one character). */
#include "harness.h"
#include <getopt.h>
#include <locale.h>
#include <sys/mman.h>

int __posix_getopt(int argc, char *const *argv, const char *letters);

enum { most_arguments = 12, most_names = 16 };
enum { silent = 1, posixly_correct = 2, without_index = 4 };

struct scene {
    int flags, flag, argc;
    char *letters, *argv[most_arguments + 1], *originals[most_arguments];
    size_t lengths[most_arguments];
    struct option names[most_names + 1];
};

REAL(dup2)
REAL(dup)
REAL(close)
REAL(memfd_create)
REAL(fflush)

static void take_names(struct scene *scene, char *text)
{
    int count = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char *word = strchr(line, ' ');
        *word++ = '\0';
        scene->names[count++] = (struct option){line, word[0] - '0',
                                                word[1] == 'f' ? &scene->flag : NULL, word[2]};
    }
}

static void take_scene(struct world *world, struct scene *scene)
{
    memset(scene, 0, sizeof *scene);
    scene->flags = (int)take_number(world);
    setlocale(LC_ALL, take_text(world));
    scene->letters = take_text(world);
    take_names(scene, take_text(world));
    scene->argv[scene->argc++] = (char *)"program";
    while (world->next < world->field_count) {
        size_t size;
        scene->argv[scene->argc] = take_bytes(world, &size);
        scene->lengths[scene->argc++] = size;
    }
    memcpy(scene->originals, scene->argv, sizeof scene->originals);
    if (scene->flags & posixly_correct)
        setenv("POSIXLY_CORRECT", "1", 1);
    else
        unsetenv("POSIXLY_CORRECT");
}

/* Which argument a pointer points into, and how far. */
static void put_argument(struct world *world, const struct scene *scene, const char *place)
{
    long at = -1, distance = 0;
    for (int i = 0; place != NULL && i < scene->argc; i++) {
        const char *start = scene->originals[i];
        if (place >= start && place <= start + scene->lengths[i]) {
            at = i;
            distance = place - start;
        }
    }
    PUT(world, at);
    PUT(world, distance);
}

#define SCAN(name, call)                                                                           \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        struct scene scene;                                                                        \
        take_scene(world, &scene);                                                                 \
        int messages = real_memfd_create("messages", 0), before = real_dup(2);                     \
        real_dup2(messages, 2);                                                                    \
        optind = 0;                                                                                \
        opterr = !(scene.flags & silent);                                                          \
        optopt = 'X';                                                                              \
        int result = 0;                                                                            \
        for (int i = 0; result != -1 && i < 60; i++) {                                             \
            int index = -7, *at = scene.flags & without_index ? NULL : &index;                     \
            result = CALL(world, name, call);                                                      \
            PUT(world, result);                                                                    \
            PUT(world, optind);                                                                    \
            PUT(world, optopt);                                                                    \
            PUT(world, index);                                                                     \
            PUT(world, scene.flag);                                                                \
            put_argument(world, &scene, optarg);                                                   \
            (void)at;                                                                              \
        }                                                                                          \
        for (int i = 0; i < scene.argc; i++)                                                       \
            put_argument(world, &scene, scene.argv[i]);                                            \
        real_fflush(stderr);                                                                       \
        real_dup2(before, 2);                                                                      \
        char *text = take_room(world, 4096);                                                       \
        real_pread(messages, text, 4096, 0);                                                       \
        real_close(messages);                                                                      \
        real_close(before);                                                                        \
    }
SCAN(getopt, (scene.argc, scene.argv, scene.letters))
SCAN(__posix_getopt, (scene.argc, scene.argv, scene.letters))
SCAN(getopt_long, (scene.argc, scene.argv, scene.letters, scene.names, at))
SCAN(getopt_long_only, (scene.argc, scene.argv, scene.letters, scene.names, at))

FAMILY(CHECK(getopt), CHECK(__posix_getopt), CHECK(getopt_long), CHECK(getopt_long_only))
