/* ctype.h, through libc's own tables: a symbolic character makes a read from the
 * table, whose bounds the runtime knows. */
#include "model.h"
#include <ctype.h>

#define CLASS(name, bit)                                                                           \
    int __plx_m_##name(int c)                                                                      \
    {                                                                                              \
        return (*__ctype_b_loc())[c] & (unsigned short)(bit);                                      \
    }

CLASS(isalnum, _ISalnum)
CLASS(isalpha, _ISalpha)
CLASS(isblank, _ISblank)
CLASS(iscntrl, _IScntrl)
CLASS(isdigit, _ISdigit)
CLASS(isgraph, _ISgraph)
CLASS(islower, _ISlower)
CLASS(isprint, _ISprint)
CLASS(ispunct, _ISpunct)
CLASS(isspace, _ISspace)
CLASS(isupper, _ISupper)
CLASS(isxdigit, _ISxdigit)

int __plx_m_isascii(int c)
{
    return (c & ~0x7f) == 0;
}

int __plx_m_toascii(int c)
{
    return c & 0x7f;
}

/* The tables reach from -128 to 255. */
int __plx_m_tolower(int c)
{
    return c >= -128 && c < 256 ? (*__ctype_tolower_loc())[c] : c;
}

int __plx_m_toupper(int c)
{
    return c >= -128 && c < 256 ? (*__ctype_toupper_loc())[c] : c;
}
