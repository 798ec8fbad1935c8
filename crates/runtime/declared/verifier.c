/* The functions of the competition on software verification (SV-COMP). Each call declares an input of its own,
 * named as the function is. */
#include "declared.h"
#include <pthread.h>
#include <sys/types.h>

#define NONDET(type, suffix)                                                         \
    type NAME(__VERIFIER_nondet_##suffix)(void)                                      \
    {                                                                                \
        type value;                                                                  \
        declare(&value, sizeof value, "__VERIFIER_nondet_" #suffix, NULL);           \
        return value;                                                                \
    }

NONDET(char, char)
NONDET(signed char, schar)
NONDET(unsigned char, uchar)
NONDET(short, short)
NONDET(unsigned short, ushort)
NONDET(int, int)
NONDET(unsigned, uint)
NONDET(unsigned, unsigned)
NONDET(unsigned, unsigned_int)
NONDET(long, long)
NONDET(unsigned long, ulong)
NONDET(long long, longlong)
NONDET(unsigned long long, ulonglong)
NONDET(float, float)
NONDET(double, double)
NONDET(void *, pointer)
NONDET(char *, pchar)
NONDET(char *, charp)
NONDET(const char *, const_char_pointer)
NONDET(size_t, size_t)
NONDET(loff_t, loff_t)
NONDET(uint64_t, sector_t)
NONDET(pthread_t, pthread_t)
NONDET(int8_t, S8)
NONDET(int16_t, S16)
NONDET(int32_t, S32)
NONDET(int64_t, S64)
NONDET(uint8_t, U8)
NONDET(uint16_t, U16)
NONDET(uint32_t, U32)
NONDET(uint64_t, U64)
NONDET(uint8_t, u8)
NONDET(uint16_t, u16)
NONDET(uint32_t, u32)
NONDET(uint64_t, u64)
NONDET(__int128, int128)
NONDET(unsigned __int128, uint128)

/* Any byte is input, but a truth value is 0 or 1. */
_Bool NAME(__VERIFIER_nondet_bool)(void)
{
    unsigned char value;
    declare(&value, sizeof value, "__VERIFIER_nondet_bool", NULL);
    return (value & 1) != 0;
}

_Bool NAME(__VERIFIER_nondet__Bool)(void)
{
    unsigned char value;
    declare(&value, sizeof value, "__VERIFIER_nondet__Bool", NULL);
    return (value & 1) != 0;
}

void NAME(__VERIFIER_nondet_memory)(void *address, size_t size)
{
    declare(address, size, "__VERIFIER_nondet_memory", NULL);
}

void NAME(__VERIFIER_error)(void)
{
    fail(report_reached, "__VERIFIER_error() reached");
}

void NAME(reach_error)(void)
{
    fail(report_reached, "reach_error() reached");
}

#ifndef PARALLAX_TRACED

void NAME(__VERIFIER_assume)(int condition)
{
    ASSUME(condition);
}

#endif
