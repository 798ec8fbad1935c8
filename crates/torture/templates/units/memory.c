//: grow
static void unit_$n(void) {
    size_t capacity = $s, length = 0;
    u16 *items = need(malloc(capacity * sizeof *items));
    for (size_t i = 0; i < 30; i++) {
        if (in(i) == $b) continue;
        if (length == capacity) {
            capacity = capacity * 3 / 2 + 1;
            items = need(realloc(items, capacity * sizeof *items));
        }
        items[length++] = (u16)(in(i) << (i & 7));
    }
    u32 total = 0;
    for (size_t i = 0; i < length; i++) total = total * $p + items[i];
    if (length) {
        items = need(realloc(items, length * sizeof *items));
        mix(items[length - 1]);
        mix(items[in($i) % length]);
    }
    mix(total);
    mix(length);
    free(items);
}

//: moves
static void unit_$n(void) {
    u8 a[64], b[64];
    memset(a, in($i), sizeof a);
    memset(b, $b, sizeof b);
    for (size_t i = 0; i < 32; i++) a[i] = in(i);
    for (int i = 0; i < 6; i++) {
        size_t from = in(i) & 31, to = in(i + 9) & 31, length = in(i + 17) & 31;
        switch (in(i + 5) & 3) {
        case 0: memmove(a + to, a + from, length); break;
        case 1: memcpy(b + to, a + from, length); break;
        case 2: memset(a + from, b[to], length); break;
        default: mix((u32)(memcmp(a + from, b + to, length) > 0));
        }
    }
    memcpy(a, b, 8);
    struct { u8 bytes[24]; } copy;
    memcpy(&copy, a + 3, sizeof copy);
    mix_bytes(a, sizeof a);
    mix_bytes(b, sizeof b);
    mix_bytes(copy.bytes, sizeof copy.bytes);
    void *found = memchr(a, in($i), sizeof a);
    mix(found ? (u64)((u8 *)found - a) : 99);
}

//: ring
struct ring_$n { u32 slots[8]; unsigned head, used; };

static bool put_$n(struct ring_$n *ring, u32 value) {
    if (ring->used == 8) return false;
    ring->slots[(ring->head + ring->used++) & 7] = value;
    return true;
}
static u32 get_$n(struct ring_$n *ring) {
    if (!ring->used) return $k;
    u32 value = ring->slots[ring->head];
    ring->head = (ring->head + 1) % 8;
    ring->used--;
    return value;
}

static void unit_$n(void) {
    struct ring_$n *ring = need(calloc(1, sizeof *ring));
    for (size_t i = 0; i < 30; i++) {
        u8 byte = in(i + $i);
        if (byte % 3) mix(put_$n(ring, byte * $k));
        else mix(get_$n(ring));
    }
    mix(ring->used);
    free(ring);
}

//: stack_arrays
__attribute__((noinline)) static u32 sized_$n(size_t length, u8 fill) {
    u8 room[length];
    memset(room, fill, length);
    for (size_t i = 0; i < length; i += 3) room[i] = in(i);
    u32 total = 0;
    for (size_t i = 0; i < length; i++) total = total * 31 + room[i];
    return total;
}

static void unit_$n(void) {
    mix(sized_$n(1 + in($i) % 40, in($i)));
    size_t length = (in($i) & 15) + 1;
    u32 *extra = __builtin_alloca(length * sizeof *extra);
    for (size_t i = 0; i < length; i++) extra[i] = in(i) * $p + (u32)i;
    for (size_t i = 0; i < length; i++) mix(extra[length - 1 - i]);
    mix(sized_$n(5, $b));
}

//: reuse
/* Memory that held input is freed or left behind and used again for constants. */
__attribute__((noinline)) static u32 leave_$n(void) {
    u8 room[48];
    for (size_t i = 0; i < sizeof room; i++) room[i] = in(i);
    u32 total = 0;
    for (size_t i = 0; i < sizeof room; i++) total += room[i] ^ (u32)i;
    return total;
}
__attribute__((noinline)) static u32 reuse_$n(unsigned from) {
    char room[48];
    snprintf(room, sizeof room, "%08x-%s", $k, "constant text");
    return room[from % 20] == '-' ? 1 : (u8)room[from % 8];
}

static void unit_$n(void) {
    for (int i = 0; i < 3; i++) {
        mix(leave_$n());
        mix(reuse_$n((unsigned)i * $s));
        u8 *a = need(malloc(40));
        for (size_t k = 0; k < 40; k++) a[k] = in(k);
        mix(a[in($i) % 40]);
        free(a);
        u8 *b = need(calloc(40, 1));
        mix(b[7]);
        mix_bytes(b, 40);
        free(b);
    }
    time_t when = 86400 * (time_t)in($i);
    struct tm *parts = gmtime(&when);
    mix((u64)parts->tm_mday * 100 + (u64)parts->tm_mon);
}
