/* fnmatch.h. Fields: pattern, string, flags. */
#include "harness.h"
#include <fnmatch.h>
#include <locale.h>

REAL(fnmatch)
static void check_fnmatch(struct world *world)
{
    setlocale(LC_ALL, "C.UTF-8");
    char *pattern = take_text(world), *string = take_text(world);
    int flags = (int)take_number(world);
    int result = CALL(world, fnmatch, (pattern, string, flags));
    PUT(world, result);
}

FAMILY(CHECK(fnmatch))
