/* One family of libc functions, model against the real one.
 *
 * A family's program knows one check per function. A case names a check and brings
 * fields: byte strings that the check takes its arguments from. The check runs twice, in
 * two worlds with memory of their own: with the function's ordinary name, which the
 * traced program binds to the model, and with libc's own function, found by dlsym and so
 * out of the tracer's reach. Whatever the check puts on record, and all memory that it took, must
 * be the same in both.
 *
 * Fields of the model's world are read from standard input, where they are symbolic, or from
 * the frames (argv[1]), where they are not; those of the real world never carry labels. A
 * check therefore must not pass data between worlds.
 *
 * Frames, for each case: u8 length of the name, name, u8 number of fields; for each field:
 * u8 symbolic or not, u32 size, its bytes unless symbolic. Symbolic fields follow each other
 * on standard input. Numbers are little endian. */
#ifndef HARNESS_H
#define HARNESS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { most_fields = 32, most_blocks = 96 };

struct field {
    int is_symbolic;
    size_t size;
    /* Without labels. */
    const unsigned char *bytes;
    /* Where a symbolic field is on standard input. */
    off_t offset;
};

/* One of the two executions of a check. */
struct world {
    int is_real;
    const struct field *fields;
    size_t field_count, next;
    /* Memory that the check took; compared afterwards. Labels of what was symbolic from
     * the beginning say nothing about the model. */
    struct {
        unsigned char *bytes;
        size_t size;
        int was_symbolic;
    } blocks[most_blocks];
    size_t block_count;
    /* Memory to be freed. */
    void *allocated[most_blocks];
    size_t allocated_count;
    /* What the check put on record, without labels. */
    unsigned char *record;
    size_t record_size, record_capacity;
    /* Whether anything on record was labelled. */
    int is_labelled;
};

typedef void check_body(struct world *world);

struct check {
    const char *name;
    check_body *body;
    /* The function leaves nothing symbolic and decides nothing. */
    int only_clears;
    unsigned long cases, labelled;
};

/* Declares libc's own `name` as real_name, found under `symbol`. */
static void *find_real(const char *symbol)
{
    void *address = dlsym(RTLD_NEXT, symbol);
    if (address == NULL) {
        printf("difference: libc has no %s\n", symbol);
        exit(1);
    }
    return address;
}
#define REAL_AS(name, symbol)                                                                      \
    static __typeof__(name) *real_##name;                                                          \
    __attribute__((constructor)) static void find_##name(void)                                     \
    {                                                                                              \
        real_##name = (__typeof__(name) *)find_real(symbol);                                       \
    }
#define REAL(name) REAL_AS(name, #name)

/* The function under test in this world. Parentheses keep macros of that name away. */
#define CALL(world, name, arguments) ((world)->is_real ? (real_##name)arguments : (name)arguments)

REAL(pread)

/* Only traced programs have it. */
__attribute__((weak)) unsigned __plx_peek(const void *address, size_t size);

/* Copies bytes and leaves their labels behind: the tracer does not look into assembler code. */
static void bare_copy(void *to, const void *from, size_t size)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

/* Reads bytes as the program would, which notices labels that are out of date. */
__attribute__((noinline)) static void touch(const void *memory, size_t size)
{
    const unsigned char *bytes = memory;
    volatile unsigned char sink;
    for (size_t i = 0; i < size; i++)
        sink = bytes[i];
    (void)sink;
}

/* Puts bytes on record; if they are a result, their labels count. */
static void put_bytes(struct world *world, const void *bytes, size_t size, int is_result)
{
    if (world->record_size + size > world->record_capacity) {
        size_t capacity = 2 * (world->record_size + size);
        unsigned char *larger = malloc(capacity);
        bare_copy(larger, world->record, world->record_size);
        free(world->record);
        world->record = larger;
        world->record_capacity = capacity;
    }
    bare_copy(world->record + world->record_size, bytes, size);
    world->record_size += size;
    if (!world->is_real && __plx_peek != NULL && __plx_peek(bytes, size)) {
        world->is_labelled |= is_result;
        touch(bytes, size);
    }
}

static void put(struct world *world, const void *bytes, size_t size)
{
    put_bytes(world, bytes, size, 1);
}

/* Puts a variable on record. */
#define PUT(world, variable) put(world, &(variable), sizeof(variable))

/* Puts on record where a pointer into memory of this world points to. */
static void put_place(struct world *world, const void *base, const void *place)
{
    intptr_t distance = place ? (intptr_t)place - (intptr_t)base : INTPTR_MIN;
    PUT(world, distance);
}

/* Memory that is compared after the check. */
static void watch_block(struct world *world, void *bytes, size_t size, int was_symbolic)
{
    if (world->block_count == most_blocks)
        abort();
    world->blocks[world->block_count].bytes = bytes;
    world->blocks[world->block_count].size = size;
    world->blocks[world->block_count++].was_symbolic = was_symbolic;
}

/* Fresh memory of this world, all bytes '#'. */
static unsigned char *allocate(struct world *world, size_t size)
{
    if (world->allocated_count == most_blocks)
        abort();
    unsigned char *bytes = malloc(size + 1);
    memset(bytes, '#', size);
    world->allocated[world->allocated_count++] = bytes;
    return bytes;
}

/* Memory that a function under test allocated: compared after the check, and freed. */
__attribute__((unused)) static void adopt(struct world *world, void *bytes, size_t size)
{
    if (world->allocated_count == most_blocks)
        abort();
    world->allocated[world->allocated_count++] = bytes;
    watch_block(world, bytes, size, 0);
}

/* Memory to write to, compared after the check. */
__attribute__((unused)) static void *take_room(struct world *world, size_t size)
{
    unsigned char *room = allocate(world, size);
    watch_block(world, room, size, 0);
    return room;
}

