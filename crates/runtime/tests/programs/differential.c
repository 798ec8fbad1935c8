/* Compares the models in C, compiled without instrumentation, with libc on generated
 * inputs. Prints the first difference of each family and fails. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* The runtime's part. Whether anything is labelled is decided by the test: both paths of each
 * model must agree with libc. */
static int labelled;
unsigned __plx_peek(const void *address, size_t size) { (void)address; (void)size; return labelled; }
void __plx_loss(unsigned kind, const char *name, unsigned long site) { (void)kind; (void)name; (void)site; }
void __plx_clear(void *address, size_t size) { (void)address; (void)size; }
void *__plx_m_malloc(size_t size) { return malloc(size); }
void *__plx_m_realloc(void *old, size_t size) { return realloc(old, size); }
void *__plx_m_memcpy(void *to, const void *from, size_t size) { return memcpy(to, from, size); }
int __underflow(FILE *stream);
int __uflow(FILE *stream);
int __plx_m___underflow(FILE *stream) { return __underflow(stream); }
int __plx_m___uflow(FILE *stream) { return __uflow(stream); }
unsigned __plx_stream_is_symbolic(FILE *stream) { (void)stream; return (unsigned)labelled; }
void __plx_stream_touched(FILE *stream, const char *function) { (void)stream; (void)function; }

/* The models. */
size_t __plx_m_strlen(const char *);
size_t __plx_m_strnlen(const char *, size_t);
void *__plx_m_memchr(const void *, int, size_t);
void *__plx_m_memrchr(const void *, int, size_t);
void *__plx_m_rawmemchr(const void *, int);
char *__plx_m_strchr(const char *, int);
char *__plx_m_strrchr(const char *, int);
char *__plx_m_strchrnul(const char *, int);
size_t __plx_m_strspn(const char *, const char *);
size_t __plx_m_strcspn(const char *, const char *);
char *__plx_m_strpbrk(const char *, const char *);
char *__plx_m_strstr(const char *, const char *);
char *__plx_m_strcasestr(const char *, const char *);
void *__plx_m_memmem(const void *, size_t, const void *, size_t);
int __plx_m_memcmp(const void *, const void *, size_t);
int __plx_m_bcmp(const void *, const void *, size_t);
int __plx_m_strcmp(const char *, const char *);
int __plx_m_strncmp(const char *, const char *, size_t);
int __plx_m_strcasecmp(const char *, const char *);
int __plx_m_strncasecmp(const char *, const char *, size_t);
char *__plx_m_strcpy(char *, const char *);
char *__plx_m_stpcpy(char *, const char *);
char *__plx_m_strncpy(char *, const char *, size_t);
char *__plx_m_stpncpy(char *, const char *, size_t);
char *__plx_m_strcat(char *, const char *);
char *__plx_m_strncat(char *, const char *, size_t);
char *__plx_m___strcpy_chk(char *, const char *, size_t);
char *__plx_m___strncpy_chk(char *, const char *, size_t, size_t);
char *__plx_m___stpcpy_chk(char *, const char *, size_t);
char *__plx_m___stpncpy_chk(char *, const char *, size_t, size_t);
char *__plx_m___strcat_chk(char *, const char *, size_t);
char *__plx_m___strncat_chk(char *, const char *, size_t, size_t);
void *__plx_m_memccpy(void *, const void *, int, size_t);
char *__plx_m_strdup(const char *);
char *__plx_m_strndup(const char *, size_t);
char *__plx_m_strtok_r(char *, const char *, char **);
char *__plx_m_strtok(char *, const char *);
char *__plx_m_strsep(char **, const char *);
long __plx_m_strtol(const char *, char **, int);
unsigned long __plx_m_strtoul(const char *, char **, int);
long __plx_m___isoc23_strtol(const char *, char **, int);
unsigned long __plx_m___isoc23_strtoul(const char *, char **, int);
long __plx_m___strtol_internal(const char *, char **, int, int);
unsigned long __plx_m___strtoul_internal(const char *, char **, int, int);
int __plx_m_atoi(const char *);
long __plx_m_atol(const char *);
int __plx_m_abs(int);
long __plx_m_labs(long);
int __plx_m_fgetc(FILE *);
char *__plx_m_fgets(char *, int, FILE *);
size_t __plx_m_fread(void *, size_t, size_t, FILE *);
ssize_t __plx_m_getdelim(char **, size_t *, int, FILE *);
int __plx_m_sprintf(char *, const char *, ...);
int __plx_m_snprintf(char *, size_t, const char *, ...);
int __plx_m___snprintf_chk(char *, size_t, int, size_t, const char *, ...);
#define CHARACTER(name) int __plx_m_##name(int);
#define CHARACTERS(X)                                                                              \
    X(isalnum) X(isalpha) X(isblank) X(iscntrl) X(isdigit) X(isgraph) X(islower) X(isprint)        \
    X(ispunct) X(isspace) X(isupper) X(isxdigit) X(isascii) X(toascii) X(tolower) X(toupper)
