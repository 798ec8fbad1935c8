/* Checks from the inside what the runtime does with labels. Ends with 0 if all is well, else
 * with the line of the check that failed. */
#include "instrumented.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

int __plx_m___uflow(FILE *stream);
int __plx_m___underflow(FILE *stream);
int __plx_m_ungetc(int byte, FILE *stream);
int __plx_m_fseek(FILE *stream, long offset, int whence);
void *__plx_m_mmap(void *, size_t, int, int, int, off_t);
int __plx_m_munmap(void *, size_t);
ssize_t __plx_m_pread(int, void *, size_t, off_t);
ssize_t __plx_m_readv(int, const struct iovec *, int);
int __plx_m_sigaction(int, const struct sigaction *, struct sigaction *);
void (*__plx_m_signal(int, void (*)(int)))(int);
int __plx_m_posix_memalign(void **, size_t, size_t);
void *__plx_m_reallocarray(void *, size_t, size_t);
void *__plx_m_valloc(size_t);

static unsigned char input[256];

static uint32_t label_of(const void *at) { return __plx_load(at, 1, 0); }

static void memory(void)
{
    unsigned char a[600], b[600];
    __plx_alloca(a, sizeof a);
    __plx_alloca(b, sizeof b);
    REQUIRE(__plx_m_memcpy(a + 3, input, 256) == a + 3);
    for (int i = 0; i < 256; i++)
        REQUIRE(label_of(a + 3 + i) == label_of(input + i) && label_of(input + i) != 0);
    REQUIRE(!__plx_peek(a, 3) && !__plx_peek(a + 259, 300));
    /* A fill with a labelled byte, passed as int. */
    uint32_t byte = label_of(input);
    uint32_t wide = __plx_unary(CODE(ZEXT, 8, 32, 0), byte, input[0], 0, 0);
    PASS(__plx_m_memset, 3, 0, wide, 0);
    __plx_m_memset(b, input[0], 300);
    REQUIRE(RESULT(__plx_m_memset) == 0);
    REQUIRE(label_of(b) == byte && label_of(b + 299) == byte && !__plx_peek(b + 300, 300));
    __plx_m_memset(b, 0, sizeof b);
    REQUIRE(!__plx_peek(b, sizeof b));
}

static void heap(void)
{
    unsigned char *p = __plx_m_malloc(64);
    __plx_m_memcpy(p, input, 64);
    p = __plx_m_realloc(p, 100000);
    REQUIRE(label_of(p + 63) == label_of(input + 63) && !__plx_peek(p + 64, 100000 - 64));
    p = __plx_m_realloc(p, 8);
    REQUIRE(label_of(p + 7) == label_of(input + 7) && !__plx_peek(p + 8, 56));
    unsigned char *old = p;
    __plx_m_free(p);
    REQUIRE(!__plx_peek(old, 8));
    /* libc's own memory that gets labels keeps them when it is resized. */
    unsigned char *foreign = malloc(40);
    __plx_m_memcpy(foreign, input, 40);
    foreign = __plx_m_reallocarray(foreign, 10, 400);
    REQUIRE(label_of(foreign + 39) == label_of(input + 39));
    __plx_m_free(foreign);
    errno = 0;
    REQUIRE(__plx_m_reallocarray(NULL, SIZE_MAX / 2, 3) == NULL && errno == ENOMEM);
    void *aligned = NULL;
    REQUIRE(__plx_m_posix_memalign(&aligned, 256, 100) == 0 && (uintptr_t)aligned % 256 == 0);
    __plx_m_free(aligned);
    aligned = __plx_m_valloc(10);
    REQUIRE(aligned && (uintptr_t)aligned % 4096 == 0);
    __plx_m_free(aligned);
}