static const struct field *next_field(struct world *world)
{
    if (world->next == world->field_count) {
        printf("difference: a case has too few fields\n");
        exit(1);
    }
    return &world->fields[world->next++];
}

/* The next field in memory of its own with `spare` bytes behind it, which are '#'. */
static void *take_bytes_in(struct world *world, size_t *size, size_t spare)
{
    const struct field *field = next_field(world);
    unsigned char *bytes = allocate(world, field->size + spare);
    watch_block(world, bytes, field->size, field->is_symbolic);
    watch_block(world, bytes + field->size, spare, 0);
    if (field->is_symbolic && !world->is_real) {
        if (pread(0, bytes, field->size, field->offset) != (ssize_t)field->size)
            abort();
    } else {
        bare_copy(bytes, field->bytes, field->size);
    }
    if (size != NULL)
        *size = field->size;
    return bytes;
}

__attribute__((unused)) static void *take_bytes(struct world *world, size_t *size)
{
    return take_bytes_in(world, size, 0);
}

/* The next field, which ends in a NUL of its own. */
__attribute__((unused)) static char *take_text(struct world *world)
{
    return take_bytes_in(world, NULL, 0);
}

/* The next field as a number of its size. */
__attribute__((unused)) static int64_t take_number(struct world *world)
{
    size_t size;
    unsigned char *bytes = take_bytes_in(world, &size, 0);
    switch (size) {
    case 1: return (int8_t)bytes[0];
    case 2: return *(int16_t *)(void *)bytes;
    case 4: return *(int32_t *)(void *)bytes;
    case 8: return *(int64_t *)(void *)bytes;
    default: abort();
    }
}

/* The frames, read to the end, without labels. */
static const unsigned char *frame, *frames_end;

static void take_frame(void *to, size_t size)
{
    if ((size_t)(frames_end - frame) < size)
        abort();
    bare_copy(to, frame, size);
    frame += size;
}

static unsigned char *read_all(int descriptor, size_t *size)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        abort();
    *size = (size_t)status.st_size;
    unsigned char *bytes = malloc(*size + 1);
    if (real_pread(descriptor, bytes, *size, 0) != status.st_size)
        abort();
    return bytes;
}

static void show(const char *world, const struct world *of)
{
    printf("  %s:", world);
    for (size_t i = 0; i < of->record_size && i < 400; i++) {
        unsigned char byte = of->record[i];
        if (byte > ' ' && byte < 0x7f && byte != '\\')
            printf("%c", byte);
        else
            printf("\\%02x", byte);
    }
    printf("\n");
}

static void run_check(struct check *check, unsigned long number, struct field *fields, size_t count)
{
    struct world worlds[2] = {{.is_real = 0, .fields = fields, .field_count = count},
                              {.is_real = 1, .fields = fields, .field_count = count}};
    for (int i = 0; i < 2; i++) {
        struct world *world = &worlds[i];
        check->body(world);
        for (size_t block = 0; block < world->block_count; block++)
            put_bytes(world, world->blocks[block].bytes, world->blocks[block].size,
                      !world->blocks[block].was_symbolic);
    }
    check->cases++;
    check->labelled += (unsigned long)worlds[0].is_labelled;
    if (worlds[0].record_size != worlds[1].record_size ||
        memcmp(worlds[0].record, worlds[1].record, worlds[0].record_size) != 0) {
        printf("difference: %s, case %lu\n", check->name, number);
        show("model", &worlds[0]);
        show("real ", &worlds[1]);
    }
    for (int i = 0; i < 2; i++) {
        for (size_t block = 0; block < worlds[i].allocated_count; block++)
            free(worlds[i].allocated[block]);
        free(worlds[i].record);
    }
}

/* Runs all cases. A family's main calls this with its checks. */
static int run_family(struct check *checks, size_t check_count, int argc, char **argv)
{
    int frames = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    if (frames < 0)
        abort();
    size_t size, input_size;
    frame = read_all(frames, &size);
    frames_end = frame + size;
    const unsigned char *input = read_all(0, &input_size);
    off_t offset = 0;
    for (unsigned long number = 0; frame < frames_end; number++) {
        char name[256] = {0};
        unsigned char length, count;
        struct field fields[most_fields];
        take_frame(&length, 1);
        take_frame(name, length);
        take_frame(&count, 1);
        for (size_t i = 0; i < count; i++) {
            unsigned char is_symbolic;
            uint32_t field_size;
            take_frame(&is_symbolic, 1);
            take_frame(&field_size, sizeof field_size);
            fields[i] = (struct field){is_symbolic, field_size, input + offset, offset};
            if (is_symbolic) {
                offset += field_size;
            } else {
                fields[i].bytes = frame;
                frame += field_size;
            }
        }
        size_t at = 0;
        while (at < check_count && strcmp(checks[at].name, name) != 0)
            at++;
        if (at == check_count) {
            printf("difference: no check of %s\n", name);
            return 1;
        }
        run_check(&checks[at], number, fields, count);
    }
    for (size_t at = 0; at < check_count; at++)
        printf("%s %s %lu %lu\n", checks[at].only_clears ? "cleared" : "checked", checks[at].name,
               checks[at].cases, checks[at].labelled);
    return 0;
}

/* FAMILY(CHECK(strlen), CHECK(strnlen)): main, with the checks check_strlen, check_strnlen. */
#define CHECK(name) {#name, check_##name, 0, 0, 0}
#define CLEARS(name) {#name, check_##name, 1, 0, 0}
#define FAMILY(...)                                                                                \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        static struct check checks[] = {__VA_ARGS__};                                              \
        return run_family(checks, sizeof checks / sizeof *checks, argc, argv);                     \
    }

#endif
