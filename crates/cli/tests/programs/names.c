/* Looks at the file that it is told of, and ends differently for each kind of name. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct stat status;
    char first;
    if (argc != 2)
        return 2;
    if (stat(argv[1], &status) != 0)
        return argv[1][0] == 'q' ? 4 : 1;
    if (S_ISDIR(status.st_mode))
        return argv[1][1] == '.' ? 6 : 5;
    int descriptor = open(argv[1], O_RDONLY);
    if (descriptor < 0 || read(descriptor, &first, 1) != 1)
        return 3;
    if (first == 'x')
        abort();
    return 0;
}