CHARACTERS(CHARACTER)

static uint64_t state = 88172645463325252u;
static unsigned below(unsigned limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)((state >> 20) % limit);
}

enum { cases = 10000, room = 64 };
static int failures;

#define CHECK(condition, what, x, y)                                                               \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s differs on \"%s\", \"%s\"\n", what, x, y);                                  \
            failures++;                                                                            \
            return;                                                                                \
        }                                                                                          \
    } while (0)

/* A short string over a small alphabet, so that interesting things happen. */
static void make_string(char *s, unsigned most, const char *alphabet)
{
    unsigned length = below(most + 1), letters = (unsigned)strlen(alphabet);
    for (unsigned i = 0; i < length; i++)
        s[i] = alphabet[below(letters)];
    s[length] = '\0';
}

static const char *const alphabets[] = {"ab", "aAbB", "abc\xff\x80 ", "\x01\xfe,;: "};

static void searching(void)
{
    char a[room], b[room];
    const char *alphabet = alphabets[below(4)];
    make_string(a, 30, alphabet);
    make_string(b, below(2) ? 3 : 30, alphabet);
    size_t n = below(32), m = below(4);
    int c = below(4) ? alphabet[below((unsigned)strlen(alphabet))] : 0;
    if (below(2))
        c = (unsigned char)c;
    CHECK(__plx_m_strlen(a) == strlen(a), "strlen", a, b);
    CHECK(__plx_m_strnlen(a, n) == strnlen(a, n), "strnlen", a, b);
    CHECK(__plx_m_memchr(a, c, n) == memchr(a, c, n), "memchr", a, b);
    CHECK(__plx_m_memrchr(a, c, n) == memrchr(a, c, n), "memrchr", a, b);
    CHECK(__plx_m_rawmemchr(a, 0) == rawmemchr(a, 0), "rawmemchr", a, b);
    CHECK(__plx_m_strchr(a, c) == strchr(a, c), "strchr", a, b);
    CHECK(__plx_m_strrchr(a, c) == strrchr(a, c), "strrchr", a, b);
    CHECK(__plx_m_strchrnul(a, c) == strchrnul(a, c), "strchrnul", a, b);
    CHECK(__plx_m_strspn(a, b) == strspn(a, b), "strspn", a, b);
    CHECK(__plx_m_strcspn(a, b) == strcspn(a, b), "strcspn", a, b);
    CHECK(__plx_m_strpbrk(a, b) == strpbrk(a, b), "strpbrk", a, b);
    CHECK(__plx_m_strstr(a, b) == strstr(a, b), "strstr", a, b);
    CHECK(__plx_m_strcasestr(a, b) == strcasestr(a, b), "strcasestr", a, b);
    CHECK(__plx_m_memmem(a, n, b, m) == memmem(a, n, b, m), "memmem", a, b);
}

