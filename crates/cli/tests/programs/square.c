/* Floating point: only 1.5 and -1.5 will do. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
    double x;
    if (read(0, &x, sizeof x) != sizeof x)
        return 2;
    if (x * x == 2.25)
        abort();
    return 0;
}
