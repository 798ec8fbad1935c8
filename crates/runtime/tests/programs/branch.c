/* Reads a byte, adds one, compares, branches; then does what its argument says. */
#include "instrumented.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void __plx_m__exit(int status) __attribute__((noreturn));

static unsigned char buffer[16];

/* if (buffer[0] + 1 == 'b') at site 1; another letter at each further one, so that nothing is asked twice. */
static void decide(uint64_t site)
{
    uint32_t byte = __plx_load(buffer, 1, site);
    unsigned char value = buffer[0];
    uint32_t sum = __plx_binary(CODE(ADD, 8, 8, 0), byte, 0, value, 1, site);
    unsigned char next = (unsigned char)(value + 1);
    uint64_t letter = 'b' + site - 1;
    uint32_t condition = __plx_binary(CODE(EQ, 8, 1, 0), sum, 0, next, letter, site);
    __plx_branch(condition, next == letter, site);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (!strcmp(what, "close")) {
        if (__plx_m_read(0, buffer, sizeof buffer) < 1)
            return 3;
        for (int descriptor = 0; descriptor < 1024; descriptor++)
            close(descriptor);
        decide(1);
        return 0;
    }
    if (!strcmp(what, "exec")) {
        if (__plx_m_read(0, buffer, 1) < 1)
            return 3;
        decide(1);
        execl(argv[0], argv[0], "second", NULL);
        return 4;
    }
    if (__plx_m_read(0, buffer, sizeof buffer) < 1)
        return 3;
    decide(1);
    if (!strcmp(what, "crash"))
        *(volatile int *)8 = 1;
    if (!strcmp(what, "abort"))
        abort();
    if (!strcmp(what, "vfork")) {
        pid_t child = vfork();
        if (child == 0)
            __plx_m__exit(9);
        waitpid(child, NULL, 0);
    }
    if (!strcmp(what, "fork")) {
        pid_t child = fork();
        if (child == 0) {
            decide(2);
            __plx_m__exit(7);
        }
        waitpid(child, NULL, 0);
        decide(3);
    }
    if (!strcmp(what, "again"))
        for (int i = 0; i < 1000; i++)
            for (int value = 0; value < 8; value++) {
                uint32_t byte = __plx_load(buffer, 1, 9);
                __plx_binary(CODE(MUL, 8, 8, 0), byte, 0, buffer[0], (uint64_t)(i * 8 + value) & 255, 9);
                __plx_binary(CODE(ADD, 16, 16, 0), __plx_load(buffer, 2, 9), 0,
                             (uint64_t)buffer[0] | (uint64_t)buffer[1] << 8,
                             (uint64_t)(i * 8 + value), 9);
            }
    printf("traced %s\n", __plx_peek(buffer, 1) ? "labelled" : "concrete");
    return 5;
}