static void reading(void)
{
    char name[] = "/tmp/parallax-runtime-XXXXXX";
    int file = mkstemp(name);
    REQUIRE(file >= 0);
    for (int i = 0; i < 2000; i++)
        REQUIRE(write(file, "0123456789", 10) == 10);
    unsigned char x[20], y[20], z[20];
    lseek(file, 5, SEEK_SET);
    REQUIRE(__plx_m_read(file, x, 20) == 20);
    REQUIRE(__plx_m_pread(file, y, 20, 10) == 20);
    REQUIRE(label_of(x + 5) == label_of(y) && label_of(y) != 0 && label_of(x) != label_of(y));
    struct iovec parts[] = {{z, 3}, {z + 10, 4}};
    lseek(file, 10, SEEK_SET);
    REQUIRE(__plx_m_readv(file, parts, 2) == 7);
    REQUIRE(label_of(z + 2) == label_of(y + 2) && label_of(z + 10) == label_of(y + 3));

    /* stdio: buffer filled, pushed back, repositioned. */
    lseek(file, 0, SEEK_SET);
    FILE *stream = fdopen(file, "r");
    REQUIRE(__plx_m___uflow(stream) == '0');
    uint32_t first = RESULT(__plx_m___uflow);
    REQUIRE(first != 0);
    REQUIRE(getc_unlocked(stream) == '1');
    REQUIRE(label_of(stream->_IO_read_ptr) != 0);
    __plx_m_ungetc('x', stream);
    REQUIRE(label_of(stream->_IO_read_ptr) == 0);
    REQUIRE(getc_unlocked(stream) == 'x');
    REQUIRE(__plx_m___underflow(stream) == '2');
    REQUIRE(label_of(stream->_IO_read_ptr) != 0);
    PASS(__plx_m_ungetc, 2, first, 0);
    REQUIRE(__plx_m_ungetc('0', stream) == '0');
    REQUIRE(RESULT(__plx_m_ungetc) == first);
    REQUIRE(__plx_m_fseek(stream, 15010, SEEK_SET) == 0);
    REQUIRE(__plx_m___uflow(stream) == '0');
    uint32_t far = RESULT(__plx_m___uflow);
    REQUIRE(far != 0 && far != first);
    REQUIRE(__plx_m_pread(file, x, 20, 15010) == 20);
    REQUIRE(far == __plx_unary(CODE(ZEXT, 8, 32, 0), label_of(x), x[0], 0, 0));
    REQUIRE(unlink(name) == 0);
    fclose(stream);
}

static volatile int handled;
static void handler(int signal)
{
    handled = signal;
    REQUIRE(__plx_tls.callee == 0 && __plx_tls.frame == NULL);
    __plx_tls.callee = 77;
    __plx_tls.args[5] = 78;
}

static void signals(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    REQUIRE(__plx_m_sigaction(SIGUSR1, &action, NULL) == 0);
    REQUIRE(__plx_m_sigaction(SIGUSR1, NULL, &old) == 0);
    REQUIRE(old.sa_handler == handler && (old.sa_flags & SA_RESTART));
    __plx_tls.callee = 11;
    __plx_tls.args[5] = 12;
    raise(SIGUSR1);
    REQUIRE(handled == SIGUSR1 && __plx_tls.callee == 11 && __plx_tls.args[5] == 12);
    __plx_tls.callee = 0;
    REQUIRE(__plx_m_signal(SIGUSR1, SIG_IGN) == handler);
    REQUIRE(__plx_m_signal(SIGUSR1, handler) == SIG_IGN);
    REQUIRE(__plx_m_signal(SIGUSR1, SIG_DFL) == handler);
    REQUIRE(__plx_m_signal(1000, handler) == SIG_ERR);
}

static void mapping(void)
{
    size_t size = 1 << 16;
    unsigned char *p = __plx_m_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(p != MAP_FAILED);
    __plx_m_memcpy(p + 5000, input, 100);
    REQUIRE(__plx_peek(p, size));
    REQUIRE(__plx_m_munmap(p, size) == 0 && !__plx_peek(p, size));
}

/* A table read: classes[byte], and an index into a global. */
static const unsigned short squares[10] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81};
static void tables(void)
{
    static const struct global globals[] = {{squares, sizeof squares, "squares"}};
    __plx_module(globals, 1);
    unsigned digit = input[3] % 10;
    uint32_t byte = label_of(input + 3);
    uint32_t wide = __plx_unary(CODE(ZEXT, 8, 64, 0), byte, input[3], 0, 0);
    uint32_t index = __plx_binary(CODE(21 /* URem */, 64, 64, 0), wide, 0, input[3], 10, 0);
    uint32_t offset = __plx_binary(CODE(MUL, 64, 64, 0), index, 0, digit, 2, 0);
    uint32_t address = __plx_address(squares, 0, digit * 2, offset, 21);
    REQUIRE(address != 0);
    uint32_t value = __plx_symbolic_load(address, &squares[digit], 2, 21);
    REQUIRE(value != 0);
    uint32_t sum = __plx_binary(CODE(ADD, 16, 16, 0), value, 0, squares[digit], 1, 22);
    REQUIRE(sum != 0);
    const unsigned short *classes = *__ctype_b_loc();
    uint32_t twice = __plx_binary(CODE(MUL, 64, 64, 0), wide, 0, input[3], 2, 0);
    address = __plx_address(classes, 0, (uint64_t)input[3] * 2, twice, 23);
    REQUIRE(__plx_symbolic_load(address, &classes[input[3]], 2, 23) != 0);
}