static void comparing(void)
{
    char a[room] = {0}, b[room] = {0};
    const char *alphabet = alphabets[below(4)];
    make_string(a, 20, alphabet);
    strcpy(b, a);
    if (below(4))
        b[below(20)] = alphabet[below(2)];
    if (below(4) == 0)
        b[below(20)] ^= 0x20;
    size_t n = below(24);
    CHECK(__plx_m_memcmp(a, b, n) == memcmp(a, b, n), "memcmp", a, b);
    CHECK(!__plx_m_bcmp(a, b, n) == !bcmp(a, b, n), "bcmp", a, b);
    CHECK(__plx_m_strcmp(a, b) == strcmp(a, b), "strcmp", a, b);
    CHECK(__plx_m_strncmp(a, b, n) == strncmp(a, b, n), "strncmp", a, b);
    CHECK(__plx_m_strcasecmp(a, b) == strcasecmp(a, b), "strcasecmp", a, b);
    CHECK(__plx_m_strncasecmp(a, b, n) == strncasecmp(a, b, n), "strncasecmp", a, b);
}

static void copying(void)
{
    char source[room], before[4 * room], x[4 * room], y[4 * room];
    make_string(source, 20, alphabets[below(4)]);
    memset(before, '#', sizeof before);
    make_string(before, 20, "xyz");
    size_t n = below(40);
    int c = source[below(20)];
#define COPY(name, ...)                                                                            \
    do {                                                                                           \
        memcpy(x, before, sizeof x);                                                               \
        memcpy(y, before, sizeof y);                                                               \
        char *to = x;                                                                              \
        char *p = (char *)__plx_m_##name(__VA_ARGS__);                                             \
        to = y;                                                                                    \
        char *q = (char *)name(__VA_ARGS__);                                                       \
        CHECK((p ? p - x : -1) == (q ? q - y : -1) && !memcmp(x, y, sizeof x), #name, source,      \
              before);                                                                             \
    } while (0)
    COPY(strcpy, to, source);
    COPY(stpcpy, to, source);
    COPY(strncpy, to, source, n);
    COPY(stpncpy, to, source, n);
    COPY(strcat, to, source);
    COPY(strncat, to, source, n);
    COPY(memccpy, to, source, c, n < 20 ? n : 20);
#define __strcpy_chk(to, from, size) strcpy(to, from)
#define __strncpy_chk(to, from, n, size) strncpy(to, from, n)
#define __stpcpy_chk(to, from, size) stpcpy(to, from)
#define __stpncpy_chk(to, from, n, size) stpncpy(to, from, n)
#define __strcat_chk(to, from, size) strcat(to, from)
#define __strncat_chk(to, from, n, size) strncat(to, from, n)
    COPY(__strcpy_chk, to, source, sizeof x);
    COPY(__strncpy_chk, to, source, n, sizeof x);
    COPY(__stpcpy_chk, to, source, sizeof x);
    COPY(__stpncpy_chk, to, source, n, sizeof x);
    COPY(__strcat_chk, to, source, sizeof x);
    COPY(__strncat_chk, to, source, n, sizeof x);
    char *p = __plx_m_strdup(source), *q = __plx_m_strndup(source, n), *r = strndup(source, n);
    CHECK(!strcmp(p, source) && !strcmp(q, r), "strdup", source, "");
    free(p);
    free(q);
    free(r);
}

static void splitting(void)
{
    char text[room], x[room], y[room];
    const char *separators = below(2) ? ",;" : ",; :";
    make_string(text, 30, "ab,;: ");
    char *rest_x, *rest_y;
    memcpy(x, text, sizeof x);
    memcpy(y, text, sizeof y);
    char *p = __plx_m_strtok_r(x, separators, &rest_x), *q = strtok_r(y, separators, &rest_y);
    for (;;) {
        CHECK((p ? p - x : -1) == (q ? q - y : -1), "strtok_r", text, separators);
        if (p == NULL)
            break;
        p = __plx_m_strtok_r(NULL, separators, &rest_x);
        q = strtok_r(NULL, separators, &rest_y);
    }
    CHECK(rest_x - x == rest_y - y && !memcmp(x, y, sizeof x), "strtok_r", text, separators);
    memcpy(x, text, sizeof x);
    memcpy(y, text, sizeof y);
    p = __plx_m_strtok(x, separators);
    q = strtok(y, separators);
    while (p && q) {
        CHECK(p - x == q - y, "strtok", text, separators);
        p = __plx_m_strtok(NULL, separators);
        q = strtok(NULL, separators);
    }
    CHECK(!p == !q && !memcmp(x, y, sizeof x), "strtok", text, separators);
    memcpy(x, text, sizeof x);
    memcpy(y, text, sizeof y);
    rest_x = x;
    rest_y = y;
    do {
        p = __plx_m_strsep(&rest_x, separators);
        q = strsep(&rest_y, separators);
        CHECK((p ? p - x : -1) == (q ? q - y : -1), "strsep", text, separators);
    } while (p);
    CHECK(!memcmp(x, y, sizeof x), "strsep", text, separators);
}

