// What one file says has to be in the other, and was decided about before.
// needs: regenerate
// arguments: names values
// file: names=k\n
// file: values=a1\n
// runs: 1
#include <stdio.h>

static int byte_of(const char *path) {
  FILE *file = fopen(path, "r");
  int byte = file == NULL ? EOF : getc(file);
  if (file != NULL)
    fclose(file);
  return byte;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  int name = byte_of(argv[1]), value = byte_of(argv[2]);
  if (name == 'k')
    puts("a key");
  if (value == 'a')
    puts("a value");
  if (name == value)
    puts("the same"); // target
  return 0;
}
