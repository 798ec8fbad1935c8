/* Coverage runtime: gives each covered module its counters in shared memory.
 *
 * Every module calls __plx_cover from a constructor. Without a region in the environment the
 * module keeps counting in a private array of its own, so a covered program runs
 * anywhere. Layout: crates/abi/src/cover.rs.
 *
 * In a run server (crates/serve) constructors run once, but what they count belongs to every run: there modules count
 * in their private arrays until the server forks, and the process of a run adds that to its counters. */

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define MAGIC 0x7265766f63786c70ull
#define VERSION 2
#define MODULES (1u << 14)
#define MODULE_OFFSET 4096
#define NO_ROOM UINT32_MAX
#define PATIENCE 100000000

struct header {
  uint64_t magic;
  uint32_t version, capacity, used, refused, log, logged;
};

struct module {
  uint64_t id;
  uint32_t first, count;
};

/* A module that counts privately until a run begins. */
struct waiting {
  struct waiting *next;
  uint32_t **counters, *shared;
  uint64_t count;
  int has_counted;
};

static char *region;
static uint32_t capacity, room;
static int tried, serving;
static struct waiting *waiting;

/* In the server, before it forks: once, because nothing counts there any more. */
static void look(void) {
  static int looked;
  if (looked)
    return;
  looked = 1;
  for (struct waiting *module = waiting; module; module = module->next)
    for (uint64_t index = 0; index < module->count && !module->has_counted; index++)
      module->has_counted = (*module->counters)[index] != 0;
}

/* In the process of a run. */
static void begin(void) {
  for (struct waiting *module = waiting; module; module = module->next) {
    uint32_t *private = *module->counters;
    for (uint64_t index = 0; module->has_counted && index < module->count; index++)
      module->shared[index] += private[index];
    *module->counters = module->shared;
  }
  /* Processes that this one forks go on counting. */
  waiting = 0;
}

/* Memory for one more; not from the program's allocator, which may be covered itself. */
static struct waiting *another(void) {
  enum { BYTES = 64 << 10 };
  static struct waiting *unused;
  static size_t left;
  if (left == 0) {
    void *memory =
        mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return 0;
    unused = memory;
    left = BYTES / sizeof *unused;
  }
  left--;
  return unused++;
}

static void use(uint32_t **counters, uint32_t *shared, uint64_t count) {
  struct waiting *module = serving ? another() : 0;
  if (!module) {
    *counters = shared;
    return;
  }
  *module = (struct waiting){waiting, counters, shared, count, 0};
  waiting = module;
}

static void attach(void) {
  tried = 1;
  const char *text = getenv("PARALLAX_COVER");
  if (!text || !*text)
    return;
  int descriptor = 0;
  for (; *text >= '0' && *text <= '9' && descriptor < 1000000; text++)
    descriptor = 10 * descriptor + (*text - '0');
  struct stat status;
  if (*text || fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
      (uint64_t)status.st_size < MODULE_OFFSET + MODULES * sizeof(struct module))
    return;
  void *memory =
      mmap(0, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED)
    return;
  struct header *header = memory;
  uint64_t counters = MODULE_OFFSET + MODULES * sizeof(struct module);
  if (header->magic != MAGIC || header->version != VERSION ||
      counters + 4ull * header->capacity + 4ull * header->log > (uint64_t)status.st_size) {
    munmap(memory, (size_t)status.st_size);
    return;
  }
  region = memory;
  capacity = header->capacity;
  room = header->log;
  serving = getenv("PARALLAX_PRELOADED") && pthread_atfork(look, 0, begin) == 0;
}

/* Other processes may register the same module at the same time: whoever
 * writes its id into a free slot first sets it up, the others wait for that. */
void __plx_cover(uint64_t id, uint32_t **counters, uint64_t count) {
  if (!tried)
    attach();
  if (!region)
    return;
  struct header *header = (struct header *)region;
  struct module *modules = (struct module *)(region + MODULE_OFFSET);
  uint32_t *all = (uint32_t *)(modules + MODULES);
  for (uint32_t probe = 0; probe < MODULES; probe++) {
    struct module *slot = &modules[(id + probe) % MODULES];
    uint64_t owner = 0;
    if (__atomic_compare_exchange_n(&slot->id, &owner, id, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
      uint32_t first = __atomic_fetch_add(&header->used, (uint32_t)count, __ATOMIC_RELAXED);
      if (first + count > header->capacity) {
        /* Smaller modules may still fit, and nobody shall wait for this one. */
        __atomic_fetch_sub(&header->used, (uint32_t)count, __ATOMIC_RELAXED);
        __atomic_store_n(&slot->first, NO_ROOM, __ATOMIC_RELEASE);
        break;
      }
      slot->count = (uint32_t)count;
      __atomic_store_n(&slot->first, first + 1, __ATOMIC_RELEASE);
      use(counters, all + first, count);
      return;
    }
    if (owner == id) {
      for (int tries = 0; tries < PATIENCE; tries++) {
        uint32_t first = __atomic_load_n(&slot->first, __ATOMIC_ACQUIRE);
        if (first == NO_ROOM)
          break;
        if (first != 0) {
          if (slot->count == count)
            use(counters, all + first - 1, count);
          return;
        }
      }
      break;
    }
  }
  __atomic_fetch_add(&header->refused, 1, __ATOMIC_RELAXED);
}

/* A watched counter has counted. The order of the log is the order in which this is called; processes that
 * share the region share the log. */
void __plx_follow(uint32_t *counter) {
  if (!region)
    return;
  struct header *header = (struct header *)region;
  uint32_t *all = (uint32_t *)(region + MODULE_OFFSET + MODULES * sizeof(struct module));
  /* Another process may have damaged the header: what is written must lie in the region. */
  if (counter < all || counter >= all + capacity ||
      __atomic_load_n(&header->logged, __ATOMIC_RELAXED) > room)
    return;
  uint32_t at = __atomic_fetch_add(&header->logged, 1, __ATOMIC_RELAXED);
  if (at < room)
    all[capacity + at] = (uint32_t)(counter - all);
}
