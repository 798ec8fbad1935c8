/* Coverage runtime: gives each covered module its counters in shared memory.
 *
 * Every module calls __plx_cover from a constructor. Without a region in the environment the
 * module keeps counting in a private array of its own, so a covered program runs
 * anywhere. Layout: crates/abi/src/cover.rs. */

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

static char *region;
static uint32_t capacity, room;
static int tried;

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
      *counters = all + first;
      return;
    }
    if (owner == id) {
      for (int tries = 0; tries < PATIENCE; tries++) {
        uint32_t first = __atomic_load_n(&slot->first, __ATOMIC_ACQUIRE);
        if (first == NO_ROOM)
          break;
        if (first != 0) {
          if (slot->count == count)
            *counters = all + first - 1;
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
