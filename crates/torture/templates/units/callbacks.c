//: sort_numbers
static int ascending_$n(const void *a, const void *b) {
    i32 x = *(const i32 *)a, y = *(const i32 *)b;
    return $[x < y ? -1 : x > y$|(x > y) - (x < y)$|(y > x) - (y < x)$];
}

static void unit_$n(void) {
    i32 values[12];
    for (size_t i = 0; i < COUNT(values); i++) values[i] = in(i + $i) * $[1$|-3$|257$];
    qsort(values, COUNT(values), sizeof values[0], ascending_$n);
    for (size_t i = 0; i < COUNT(values); i++) mix((u32)values[i]);
    i32 wanted = in($i);
    i32 *found = bsearch(&wanted, values, COUNT(values), sizeof values[0], ascending_$n);
    mix(found ? (u64)(found - values) < 12 : 77);
    mix(found ? (u32)*found : 78);
}

//: sort_records
struct record_$n { char key[4]; u16 count; float weight; };

static unsigned compared_$n;

static int by_key_$n(const void *a, const void *b) {
    const struct record_$n *x = a, *y = b;
    compared_$n = compared_$n < 1000 ? compared_$n + 1 : 0;
    int order = memcmp(x->key, y->key, sizeof x->key);
    if (order) return order < 0 ? -1 : 1;
    return x->count < y->count ? -1 : x->count > y->count;
}
static int by_weight_$n(const void *a, const void *b) {
    const struct record_$n *x = a, *y = b;
    if (x->weight < y->weight) return -1;
    if (x->weight > y->weight) return 1;
    return by_key_$n(a, b);
}

static void unit_$n(void) {
    struct record_$n records[8];
    for (unsigned i = 0; i < COUNT(records); i++) {
        for (unsigned k = 0; k < 4; k++) records[i].key[k] = (char)(in(i * 4 + k) & 0x5f);
        records[i].count = (u16)(i * $p % 7);
        records[i].weight = (float)in(i) / $s;
    }
    qsort(records, COUNT(records), sizeof records[0], in($i) & 1 ? by_key_$n : by_weight_$n);
    for (unsigned i = 0; i < COUNT(records); i++) {
        mix_bytes(records[i].key, 4);
        mix_float(records[i].weight);
        mix(records[i].count);
    }
}

//: sort_words
static int words_$n(const void *a, const void *b) {
    return $[strcmp(*(char *const *)a, *(char *const *)b)$|strcasecmp(*(char *const *)a, *(char *const *)b)$|strncmp(*(char *const *)a, *(char *const *)b, 2)$] > 0 ? 1 : strcmp(*(char *const *)a, *(char *const *)b) < 0 ? -1 : 0;
}

static void unit_$n(void) {
    char *text = in_text($i, 40);
    char *words[20];
    size_t count = 0;
    for (char *at = text; *at && count < COUNT(words);) {
        while (*at && !isalnum((u8)*at)) at++;
        if (!*at) break;
        words[count++] = at;
        while (isalnum((u8)*at)) at++;
        if (*at) *at++ = 0;
    }
    /* The order of equal words is the library's business, so only an insertion sort is compared. */
    for (size_t i = 1; i < count; i++)
        for (size_t k = i; k > 0 && words_$n(&words[k - 1], &words[k]) > 0; k--) {
            char *held = words[k];
            words[k] = words[k - 1];
            words[k - 1] = held;
        }
    for (size_t i = 0; i < count; i++) mix_text(words[i]);
    mix(count);
    free(text);
}

//: function_table
typedef u32 (*operation_$n)(u32, u32);
static u32 op0_$n(u32 a, u32 b) { return $e{u32: a u32, b u32}; }
static u32 op1_$n(u32 a, u32 b) { return $e{u32: a u32, b u32}; }
static u32 op2_$n(u32 a, u32 b) { return $e{u32: a u32, b u32}; }
static u32 op3_$n(u32 a, u32 b) { return div_u32(a, b) + rem_u32(b, a); }
static const operation_$n table_$n[4] = {op0_$n, op1_$n, op2_$n, op3_$n};
static operation_$n pick_$n(u8 by) { return by < $b ? table_$n[by & 3] : by & 1 ? op0_$n : op3_$n; }

static void unit_$n(void) {
    u32 value = $k;
    for (size_t i = 0; i < 12; i++) {
        value = pick_$n(in(i + $i))(value, in(i));
        if (value < $k) mix(i);
    }
    mix(value);
}

//: fold
struct context_$n { u64 total; unsigned calls; u8 skip; };

static bool each_$n(const u8 *bytes, size_t length, bool (*visit)(void *, u8, size_t), void *context) {
    for (size_t i = 0; i < length; i++)
        if (!visit(context, bytes[i], i)) return false;
    return true;
}
static bool add_$n(void *opaque, u8 byte, size_t at) {
    struct context_$n *context = opaque;
    context->calls++;
    if (byte == context->skip) return false;
    context->total += $e{u64: byte u8, (u32)at u32};
    return context->calls < 25;
}

static void unit_$n(void) {
    u8 bytes[30];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = in(i + $i);
    struct context_$n context = {0, 0, $b};
    mix(each_$n(bytes, sizeof bytes, add_$n, &context));
    mix(context.total);
    mix(context.calls);
}
