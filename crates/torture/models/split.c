/* string.h: splitting strings. Fields: text, separators. */
#include "harness.h"

REAL(strtok)
static void check_strtok(struct world *world)
{
    char *text = take_text(world), *separators = take_text(world);
    char *part = CALL(world, strtok, (text, separators));
    while (part != NULL) {
        put_place(world, text, part);
        part = CALL(world, strtok, (NULL, separators));
    }
    put_place(world, text, CALL(world, strtok, (NULL, separators)));
}

REAL(strtok_r)
static void check_strtok_r(struct world *world)
{
    char *text = take_text(world), *separators = take_text(world), *rest = NULL;
    char *part = CALL(world, strtok_r, (text, separators, &rest));
    while (part != NULL) {
        put_place(world, text, part);
        put_place(world, text, rest);
        part = CALL(world, strtok_r, (NULL, separators, &rest));
    }
    put_place(world, text, rest);
}

REAL(strsep)
static void check_strsep(struct world *world)
{
    char *text = take_text(world), *separators = take_text(world), *rest = text, *part;
    while ((part = CALL(world, strsep, (&rest, separators))) != NULL) {
        put_place(world, text, part);
        put_place(world, text, rest);
    }
}

FAMILY(CHECK(strtok), CHECK(strtok_r), CHECK(strsep))
