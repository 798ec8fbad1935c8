/* The main of a program that has LLVMFuzzerTestOneInput instead of one: runs it on each file that is named, or
 * on standard input. Options of libFuzzer are passed over. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv);

/* For a target's own mutator; there is nothing to mutate here. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    (void)data;
    return size < most ? size : most;
}

static int test(int file)
{
    enum { step = 4096 };
    uint8_t *data = NULL;
    size_t size = 0;
    for (;;) {
        uint8_t *larger = realloc(data, size + step);
        if (larger == NULL)
            return 1;
        data = larger;
        ssize_t count = read(file, data + size, step);
        if (count < 0)
            return 1;
        if (count == 0)
            break;
        size += (size_t)count;
    }
    /* As large as the input and no larger, so that reading behind it shows. */
    uint8_t *exact = malloc(size ? size : 1);
    if (exact == NULL)
        return 1;
    memcpy(exact, data, size);
    free(data);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 0;
}

__attribute__((weak)) int main(int argc, char **argv)
{
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(&argc, &argv);
    int tested = 0;
    for (int index = 1; index < argc; index++) {
        if (argv[index][0] == '-')
            continue;
        int file = open(argv[index], O_RDONLY);
        if (file < 0 || test(file) != 0) {
            perror(argv[index]);
            return 1;
        }
        close(file);
        tested = 1;
    }
    return tested ? 0 : test(0);
}
