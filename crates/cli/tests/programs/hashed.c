/* A hash table keyed by input: the key that is stored must be found through its hash. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    const char *key;
    int value;
};

static struct entry *buckets[16];

static unsigned hash(const char *text)
{
    uint32_t sum = 5381;
    for (; *text; text++)
        sum = sum * 33 ^ (unsigned char) *text;
    return sum % 16;
}

static void put(const char *key, int value)
{
    unsigned at = hash(key);
    while (buckets[at])
        at = (at + 1) % 16;
    buckets[at] = malloc(sizeof *buckets[at]);
    buckets[at]->key = key;
    buckets[at]->value = value;
}

int main(int argc, char **argv)
{
    if (argc != 2 || strlen(argv[1]) != 4)
        return 2;
    put("left", 1);
    put("stop", 2);
    put("turn", 3);
    unsigned at = hash(argv[1]);
    for (; buckets[at]; at = (at + 1) % 16) {
        if (strcmp(buckets[at]->key, argv[1]) == 0) {
            if (buckets[at]->value == 2)
                abort();
            return 0;
        }
    }
    return 1;
}
