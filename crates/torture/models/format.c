/* stdio.h: formatted output to memory.
 *
 * Fields: format, size, kinds of the arguments ('n' number, 'a' address, 's' text, 'z' null, 'd' double,
 * 'p' place for %n), arguments. Numbers and pointers go through registers of one sort and doubles through
 * those of another, so all numbers can be passed as longs in front of all doubles. */
#include "harness.h"
#include <stdarg.h>

enum { room_size = 700, most_words = 8, most_doubles = 3 };

int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...);
int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...);
int __asprintf_chk(char **to, int flag, const char *format, ...);
int __vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list arguments);
int __vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, va_list arguments);
int __vasprintf_chk(char **to, int flag, const char *format, va_list arguments);

struct scene {
    char *format;
    size_t size;
    long words[most_words];
    double doubles[most_doubles];
};

static void take_scene(struct world *world, struct scene *scene)
{
    memset(scene, 0, sizeof *scene);
    scene->format = take_text(world);
    scene->size = (size_t)take_number(world);
    const char *kinds = take_text(world);
    int word = 0, number = 0;
    for (; *kinds != '\0'; kinds++) {
        switch (*kinds) {
        case 's':
            scene->words[word++] = (long)take_text(world);
            break;
        case 'z':
            scene->words[word++] = 0;
            break;
        case 'p':
            scene->words[word++] = (long)take_room(world, sizeof(long));
            break;
        case 'd':
            scene->doubles[number++] = *(double *)take_bytes(world, NULL);
            break;
        default:
            scene->words[word++] = take_number(world);
        }
    }
}

#define WORDS(s)                                                                                   \
    s.words[0], s.words[1], s.words[2], s.words[3], s.words[4], s.words[5], s.words[6],            \
        s.words[7], s.doubles[0], s.doubles[1], s.doubles[2]

#define FORMAT(name, call)                                                                         \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        struct scene scene;                                                                        \
        take_scene(world, &scene);                                                                 \
        char *to = take_room(world, room_size);                                                    \
        errno = 0;                                                                                 \
        int length = CALL(world, name, call);                                                      \
        PUT(world, length);                                                                        \
        PUT(world, errno);                                                                         \
    }
FORMAT(sprintf, (to, scene.format, WORDS(scene)))
FORMAT(snprintf, (to, scene.size, scene.format, WORDS(scene)))
FORMAT(__sprintf_chk, (to, 1, room_size, scene.format, WORDS(scene)))
FORMAT(__snprintf_chk, (to, scene.size, 1, room_size, scene.format, WORDS(scene)))

/* The result is in memory that the function allocated. */
#define ALLOCATE(name, call)                                                                       \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        struct scene scene;                                                                        \
        take_scene(world, &scene);                                                                 \
        char *text = NULL, **to = &text;                                                           \
        errno = 0;                                                                                 \
        int length = CALL(world, name, call);                                                      \
        PUT(world, length);                                                                        \
        PUT(world, errno);                                                                         \
        if (length >= 0)                                                                           \
            adopt(world, text, (size_t)length + 1);                                                \
    }
ALLOCATE(asprintf, (to, scene.format, WORDS(scene)))
ALLOCATE(__asprintf_chk, (to, 1, scene.format, WORDS(scene)))

/* The functions that take a va_list, which a function with the same arguments makes. */
#define LISTED(name, parameters, call)                                                             \
    REAL(name)                                                                                     \
    static int call_##name parameters                                                              \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, format);                                                                    \
        int length = CALL(world, name, call);                                                      \
        va_end(list);                                                                              \
        return length;                                                                             \
    }
LISTED(vsprintf, (struct world * world, char *to, const char *format, ...), (to, format, list))
LISTED(vsnprintf, (struct world * world, char *to, size_t size, const char *format, ...),
       (to, size, format, list))
LISTED(__vsprintf_chk, (struct world * world, char *to, const char *format, ...),
       (to, 0, room_size, format, list))
LISTED(__vsnprintf_chk, (struct world * world, char *to, size_t size, const char *format, ...),
       (to, size, 0, room_size, format, list))
LISTED(vasprintf, (struct world * world, char **to, const char *format, ...), (to, format, list))
LISTED(__vasprintf_chk, (struct world * world, char **to, const char *format, ...), (to, 0, format, list))

#define FORMAT_LISTED(name, ...)                                                                   \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        struct scene scene;                                                                        \
        take_scene(world, &scene);                                                                 \
        char *to = take_room(world, room_size);                                                    \
        int length = call_##name(world, __VA_ARGS__, WORDS(scene));                                \
        PUT(world, length);                                                                        \
    }
FORMAT_LISTED(vsprintf, to, scene.format)
FORMAT_LISTED(vsnprintf, to, scene.size, scene.format)
FORMAT_LISTED(__vsprintf_chk, to, scene.format)
FORMAT_LISTED(__vsnprintf_chk, to, scene.size, scene.format)

#define ALLOCATE_LISTED(name)                                                                      \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        struct scene scene;                                                                        \
        take_scene(world, &scene);                                                                 \
        char *text = NULL;                                                                         \
        int length = call_##name(world, &text, scene.format, WORDS(scene));                        \
        PUT(world, length);                                                                        \
        if (length >= 0)                                                                           \
            adopt(world, text, (size_t)length + 1);                                                \
    }
ALLOCATE_LISTED(vasprintf)
ALLOCATE_LISTED(__vasprintf_chk)

FAMILY(CHECK(sprintf), CHECK(snprintf), CHECK(__sprintf_chk), CHECK(__snprintf_chk), CHECK(asprintf),
       CHECK(__asprintf_chk), CHECK(vsprintf), CHECK(vsnprintf), CHECK(__vsprintf_chk),
       CHECK(__vsnprintf_chk), CHECK(vasprintf), CHECK(__vasprintf_chk))
