//: small_structs
struct pair_$n { i32 a, b; };
struct mixed_$n { u64 a; double b; };
struct floats_$n { float x, y, z; };
struct odd_$n { u8 a[$s]; };
struct one_$n { u16 h; };

__attribute__((noinline)) static struct pair_$n swap_$n(struct pair_$n p) {
    return (struct pair_$n){p.b, $e{i32: p.a i32, p.b i32}};
}
__attribute__((noinline)) static struct mixed_$n blend_$n(struct mixed_$n m, struct one_$n o) {
    m.a = $e{u64: m.a u64, o.h u16};
    m.b = tame(m.b * 0.5 + o.h);
    return m;
}
__attribute__((noinline)) static struct floats_$n scale_$n(struct floats_$n f, float by) {
    return (struct floats_$n){tamef(f.x * by), tamef(f.y + by), tamef(f.z - by)};
}
__attribute__((noinline)) static struct odd_$n flip_$n(struct odd_$n o) {
    for (size_t i = 0; i < sizeof o.a; i++) o.a[i] ^= (u8)(0x20 + i);
    return o;
}

static void unit_$n(void) {
    struct pair_$n p = {in($i), in($i) - 100};
    struct mixed_$n m = {in($i), in($i) / 4.0};
    struct floats_$n f = {in($i), in($i), 0.25f};
    struct odd_$n o;
    for (size_t i = 0; i < sizeof o.a; i++) o.a[i] = in(i);
    for (int i = 0; i < 3; i++) {
        p = swap_$n(p);
        m = blend_$n(m, (struct one_$n){(u16)p.a});
        f = scale_$n(f, (float)(p.b & 15));
        o = flip_$n(o);
        if (p.a < p.b) mix($k);
    }
    mix((u32)p.a);
    mix((u32)p.b);
    mix(m.a);
    mix_double(m.b);
    mix_float(f.x);
    mix_float(f.y);
    mix_float(f.z);
    mix_bytes(o.a, sizeof o.a);
}

//: large_structs
struct large_$n { u32 id; char name[$[20$|33$|48$]]; double weight; struct { i16 x, y; } at[3]; };

__attribute__((noinline)) static u32 weigh_$n(int before, struct large_$n l, struct large_$n m, int after) {
    l.name[0] ^= 1;
    u32 total = l.id + m.id + (u32)before + (u32)after;
    for (size_t i = 0; i < sizeof l.name; i++) total = total * 31 + (u8)l.name[i] - (u8)m.name[i];
    return total + (u32)l.at[1].x + (u32)m.at[2].y;
}
__attribute__((noinline)) static struct large_$n make_$n(u8 seed, const char *name) {
    struct large_$n l;
    memset(&l, 0, sizeof l);
    l.id = seed * $p;
    for (size_t i = 0; i + 1 < sizeof l.name && name[i]; i++) l.name[i] = name[i];
    l.weight = seed * 0.125;
    for (int i = 0; i < 3; i++) {
        l.at[i].x = (i16)(seed * i);
        l.at[i].y = (i16)(-seed - i);
    }
    return l;
}

static void unit_$n(void) {
    struct large_$n a = make_$n(in($i), arg(0)), b = make_$n(in($i), arg(1));
    mix(weigh_$n(in($i), a, b, in($i)));
    struct large_$n c = in($i) & 1 ? a : b;
    c.at[0] = b.at[in($i) % 3];
    mix(weigh_$n(1, c, a, 2));
    mix_bytes(c.name, sizeof c.name);
    mix_double(a.weight + c.weight);
    mix(a.name[0] == c.name[0]);
}

//: many_arguments
__attribute__((noinline)) static u64 many_$n(u8 a, i64 b, float c, u16 d, double e, i8 f, u32 g, u64 h, i16 i,
                                             float j, u8 k, double l, ldouble m, bool n, u128 o, const char *p) {
    u64 r = a + (u64)b * 3 + d + (u64)f * 5 + g + h + (u64)i + k + n;
    r ^= to_u32(c + j) + to_u32(e * l) + to_u64(m);
    r += (u64)(o >> 60) + (u64)o + (u8)p[0];
    return $e{u64: r u64, a u8, i i16, h u64};
}

static void unit_$n(void) {
    u64 r = many_$n(in(0), in(1) - 128, in(2) / 2.0f, (u16)(in(3) * 257), in(4) * 0.1, (i8)in(5), in(6), in(7),
                    (i16)(in(8) - 99), in(9), in(10), in(11) + 0.5, in(12) * 3.0l, in(13) > 64, (u128)in(14) << 64 | in(15),
                    arg($s));
    mix(r);
    if (r & 1) mix(many_$n(1, 2, 3, 4, 5, 6, 7, r, 9, 10, 11, 12, 13, 1, r, "x"));
}

//: vectors_by_value
struct quad_$n { u64 a, b; };
struct triple_$n { u64 a, b, c; };
struct nested_$n { struct quad_$n q; u8 tag; };
union either_$n { u64 whole; double real; u8 bytes[8]; };

__attribute__((noinline)) static struct quad_$n twist_$n(struct quad_$n q, union either_$n e) {
    return (struct quad_$n){q.b ^ e.whole, q.a + e.bytes[$[0$|3$|7$]]};
}
__attribute__((noinline)) static struct triple_$n spread_$n(struct nested_$n t) {
    return (struct triple_$n){t.q.a, t.q.b * 3, t.tag};
}

static void unit_$n(void) {
    struct quad_$n q = {in($i), $k};
    union either_$n e = {.real = in($i) * 0.75};
    for (int i = 0; i < 4; i++) {
        q = twist_$n(q, e);
        e.bytes[i & 7] = (u8)q.a;
    }
    struct nested_$n t = {q, in($i)};
    struct triple_$n r = spread_$n(t);
    mix(r.a);
    mix(r.b);
    mix(r.c);
    mix(e.whole);
}
