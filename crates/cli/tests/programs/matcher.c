/* A matcher of patterns with ^ and *. A star behind the ^ is taken literally, and the character behind it
 * is looked at without asking whether there is one: the pattern "^*" reads beyond its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int match_here(const char *re, size_t left, const char *text)
{
    if (left == 0)
        return 1;
    if (left >= 2 && re[1] == '*') {
        do {
            if (match_here(re + 2, left - 2, text))
                return 1;
        } while (*text && (*text++ == re[0] || re[0] == '.'));
        return 0;
    }
    return *text && (re[0] == '.' || re[0] == *text) && match_here(re + 1, left - 1, text + 1);
}

static int match(const char *re, size_t length, const char *text)
{
    if (length > 0 && re[0] == '^') {
        if (length > 1 && re[1] == '*' && re[2] == '*')
            return *text == '*';
        return match_here(re + 1, length - 1, text);
    }
    do {
        if (match_here(re, length, text))
            return 1;
    } while (*text++);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    size_t length = strlen(argv[1]);
    char *re = malloc(length ? length : 1);
    memcpy(re, argv[1], length);
    int found = match(re, length, "hello");
    puts(found ? "yes" : "no");
    free(re);
    return !found;
}
