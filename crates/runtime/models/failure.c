/* assert.h: a failed assertion is reported before the program ends. */
#include "model.h"
#include <assert.h>

enum { report_assertion = 1 };
void __plx_report(unsigned kind, const char *message);

_Noreturn void __plx_m___assert_fail(const char *assertion, const char *file, unsigned line,
                                     const char *function)
{
    __plx_report(report_assertion, assertion);
    __assert_fail(assertion, file, line, function);
}
