/* Prints how long the commonest calls take, in nanoseconds. */
#include "instrumented.h"
#include <stdio.h>
#include <time.h>

static unsigned char buffer[4096];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

#define MEASURE(name, count, statement)                                                            \
    do {                                                                                           \
        double best = 1e18;                                                                        \
        for (int round = 0; round < 5; round++) {                                                  \
            double start = now();                                                                  \
            for (uint64_t i = 0; i < (count); i++) {                                               \
                statement;                                                                         \
            }                                                                                      \
            double each = (now() - start) / (double)(count);                                       \
            best = each < best ? each : best;                                                      \
        }                                                                                          \
        printf("%-28s %6.1f ns\n", name, best);                                                    \
    } while (0)

int main(void)
{
    enum { many = 1000000 };
    double start = now();
    ssize_t size = __plx_m_read(0, buffer, sizeof buffer);
    if (size < 16)
        return 1;
    printf("%-28s %6.1f ns per byte\n", "read", (now() - start) / (double)size);
    volatile uint32_t sink = 0;
    uint32_t word = __plx_load(buffer, 4, 0);
    uint32_t value;
    __builtin_memcpy(&value, buffer, 4);
    __plx_store(buffer, 4, word);
    __builtin_memcpy(buffer + 4, buffer, 4);
    __plx_copy(buffer + 4, buffer, 4);
    MEASURE("load, one node", many, sink = __plx_load(buffer + 4, 4, 0));
    MEASURE("load, four bytes", many, sink = __plx_load(buffer + 8, 4, 0));
    MEASURE("load, concrete", many, sink = __plx_load(&value, 4, 0));
    MEASURE("store", many, __plx_store(buffer + 16, 4, word));
    MEASURE("binary, same again", many,
            sink = __plx_binary(CODE(ADD, 32, 32, 0), word, 0, value, 7, 0));
    MEASURE("binary, known", many,
            sink = __plx_binary(CODE(MUL, 32, 32, 0), word, 0, value, 3 + 2 * (i & 0xffff), 0));
    uint64_t salt = 0;
    MEASURE("binary, new", 200000,
            sink = __plx_binary(CODE(ADD, 32, 32, 0), word, 0, value, 1 + salt++, 0));
    /* A hash over the input, again and again: each step makes new expressions. */
    uint32_t chain = word;
    uint32_t hash = value;
    MEASURE("step of a hash, new", 100000, {
        uint64_t at = 512 + i % 3500;
        if (i % 64 == 0) {
            chain = __plx_load(buffer + at, 4, 0);
            __builtin_memcpy(&hash, buffer + at, 4);
            hash ^= (uint32_t)salt;
            chain = __plx_binary(CODE(28, 32, 32, 0), chain, 0, hash ^ (uint32_t)salt, salt, 0);
            salt++;
        }
        chain = __plx_binary(CODE(MUL, 32, 32, 0), chain, 0, hash, 33, 0);
        hash *= 33;
        uint32_t wide = __plx_unary(CODE(ZEXT, 8, 32, 0), __plx_load(buffer + at, 1, 0), buffer[at], 0, 0);
        chain = __plx_binary(CODE(28 /* Xor */, 32, 32, 0), chain, wide, hash, buffer[at], 0);
        hash ^= buffer[at];
    });
    uint32_t byte = __plx_load(buffer + 9, 1, 0);
    MEASURE("zext", many, sink = __plx_unary(CODE(ZEXT, 8, 32, 0), byte, buffer[9], 0, 0));
    uint32_t condition = __plx_binary(CODE(EQ, 8, 1, 0), byte, 0, buffer[9], buffer[9], 0);
    MEASURE("branch", 200000, __plx_branch(condition, 1, 1));
    MEASURE("clear of 4096, concrete", 100000, __plx_clear((void *)main, 4096));
    (void)sink;
    return 0;
}
