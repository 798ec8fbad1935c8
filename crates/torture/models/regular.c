/* regex.h. Fields: pattern, string, flags for the pattern, flags for the match. */
#include "harness.h"
#include <locale.h>
#include <regex.h>

REAL(regcomp)
REAL(regexec)
REAL(regfree)
static void check_regexec(struct world *world)
{
    setlocale(LC_ALL, "C.UTF-8");
    char *pattern = take_text(world), *string = take_text(world);
    int flags = (int)take_number(world), match_flags = (int)take_number(world);
    regex_t compiled;
    int result = CALL(world, regcomp, (&compiled, pattern, flags));
    PUT(world, result);
    if (result != 0)
        return;
    regmatch_t *matches = take_room(world, 3 * sizeof *matches);
    result = CALL(world, regexec, (&compiled, string, 3, matches, match_flags));
    PUT(world, result);
    result = CALL(world, regexec, (&compiled, string, 0, NULL, match_flags));
    PUT(world, result);
    CALL(world, regfree, (&compiled));
}

/* GNU's interface; the flags for the match say where to begin. */
REAL(re_compile_pattern)
REAL(re_match)
REAL(re_search)
static void check_re_search(struct world *world)
{
    setlocale(LC_ALL, "C.UTF-8");
    char *pattern = take_text(world), *string = take_text(world);
    size_t pattern_size = strlen(pattern), size = strlen(string);
    int flags = (int)take_number(world), start = (int)take_number(world);
    re_syntax_options = RE_SYNTAX_POSIX_BASIC | (flags & REG_ICASE ? RE_ICASE : 0);
    struct re_pattern_buffer compiled = {0};
    struct re_registers registers = {0};
    const char *error = CALL(world, re_compile_pattern, (pattern, pattern_size, &compiled));
    put_place(world, error, error);
    if (error != NULL)
        return;
    int result = CALL(world, re_match, (&compiled, string, (int)size, start, &registers));
    PUT(world, result);
    result = CALL(world, re_search, (&compiled, string, (int)size, start, (int)size, &registers));
    PUT(world, result);
    if (result >= 0) {
        PUT(world, registers.start[0]);
        PUT(world, registers.end[0]);
    }
    free(registers.start);
    free(registers.end);
    CALL(world, regfree, (&compiled));
}

FAMILY(CHECK(regexec), CHECK(re_search))
