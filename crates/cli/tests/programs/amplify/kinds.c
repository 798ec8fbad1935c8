/* One operation of each kind that can fail, chosen by the first byte and fed with the following eight. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int table[16];

int main(void)
{
    unsigned char input[9];
    if (read(0, input, sizeof input) != sizeof input)
        return 2;
    int32_t a, b;
    memcpy(&a, input + 1, 4);
    memcpy(&b, input + 5, 4);
    volatile int result = 0;
    char target[16], source[64] = "";
    switch (input[0]) {
    case 'l':
        result = table[a];
        break;
    case 's':
        table[a] = 1;
        break;
    case '/':
        result = a / b;
        break;
    case '+':
        result = a + b;
        break;
    case '<':
        result = 1 << b;
        break;
    case 'm':
        memcpy(target, source, (size_t)a);
        result = target[0];
        break;
    case 'a': {
        uint32_t size = (uint32_t)a * 8u;
        char *block = malloc(size);
        if (block == NULL)
            return 2;
        if ((uint32_t)a > 3)
            block[24] = 1;
        free(block);
        break;
    }
    case '%':
        strcpy(source, "id: ");
        memcpy(source + 4, input + 1, 8);
        source[12] = 0;
        printf(source);
        break;
    case 'w': {
        char *block = malloc(16);
        memset(block, 'x', 16);
        result = (int)write(1, block, (size_t)(a & 0xff));
        free(block);
        break;
    }
    case 'r': {
        static char record[8];
        strncpy(record, "abc", (size_t)(a & 0xff));
        result = record[0];
        break;
    }
    case '!':
        assert(a != 77);
        break;
    case 'x':
        if (a == 78)
            abort();
        break;
    }
    return 0;
}
