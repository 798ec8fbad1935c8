/* Reads the header of a table: how large an address and a segment are. An entry has two addresses and a segment, and the
 * table must be made of whole entries. */
#include <stdio.h>

int main(int argc, char **argv)
{
    unsigned char header[8];
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (file == NULL || fread(header, 1, sizeof header, file) != sizeof header)
        return 2;
    if (header[0] != 'T' || header[1] != 2)
        return 2;
    unsigned size = header[2] | (unsigned)header[3] << 8;
    unsigned address_size = header[4], segment_size = header[5];
    unsigned entry_size = 2 * address_size + segment_size;
    if (size % entry_size != 0)
        return 1;
    printf("%u entries\n", size / entry_size);
    return 0;
}
