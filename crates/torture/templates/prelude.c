#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

typedef uint8_t u8;
typedef int8_t i8;
typedef uint16_t u16;
typedef int16_t i16;
typedef uint32_t u32;
typedef int32_t i32;
typedef uint64_t u64;
typedef int64_t i64;
typedef unsigned __int128 u128;
typedef __int128 i128;
typedef long double ldouble;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- the checksum: everything a program computes ends up in it ---- */

static u64 sum = 0xcbf29ce484222325ull;

static void mix(u64 value) {
    sum ^= value;
    sum *= 0x100000001b3ull;
    sum ^= sum >> 29;
}

static void mix128(u128 value) {
    mix((u64)value);
    mix((u64)(value >> 64));
}

/* The sign and payload of a NaN are not defined: all NaNs count as one. */
static void mix_double(double value) {
    u64 bits = 0x7ff8000000000000ull;
    if (value == value) memcpy(&bits, &value, sizeof bits);
    mix(bits);
}

static void mix_float(float value) {
    u32 bits = 0x7fc00000u;
    if (value == value) memcpy(&bits, &value, sizeof bits);
    mix(bits);
}

static void mix_ldouble(ldouble value) {
    u64 bits[2] = {1, 2};
    if (value == value) memcpy(bits, &value, 10); /* the rest is padding */
    mix(bits[0]);
    mix(bits[1]);
}

static void mix_bytes(const void *bytes, size_t length) {
    const u8 *at = bytes;
    u32 hash = 5381;
    for (size_t i = 0; i < length; i++) hash = hash * 33 ^ at[i];
    mix(hash);
    mix(length);
}

static void mix_text(const char *text) { mix_bytes(text, strlen(text)); }

/* ---- the input: all bytes that main read, one after the other ---- */

#define IN_MAX 512
static u8 in_bytes[IN_MAX];
static size_t in_len;
static int arg_count;
static char **arg_values;

static u8 in(u64 index) { return in_len ? in_bytes[index % in_len] : (u8)(index * 7 + 3); }

/* An argument by number, never null. */
static const char *arg(unsigned index) {
    return arg_count ? arg_values[index % (unsigned)arg_count] : "none";
}

/* A writable, terminated copy of (part of) the input. Freed by the caller. */
static char *in_text(size_t from, size_t length) {
    char *text = malloc(length + 1);
    if (!text) exit(99);
    for (size_t i = 0; i < length; i++) {
        u8 byte = in(from + i);
        text[i] = byte ? (char)byte : '@';
    }
    text[length] = 0;
    return text;
}

/* ---- fuel: ends loops early, so that every program ends soon ---- */

static u32 fuel = 30000;

static bool spend(void) {
    if (!fuel) return false;
    fuel--;
    return true;
}

/* ---- arithmetic that is defined for all operands ---- */

#define DIVISION(T)                                                                \
    static T div_##T(T a, T b) { return b == 0 || b == (T)-1 ? a : (T)(a / b); }   \
    static T rem_##T(T a, T b) { return b == 0 || b == (T)-1 ? b : (T)(a % b); }
DIVISION(bool)
DIVISION(u8)
DIVISION(i8)
DIVISION(u16)
DIVISION(i16)
DIVISION(u32)
DIVISION(i32)
DIVISION(u64)
DIVISION(i64)
DIVISION(u128)
DIVISION(i128)

/* Overflow is detected by the built-in function, or by comparing beforehand. */
#define GUARDED(T, MIN, MAX)                                                                  \
    static T add_##T(T a, T b) { T r; return __builtin_add_overflow(a, b, &r) ? b : r; }      \
    static T sub_##T(T a, T b) { T r; return __builtin_sub_overflow(a, b, &r) ? a : r; }      \
    static T mul_##T(T a, T b) { T r; return __builtin_mul_overflow(a, b, &r) ? (T)(a ^ b) : r; } \
    static T plus_##T(T a, T b) { return (b > 0 ? a > MAX - b : a < MIN - b) ? a : (T)(a + b); }  \
    static T minus_##T(T a, T b) { return (b > 0 ? a < MIN + b : a > MAX + b) ? b : (T)(a - b); }
#define I128_MAX ((i128)(~(u128)0 >> 1))
#define I128_MIN (-I128_MAX - 1)
GUARDED(i8, INT8_MIN, INT8_MAX)
GUARDED(i16, INT16_MIN, INT16_MAX)
GUARDED(i32, INT32_MIN, INT32_MAX)
GUARDED(i64, INT64_MIN, INT64_MAX)
GUARDED(i128, I128_MIN, I128_MAX)

static u32 rotl32(u32 a, unsigned amount) { return a << (amount & 31) | a >> (-amount & 31); }
static u32 magnitude(i32 a) { return a < 0 ? -(u32)a : (u32)a; }
static u32 smaller(u32 a, u32 b) { return a < b ? a : b; }
static u32 larger(u32 a, u32 b) { return a > b ? a : b; }
static u32 saturating_add(u32 a, u32 b) { return a + b < a ? UINT32_MAX : a + b; }
static u32 saturating_sub(u32 a, u32 b) { return a > b ? a - b : 0; }

/* Conversion from floating point where the target can hold the value, else a constant.
   NaN fails every comparison. */
#define CONVERSION(T, LOW, HIGH)                                                        \
    static T to_##T(ldouble a) { return a > LOW && a < HIGH ? (T)a : (T)77; }
CONVERSION(u8, -1.0l, 256.0l)
CONVERSION(i16, -32769.0l, 32768.0l)
CONVERSION(u32, -1.0l, 4294967296.0l)
CONVERSION(i32, -2147483649.0l, 2147483648.0l)
CONVERSION(u64, -1.0l, 18446744073709551616.0l)
CONVERSION(i64, -9223372036854775809.0l, 9223372036854775808.0l)

static float nonzerof(float a) { return a != 0.0f ? a : 1.5f; }
static double nonzero(double a) { return a != 0.0 ? a : 1.5; }
static ldouble nonzerol(ldouble a) { return a != 0.0l ? a : 1.5l; }

/* What variables are set to: no infinity, no NaN, nothing that overflows at the next step. */
static float tamef(float a) { return a > -1e4f && a < 1e4f ? a : 3.5f; }
static double tame(double a) { return a > -1e12 && a < 1e12 ? a : 3.25; }
static ldouble tamel(ldouble a) { return a > -1e15l && a < 1e15l ? a : 3.125l; }

static void *need(void *memory) {
    if (!memory) exit(99);
    return memory;
}
