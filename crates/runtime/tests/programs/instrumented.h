/* What the pass would emit, written by hand. */
#ifndef INSTRUMENTED_H
#define INSTRUMENTED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

uint32_t __plx_load(const void *address, uint64_t size, uint64_t site);
uint32_t __plx_peek(const void *address, uint64_t size);
void __plx_store(void *address, uint64_t size, uint32_t label);
void __plx_clear(void *address, uint64_t size);
void __plx_copy(void *to, const void *from, uint64_t size);
uint32_t __plx_unary(uint64_t code, uint32_t la, uint64_t lo, uint64_t hi, uint64_t site);
uint32_t __plx_binary(uint64_t code, uint32_t la, uint32_t lb, uint64_t a, uint64_t b,
                      uint64_t site);
uint32_t __plx_binary_wide(uint64_t code, uint32_t la, uint32_t lb, uint64_t alo, uint64_t ahi,
                           uint64_t blo, uint64_t bhi, uint64_t site);
uint32_t __plx_ite(uint64_t code, uint32_t lc, uint32_t la, uint32_t lb, uint64_t c, uint64_t a,
                   uint64_t b, uint64_t site);
void __plx_branch(uint32_t label, uint32_t taken, uint64_t site);
void __plx_switch(uint32_t label, uint64_t value, uint32_t successor, uint64_t site);
void __plx_indirect_call(uint32_t label, const void *target, uint64_t site);
uint32_t __plx_address(const void *base, uint32_t lbase, uint64_t offset, uint32_t loffset,
                       uint64_t site);
uint32_t __plx_symbolic_load(uint32_t laddress, const void *address, uint64_t size, uint64_t site);
void __plx_symbolic_store(uint32_t laddress, const void *address, uint64_t size, uint64_t site);
void __plx_concretize(uint32_t label, uint64_t lo, uint64_t hi, uint32_t reason, uint64_t site);
void __plx_alloca(void *address, uint64_t size);
void __plx_va_start(void *list, void *labels, uint64_t overflow_bytes);
void __plx_untaken(const char *name, uint64_t count, uint64_t site);
void __plx_loss(uint32_t kind, const char *name, uint64_t site);
void __plx_module(const void *globals, uint64_t count);

struct global {
    const void *base;
    uint64_t size;
    const char *name;
};

struct frame {
    struct frame *previous;
    uint64_t call_site;
    uint32_t context, kind;
};

struct protocol {
    uint64_t callee, returned;
    struct frame *frame;
    uint64_t overflow_bytes;
    uint32_t result[8], args[64], variadic[86];
    uint64_t byval[8];
};
extern _Thread_local struct protocol __plx_tls __attribute__((tls_model("initial-exec")));

/* Packing of operators, as in parallax_abi::entry::code. */
enum {
    ZEXT = 7, ADD = 16, SUB = 17, MUL = 18, UDIV = 19, SDIV = 20, SHL = 23, EQ = 29, ULT = 30, FEQ = 42,
};
#define CODE(op, from, to, extra)                                                                  \
    ((uint64_t)(op) | (uint64_t)(from) << 8 | (uint64_t)(to) << 16 | (uint64_t)(extra) << 24)
#define NO_SIGNED_WRAP (1ull << 32)

ssize_t __plx_m_read(int descriptor, void *to, size_t size);
void *__plx_m_memcpy(void *to, const void *from, size_t size);
void *__plx_m_memset(void *to, int byte, size_t size);
void *__plx_m_malloc(size_t size);
void *__plx_m_realloc(void *old, size_t size);
void __plx_m_free(void *object);

/* Calls with labelled arguments. */
#define PASS(function, n, ...)                                                                     \
    do {                                                                                           \
        uint32_t labels[] = {__VA_ARGS__};                                                         \
        for (int i = 0; i < (n); i++)                                                              \
            __plx_tls.args[i] = labels[i];                                                         \
        __plx_tls.callee = (uint64_t)(function);                                                   \
    } while (0)
#define RESULT(function) (__plx_tls.returned == (uint64_t)(function) ? __plx_tls.result[0] : 0)

#endif
