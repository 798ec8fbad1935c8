/* A file of records: "PX", a count, then per record a type, a length and the bytes; at the end the sum of all
 * bytes before. A name record longer than its buffer is copied all the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    static uint8_t data[256];
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file)
        return 2;
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    if (size < 4 || data[0] != 'P' || data[1] != 'X')
        return 3;
    uint8_t sum = 0;
    for (size_t i = 0; i + 1 < size; i++)
        sum += data[i];
    if (sum != data[size - 1])
        return 4;
    size_t at = 3;
    char *name = malloc(4);
    unsigned total = 0;
    for (int record = 0; record < data[2]; record++) {
        if (at + 2 > size - 1)
            return 5;
        uint8_t type = data[at], length = data[at + 1];
        at += 2;
        if (at + length > size - 1)
            return 5;
        switch (type) {
        case 1:
            for (int i = 0; i < length; i++)
                total += data[at + i];
            break;
        case 2:
            for (int i = 0; i < length; i++)
                name[i] = (char) data[at + i];
            break;
        default:
            return 6;
        }
        at += length;
    }
    printf("%u\n", total);
    free(name);
    return 0;
}
