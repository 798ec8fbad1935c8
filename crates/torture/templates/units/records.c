//: bit_fields
struct flags_$n {
    unsigned a : 3, b : $s;
    signed int c : 5;
    u64 d : 3$s;
    bool e : 1;
    unsigned : 0;
    i16 f : 11;
    u8 g;
};

static void unit_$n(void) {
    struct flags_$n flags = {0};
    for (int i = 0; i < 8; i++) {
        u8 byte = in(i + $i);
        flags.a = byte;
        flags.b ^= byte >> 2;
        flags.c = (i8)byte;
        flags.d = flags.d * 5 + byte;
        flags.e = byte & 4;
        flags.f = (i16)(flags.c * 9);
        flags.g += flags.a;
        if (flags.c < 0 && flags.e) mix(flags.b);
        mix(flags.d);
        mix((u32)flags.f);
    }
    struct flags_$n copy = flags;
    copy.a++;
    mix(copy.a + copy.g);
}

//: unions
union view_$n {
    u64 whole;
    u32 halves[2];
    struct { u8 low; i16 middle __attribute__((packed)); u8 rest[5]; } parts;
    char text[8];
};

static void unit_$n(void) {
    union view_$n view = {.whole = $K};
    for (int i = 0; i < 6; i++) {
        view.text[in(i) & 7] = (char)in(i + $i);
        if (view.parts.middle < 0) view.halves[1] += 3;
        view.halves[0] ^= view.parts.rest[i % 5] * $p;
        view.parts.low++;
        mix(view.whole);
        mix((u16)view.parts.middle);
    }
    union { float f; i32 i; u16 s[2]; } other = {.f = in($i) * 1.5f};
    other.s[0] ^= in($i);
    mix((u32)other.i);
    mix_float(other.f);
}

//: shapes
struct shape_$n {
    enum { CIRCLE_$n, BOX_$n, TEXT_$n } kind;
    union {
        struct { u16 radius; } circle;
        struct { i16 left, top, right, bottom; } box;
        struct { char label[6]; u8 size; } text;
    };
};

static i32 area_$n(const struct shape_$n *shape) {
    switch (shape->kind) {
    case CIRCLE_$n: return shape->circle.radius * shape->circle.radius * 3;
    case BOX_$n: return (shape->box.right - shape->box.left) * (shape->box.bottom - shape->box.top);
    case TEXT_$n: return (i32)strnlen(shape->text.label, 6) * shape->text.size;
    }
    return -1;
}

static void unit_$n(void) {
    struct shape_$n shapes[5];
    memset(shapes, 0, sizeof shapes);
    for (size_t i = 0; i < COUNT(shapes); i++) {
        struct shape_$n *shape = &shapes[i];
        switch (in(i) % 3) {
        case 0: shape->kind = CIRCLE_$n; shape->circle.radius = in(i + 1); break;
        case 1:
            shape->kind = BOX_$n;
            shape->box.right = in(i + 2);
            shape->box.top = (i16)(in(i + 3) - 40);
            break;
        default:
            shape->kind = TEXT_$n;
            for (size_t k = 0; k < 5; k++) shape->text.label[k] = (char)in(i + k);
            shape->text.size = $s;
        }
    }
    struct shape_$n spare = shapes[in($i) % 5];
    shapes[2] = spare;
    i32 best = -99;
    for (size_t i = 0; i < COUNT(shapes); i++) {
        i32 area = area_$n(&shapes[i]);
        if (area > best) best = area;
        mix((u32)area);
    }
    mix((u32)best);
}

//: packed
struct __attribute__((packed)) header_$n { u8 type; u32 length; u16 check; i64 stamp; };
typedef struct header_$n __attribute__((may_alias)) overlay_$n;

static void unit_$n(void) {
    u8 wire[40];
    for (size_t i = 0; i < sizeof wire; i++) wire[i] = in(i + $i);
    struct header_$n header;
    memcpy(&header, wire + (in($i) & 7), sizeof header);
    header.length = __builtin_bswap32(header.length);
    header.check = (u16)(header.check << 8 | header.check >> 8);
    header.stamp ^= header.type;
    mix(header.length % 1000 + header.check);
    mix((u64)header.stamp);
    if (header.length > 0x80000000u || header.stamp < 0) mix(header.type);
    overlay_$n *at = (overlay_$n *)(wire + 11);
    at->length += header.check;
    mix_bytes(wire, sizeof wire);
}

//: arrays_of_structs
struct item_$n { const char *name; u8 price; struct { u16 x; i8 y; } at; float weight; };

static void unit_$n(void) {
    static struct item_$n stock[] = {
        {"bolt", $s, {1, -2}, 0.5f}, {"nut", $b, {3, 4}, 1.5f}, {"washer", 77, {5, -6}, 2.25f},
    };
    for (int i = 0; i < 6; i++) {
        struct item_$n *item = &stock[in(i) % COUNT(stock)];
        item->price = (u8)(item->price + in(i + 1));
        item->at.x ^= (u16)(in(i) << 3);
        item->at.y = (i8)(item->at.y / 2 - (in(i) & 7));
        item->weight = tamef(item->weight * 1.5f);
        mix((u8)item->name[in(i + 2) & 3]);
    }
    for (size_t i = 0; i < COUNT(stock); i++) {
        mix(stock[i].price);
        mix((u32)stock[i].at.y + stock[i].at.x);
        mix_float(stock[i].weight);
    }
}
