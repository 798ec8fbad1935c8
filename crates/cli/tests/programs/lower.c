/* Three paths: below the letters, among them, above them. */
#include <klee/klee.h>

static int is_lower(char c)
{
    if (c < 'a')
        return 0;
    if (c > 'z')
        return 0;
    return 1;
}

int main(void)
{
    char c;
    klee_make_symbolic(&c, sizeof c, "c");
    return is_lower(c);
}
