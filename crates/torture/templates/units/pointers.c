//: list
struct node_$n { struct node_$n *next; u32 value; };

static void unit_$n(void) {
    struct node_$n *list = NULL;
    for (size_t i = 0; i < 14; i++) {
        struct node_$n *node = need(malloc(sizeof *node));
        node->value = in(i + $i) * $[1$|7$|257$];
        struct node_$n **at = &list;
        while (*at && (*at)->value < node->value) at = &(*at)->next;
        node->next = *at;
        *at = node;
    }
    struct node_$n *reversed = NULL;
    while (list) {
        struct node_$n *next = list->next;
        mix(list->value);
        if (list->value % $p == 0) {
            free(list);
        } else {
            list->next = reversed;
            reversed = list;
        }
        list = next;
    }
    while (reversed) {
        struct node_$n *next = reversed->next;
        mix(reversed->value);
        free(reversed);
        reversed = next;
    }
}

//: hash_table
struct entry_$n { struct entry_$n *next; char key[8]; unsigned count; };

static void unit_$n(void) {
    struct entry_$n *buckets[8] = {0};
    char *text = in_text($i, 36);
    for (size_t i = 0; i + 3 <= 36; i += 3) {
        u32 hash = $k;
        for (size_t k = 0; k < 3; k++) hash = (hash ^ (u8)text[i + k]) * 16777619u;
        struct entry_$n *entry = buckets[hash % 8];
        while (entry && memcmp(entry->key, text + i, 3)) entry = entry->next;
        if (!entry) {
            entry = need(calloc(1, sizeof *entry));
            memcpy(entry->key, text + i, 3);
            entry->next = buckets[hash % 8];
            buckets[hash % 8] = entry;
        }
        entry->count++;
    }
    for (size_t i = 0; i < 8; i++)
        while (buckets[i]) {
            struct entry_$n *entry = buckets[i];
            buckets[i] = entry->next;
            mix_text(entry->key);
            mix(entry->count);
            free(entry);
        }
    free(text);
}

//: walk
static void unit_$n(void) {
    i32 cells[20];
    for (size_t i = 0; i < COUNT(cells); i++) cells[i] = in(i) - $b;
    i32 *low = cells, *high = cells + COUNT(cells), *middle = cells + 10;
    i32 total = 0;
    for (i32 *at = high; at-- > low;) total += *at;
    mix((u32)total);
    while (low < high) {
        if (*low < middle[0]) low++;
        else if (*--high > middle[-1]) mix((u64)(high - low));
        else {
            i32 held = *low;
            *low = *high;
            *high = held;
            low++;
        }
    }
    mix((u64)(low - cells));
    for (size_t i = 0; i < COUNT(cells); i++) mix((u32)*(middle - 10 + i));
    i32(*rows)[5] = (i32(*)[5])cells;
    mix((u32)rows[in($i) & 3][in($i) % 5]);
    mix((u32)(&rows[2][1] - cells));
    const u8 *raw = (const u8 *)&cells[in($i) % 19];
    mix(raw[in($i) & 7]);
}

//: tagged
static void unit_$n(void) {
    u64 values[4] = {$k, in($i), $k, in($i)};
    uintptr_t tagged[4];
    for (size_t i = 0; i < 4; i++) tagged[i] = (uintptr_t)&values[in(i) & 3] | (in(i + 4) & 7);
    for (size_t i = 0; i < 4; i++) {
        const u64 *at = (const u64 *)(tagged[i] & ~(uintptr_t)7);
        mix(*at + (tagged[i] & 7));
        mix((u64)(at - values));
    }
    struct { u16 head; struct { u32 inner; } body; } box = {7, {in($i)}};
    u32 *inner = &box.body.inner;
    mix(*(u16 *)((char *)inner - offsetof(__typeof__(box), body.inner)));
    mix(*inner > 100 ? 5 : 6);
}

//: tree
struct tree_$n { struct tree_$n *side[2]; u8 key; u8 count; };

static u32 walk_$n(const struct tree_$n *tree, unsigned depth) {
    if (!tree) return depth;
    u32 left = walk_$n(tree->side[0], depth + 1);
    mix(tree->key);
    return left * 3 + walk_$n(tree->side[1], depth + 1) + tree->count;
}
static void drop_$n(struct tree_$n *tree) {
    if (!tree) return;
    drop_$n(tree->side[0]);
    drop_$n(tree->side[1]);
    free(tree);
}

static void unit_$n(void) {
    struct tree_$n *root = NULL;
    for (size_t i = 0; i < 16; i++) {
        u8 key = (u8)(in(i) ^ $b);
        struct tree_$n **at = &root;
        while (*at && (*at)->key != key) at = &(*at)->side[key > (*at)->key];
        if (!*at) {
            *at = need(calloc(1, sizeof **at));
            (*at)->key = key;
        }
        (*at)->count++;
    }
    mix(walk_$n(root, 0));
    drop_$n(root);
}
