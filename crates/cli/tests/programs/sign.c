/* Three paths: negative, zero, positive. */
#include <klee/klee.h>

static int sign(int x)
{
    if (x == 0)
        return 0;
    return x < 0 ? -1 : 1;
}

int main(void)
{
    int x;
    klee_make_symbolic(&x, sizeof x, "x");
    return sign(x) + 1;
}