static void variadic(uint32_t *labels, int count, ...)
{
    va_list list;
    va_start(list, count);
    __plx_va_start(&list, labels, 16);
    int first = va_arg(list, int);
    (void)first;
    /* gp_offset moved on by 8 beyond the named ones: the third slot. */
    const char *saved = *(char *const *)((char *)&list + 16);
    REQUIRE(__plx_load(saved + 16, 4, 0) == labels[2]);
    REQUIRE(!__plx_peek(saved, 16));
    va_end(list);
}

static void arguments(void)
{
    uint32_t labels[86] = {0};
    uint32_t value;
    memcpy(&value, input, 4);
    labels[2] = __plx_load(input, 4, 0);
    variadic(labels, 1, value);
    /* An argument that nobody takes. */
    PASS(arguments, 1, labels[2]);
    __plx_untaken("nobody", 1, 31);
    REQUIRE(__plx_tls.callee == 0);
}

/* Losses and mismatches: a wrong value, an undefined shift. */
static void mistakes(void)
{
    uint32_t word = __plx_load(input, 4, 0);
    uint32_t value;
    memcpy(&value, input, 4);
    REQUIRE(__plx_binary(CODE(ADD, 32, 32, 0), word, 0, value + 1, 5, 41) == 0);
    REQUIRE(__plx_binary(CODE(SHL, 32, 32, 0), word, 0, value, 32, 42) == 0);
    REQUIRE(__plx_binary(CODE(SDIV, 32, 32, 0), 0, word, 1000, value, 43) != 0);
    REQUIRE(__plx_binary(CODE(ADD, 32, 32, 0) | NO_SIGNED_WRAP, word, 0, value, 9, 44) != 0);
    REQUIRE(__plx_binary(CODE(ADD, 32, 32, 0) | NO_SIGNED_WRAP, word, 0, value, 9, 44) != 0);
    double number = 2.5;
    uint64_t bits;
    memcpy(&bits, &number, 8);
    uint32_t wide = __plx_load(input, 8, 0);
    uint64_t both;
    memcpy(&both, input, 8);
    REQUIRE(__plx_binary_wide(CODE(FEQ, 64, 1, 14), wide, 0, both, 0, bits, 0, 45) != 0);
}

static void *other_thread(void *site)
{
    for (int i = 0; i < 20000; i++) {
        uint32_t byte = label_of(input + i % 256);
        uint32_t sum = __plx_binary(CODE(ADD, 8, 8, 0), byte, 0, input[i % 256], (uint64_t)i & 0xff, (uint64_t)site);
        unsigned char value = (unsigned char)(input[i % 256] + i);
        __plx_binary(CODE(MUL, 8, 8, 0), sum, byte, value, input[i % 256], (uint64_t)site);
    }
    return NULL;
}

static void threads(void)
{
    pthread_t all[4];
    for (uint64_t i = 0; i < 4; i++)
        REQUIRE(pthread_create(&all[i], NULL, other_thread, (void *)(100 + i)) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
}

/* Frames: two calls deep, the same way twice. */
static void contexts(void)
{
    struct frame outer = {NULL, 51, 0, 0}, inner = {&outer, 0, 0, 0}, again = {&outer, 0, 0, 0};
    uint32_t condition = __plx_binary(CODE(ULT, 8, 1, 0), label_of(input), 0, input[0], 128, 52);
    uint32_t other = __plx_binary(CODE(ULT, 8, 1, 0), label_of(input + 1), 0, input[1], 128, 52);
    __plx_tls.frame = &inner;
    __plx_branch(condition, input[0] < 128, 53);
    __plx_tls.frame = &again;
    __plx_branch(other, input[1] < 128, 54);
    __plx_tls.frame = NULL;
    REQUIRE(inner.context == again.context && inner.context > 1 && outer.context == 1);
}

int main(void)
{
    REQUIRE(__plx_m_read(0, input, sizeof input) == sizeof input);
    memory();
    heap();
    reading();
    signals();
    mapping();
    tables();
    arguments();
    mistakes();
    contexts();
    threads();
    return 0;
}
