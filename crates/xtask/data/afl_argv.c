/* Lets AFL++ change arguments: preloaded into a program (AFL_PRELOAD), it takes them from the start of standard input.
 *
 * The input is the arguments, each ended by a NUL byte, then one more NUL byte, then what the program reads as its standard
 * input. afl-fuzz hands inputs over as a regular file, so the rest is left where it is and only the position changes.
 *
 * main is replaced, not the start of the process: AFL++'s fork server starts in a constructor, before main, and every run
 * must read its own input.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

#define MAX_BYTES 65536
#define MAX_ARGUMENTS 256

typedef int main_function(int, char **, char **);
typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

static main_function *program;
static char text[MAX_BYTES + 1];
static char *arguments[MAX_ARGUMENTS + 2];

static int with_arguments(int argc, char **argv, char **environment)
{
	ssize_t length = pread(0, text, MAX_BYTES, 0);
	ssize_t at = 0;
	int count = 1;

	arguments[0] = argc > 0 ? argv[0] : "program";
	while (at < length && text[at] != '\0' && count <= MAX_ARGUMENTS) {
		arguments[count++] = text + at;
		/* What is behind the last byte read is zero. */
		while (text[at] != '\0')
			at++;
		at++;
	}
	at++;
	lseek(0, at < length ? at : length > 0 ? length : 0, SEEK_SET);
	return program(count, arguments, environment);
}

int __libc_start_main(main_function *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
		      void (*linker_fini)(void), void *stack_end)
{
	start_function *start = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");

	program = main;
	return start(with_arguments, argc, argv, init, fini, linker_fini, stack_end);
}
