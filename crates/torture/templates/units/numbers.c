//: i128
static void unit_$n(void) {
    u128 a = (u128)in($i) << 100 | $K, b = ((u128)$K << 64 | in($i)) ^ in($i);
    i128 c = (i128)a;
    for (int i = 0; i < 5; i++) {
        u8 byte = in(i);
        a = a * (b | 1) + byte;
        b = (b >> (byte & 127)) ^ (a << (i * $s));
        c = (i128)((u128)c - b) >> (in(i + 1) & 63);
        a ^= $e{u128: a u128, b u128, c i128, byte u8};
        if (a < b) mix(1);
        if (c < 0) mix(2);
        mix128(a);
    }
    mix128(div_u128(a, b >> 64));
    mix128(rem_u128(a, (u128)in($i) + 3));
    mix128((u128)div_i128(c, $s - 12));
    mix128((u128)c);
    mix((u64)a == (u64)b);
}

//: integers
static void unit_$n(void) {
    i8 a = (i8)in(0);
    u8 b = in(1);
    i16 c = (i16)(in(2) * 257);
    u16 d = (u16)(in(3) << 4);
    i32 e = (i32)(in(4) * $k);
    u32 f = in(5) * $k;
    i64 g = (i64)(in(6) * $K);
    u64 h = in(7) * $K;
    for (int i = 0; i < 5; i++) {
        a = $e{i8: a i8, b u8, c i16, d u16};
        b = $e{u8: a i8, b u8, e i32};
        c = $e{i16: c i16, f u32, a i8};
        d = $e{u16: d u16, h u64, b u8};
        e = $e{i32: e i32, g i64, c i16};
        f = $e{u32: f u32, e i32, d u16};
        g = $e{i64: g i64, h u64, a i8, e i32};
        h = $e{u64: h u64, f u32, g i64};
        mix((u64)a ^ (u64)b << 8 ^ (u64)c << 16);
        mix((u64)d ^ (u64)e << 16);
        mix(f ^ (u64)g ^ h);
        if ($e{bool: a i8, f u32, h u64}) mix((u64)i);
    }
}

//: euclid
static u32 common_$n(u32 a, u32 b) {
    while (b) {
        u32 rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
static u64 power_$n(u64 base, u32 exponent, u64 modulus) {
    u64 result = 1 % modulus;
    for (base %= modulus; exponent; exponent >>= 1) {
        if (exponent & 1) result = (u64)((u128)result * base % modulus);
        base = (u64)((u128)base * base % modulus);
    }
    return result;
}

static void unit_$n(void) {
    mix(common_$n(in($i) * $p, in($i) * $s));
    mix(power_$n(in($i) + 2, in($i), 1000003 + in($i)));
    u32 n = in($i) + 2u;
    for (u32 factor = 2; factor * factor <= n; factor++)
        while (n % factor == 0) mix(factor), n /= factor;
    mix(n);
    i32 number = (in($i) << 8 | in($i)) - 30000, root = 0;
    while ((root + 1) * (root + 1) <= (number < 0 ? -number : number)) root++;
    mix((u32)root);
}

//: digits
static void unit_$n(void) {
    u64 value = (u64)in($i) << 24 | (u64)in($i) << 12 | in($i);
    char text[72];
    size_t length = 0;
    unsigned base = $[10$|16$|2$|36$];
    do text[length++] = "0123456789abcdefghijklmnopqrstuvwxyz"[value % base];
    while ((value /= base) && length < 70);
    text[length] = 0;
    for (size_t i = 0; i < length / 2; i++) {
        char held = text[i];
        text[i] = text[length - 1 - i];
        text[length - 1 - i] = held;
    }
    puts(text);
    mix_text(text);
    u64 back = 0;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        back = back * base + (u64)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    mix(back);
    mix(strtoull(text, NULL, (int)base) == back);
}

//: overflow_checks
static void unit_$n(void) {
    i32 total = 0;
    u32 wrapped = 0;
    i64 product = 1;
    for (int i = 0; i < 10; i++) {
        i32 step = (i32)((u32)in(i) << (i * 3 & 31));
        if (__builtin_add_overflow(total, step, &total)) mix((u64)i);
        if (__builtin_sub_overflow(wrapped, in(i + 1), &wrapped)) mix(100 + (u64)i);
        if (__builtin_mul_overflow(product, (i64)in(i) - 60, &product)) product = $s;
        u8 narrow;
        if (__builtin_add_overflow(in(i), $b, &narrow)) mix(narrow);
        i16 mixed;
        mix(__builtin_mul_overflow((i32)in(i) * 100, (i64)$b, &mixed));
        mix((u16)mixed);
        size_t size;
        if (__builtin_mul_overflow((size_t)in(i) << 56, (size_t)$s, &size)) size = 1;
        mix(size);
    }
    mix((u32)total);
    mix(wrapped);
    mix((u64)product);
}

//: shifts
static void unit_$n(void) {
    u64 a = $K;
    i64 b = (i64)$K;
    u32 c = $k;
    i16 d = (i16)(in($i) * 255);
    for (int i = 0; i < 8; i++) {
        unsigned by = in(i);
        a = a << (by & 63) | a >> (-by & 63);
        b = b >> (by % 64);
        c = (c << by % 32) ^ (c >> (31 - by % 32));
        d = (i16)((d >> (by & 15)) + (d & 7));
        if (by & 32) b = (i64)((u64)b ^ a);
        mix(a >> 5);
        mix((u64)b);
        mix(c + (u32)d);
        u8 narrow = (u8)by;
        narrow <<= 3;
        narrow >>= by & 7;
        mix(narrow);
    }
}