static void characters(void)
{
    int c = (int)below(384) - 128;
#define COMPARE(name) CHECK(__plx_m_##name(c) == (name)(c), #name, "", "");
    CHARACTERS(COMPARE)
    c = below(2) ? (int)below(UINT_MAX) : 300 + (int)below(1000);
    CHECK(__plx_m_tolower(c) == (tolower)(c) && __plx_m_toupper(c) == (toupper)(c), "tolower", "", "");
}

static void numbers(void)
{
    static const char *const starts[] = {"", " ", "\t\n-", "+", "-", "0", "0x", "0X", "-0x", "0b", "++",
                                         "922337203685477580", "-922337203685477580",
                                         "1844674407370955161", "0x7fffffffffffffff"};
    static const char *const digits[] = {"01", "0123456789", "0123456789abcdefABCDEFxXgz", " 7-+xX"};
    char text[room * 2], tail[room];
    make_string(tail, below(4) ? 4 : 40, digits[below(4)]);
    strcpy(text, starts[below(15)]);
    strcat(text, tail);
    int base = below(4) ? (int[]){0, 10, 16, 8, 2, 36}[below(6)] : (int)below(40) - 2;
    char *p = text + 99, *q = text + 99;
#define CONVERT(type, model, real)                                                                 \
    do {                                                                                           \
        errno = 0;                                                                                 \
        type x = model(text, &p, base);                                                            \
        int error = errno;                                                                         \
        errno = 0;                                                                                 \
        type y = real(text, &q, base);                                                             \
        CHECK(x == y && p == q && error == errno, #real, text, "");                                \
        CHECK(model(text, NULL, base) == y, #real, text, "");                                      \
    } while (0)
    CONVERT(long, __plx_m_strtol, strtol);
    CONVERT(unsigned long, __plx_m_strtoul, strtoul);
    CONVERT(long long, __plx_m_strtol, strtoll);
    CONVERT(unsigned long long, __plx_m_strtoul, strtoull);
    CONVERT(intmax_t, __plx_m_strtol, strtoimax);
    CONVERT(uintmax_t, __plx_m_strtoul, strtoumax);
    CHECK(__plx_m___strtol_internal(text, NULL, base, 0) == strtol(text, NULL, base), "internal", text, "");
    CHECK(__plx_m___strtoul_internal(text, NULL, base, 0) == strtoul(text, NULL, base), "internal", text, "");
    CHECK(__plx_m_atoi(text) == atoi(text), "atoi", text, "");
    CHECK(__plx_m_atol(text) == atol(text), "atol", text, "");
    /* C23 differs in its binary prefix only. */
    if (!strpbrk(text, "bB"))
        CHECK(__plx_m___isoc23_strtol(text, NULL, base) == strtol(text, NULL, base), "C23", text, "");
    CHECK(__plx_m___isoc23_strtol("-0b101", NULL, 0) == -5, "C23", text, "");
    CHECK(__plx_m___isoc23_strtoul("0B11z", NULL, 2) == 3, "C23", text, "");
    CHECK(__plx_m___isoc23_strtol("0b2", &p, 0) == 0 && *p == 'b', "C23", text, "");
    int x = (int)(below(UINT_MAX) | 1);
    long y = (long)x * (long)below(UINT_MAX);
    CHECK(__plx_m_abs(x) == abs(x) && __plx_m_labs(y) == labs(y), "abs", "", "");
}

static void formatting(void)
{
    char x[room * 4], y[room * 4], text[room];
    make_string(text, 20, alphabets[below(4)]);
    double number = (double)below(UINT_MAX) / 7;
    long integer = (long)below(UINT_MAX) - INT_MAX;
    size_t n = below(80);
    memset(x, '#', sizeof x);
    memset(y, '#', sizeof y);
    /* More arguments than there are registers of either kind. */
#define ARGUMENTS                                                                                  \
    "%s %ld %g %c %d %f %Lf %g %g %g %g %g %g %g %d %s", text, integer, number, 'x', (int)integer, \
        number, (long double)number, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8, text
    CHECK(__plx_m_snprintf(x, n, ARGUMENTS) == snprintf(y, n, ARGUMENTS), "snprintf", text, "");
    CHECK(!memcmp(x, y, sizeof x), "snprintf", text, "");
    CHECK(__plx_m_sprintf(x, ARGUMENTS) == sprintf(y, ARGUMENTS), "sprintf", text, "");
    CHECK(!memcmp(x, y, sizeof x), "sprintf", text, "");
    CHECK(__plx_m___snprintf_chk(x, n, 1, sizeof x, "%d%s", 7, text) == snprintf(y, n, "%d%s", 7, text),
          "__snprintf_chk", text, "");
}

/* The same reads, by models and by libc, from two streams of the same file. */
static void streams(FILE *x, FILE *y)
{
    static char *line_x, *line_y;
    static size_t capacity_x, capacity_y;
    char buffer_x[6000], buffer_y[6000];
    long offset = (long)below(20000);
    if (below(8) == 0) {
        fseek(x, offset, SEEK_SET);
        fseek(y, offset, SEEK_SET);
    }
    int n = (int)below(below(4) ? 30 : 6000);
    memset(buffer_x, '#', sizeof buffer_x);
    memset(buffer_y, '#', sizeof buffer_y);
    switch (below(6)) {
    case 0:
        CHECK(__plx_m_fgetc(x) == fgetc(y), "fgetc", "", "");
        break;
    case 1: {
        char *p = __plx_m_fgets(buffer_x, n, x), *q = fgets(buffer_y, n, y);
        CHECK(!p == !q, "fgets", "", "");
        break;
    }
    case 2: {
        size_t size = 1 + below(5);
        CHECK(__plx_m_fread(buffer_x, size, (size_t)n / size, x) ==
                  fread(buffer_y, size, (size_t)n / size, y), "fread", "", "");
        break;
    }
    case 3: {
        int delimiter = below(2) ? '\n' : 'q';
        ssize_t p = __plx_m_getdelim(&line_x, &capacity_x, delimiter, x);
        ssize_t q = getdelim(&line_y, &capacity_y, delimiter, y);
        CHECK(p == q && (p < 0 || !memcmp(line_x, line_y, (size_t)p + 1)), "getdelim", "", "");
        break;
    }
    case 4: {
        int c = "abcq"[below(4)];
        CHECK(ungetc(c, x) == ungetc(c, y), "ungetc", "", "");
        break;
    }
    default:
        CHECK(!feof(x) == !feof(y) && ftell(x) == ftell(y), "feof", "", "");
    }
    CHECK(!memcmp(buffer_x, buffer_y, sizeof buffer_x), "read bytes", "", "");
}

int main(void)
{
    FILE *x = tmpfile();
    for (int i = 0; i < 20000; i++)
        fputc("abcdefghijklmnopq\n\0"[below(19)], x);
    fflush(x);
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fileno(x));
    FILE *y = fopen(path, "r");
    rewind(x);
    static void (*const families[])(void) = {searching, comparing, copying, splitting, characters, numbers, formatting};
    for (labelled = 0; labelled < 2; labelled++) {
        for (unsigned family = 0; family < sizeof families / sizeof *families; family++)
            for (int i = 0; i < cases; i++) {
                int before = failures;
                families[family]();
                if (failures != before)
                    break;
            }
        for (int i = 0; i < cases && !failures; i++)
            streams(x, y);
    }
    if (!failures)
        printf("the models agree with libc\n");
    return failures != 0;
}
