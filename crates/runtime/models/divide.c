/* stdlib.h: quotient and remainder at once. */
#include "model.h"
#include <stdlib.h>

div_t __plx_m_div(int numerator, int denominator)
{
    return (div_t){numerator / denominator, numerator % denominator};
}

ldiv_t __plx_m_ldiv(long numerator, long denominator)
{
    return (ldiv_t){numerator / denominator, numerator % denominator};
}
