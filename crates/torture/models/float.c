/* stdlib.h: floating-point numbers from text. Field: text. */
#include "harness.h"

float __strtof_internal(const char *text, char **end, int group);
double __strtod_internal(const char *text, char **end, int group);
long double __strtold_internal(const char *text, char **end, int group);

/* size: of the value, without the padding of long doubles. */
#define CONVERT(type, name, size, call, call_without_end)                                          \
    REAL(name)                                                                                     \
    static void check_##name(struct world *world)                                                  \
    {                                                                                              \
        char *text = take_text(world), *end = text - 1;                                            \
        errno = 0;                                                                                 \
        type result = CALL(world, name, call);                                                     \
        put(world, &result, size);                                                                 \
        PUT(world, errno);                                                                         \
        put_place(world, text, end);                                                               \
        type again = CALL(world, name, call_without_end);                                          \
        put(world, &again, size);                                                                  \
    }
CONVERT(float, strtof, 4, (text, &end), (text, NULL))
CONVERT(double, strtod, 8, (text, &end), (text, NULL))
CONVERT(long double, strtold, 10, (text, &end), (text, NULL))
CONVERT(float, __strtof_internal, 4, (text, &end, 0), (text, NULL, 0))
CONVERT(double, __strtod_internal, 8, (text, &end, 0), (text, NULL, 0))
CONVERT(long double, __strtold_internal, 10, (text, &end, 0), (text, NULL, 0))

REAL(atof)
static void check_atof(struct world *world)
{
    double result = CALL(world, atof, (take_text(world)));
    PUT(world, result);
}

FAMILY(CHECK(strtof), CHECK(strtod), CHECK(strtold), CHECK(__strtof_internal), CHECK(__strtod_internal),
       CHECK(__strtold_internal), CHECK(atof))
