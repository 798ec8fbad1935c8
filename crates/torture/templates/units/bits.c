//: crc
static u32 crc_table_$n[256];

static void unit_$n(void) {
    for (u32 i = 0; i < 256; i++) {
        u32 c = i;
        for (int k = 0; k < 8; k++) c = c & 1 ? (c >> 1) ^ 0xedb88320u : c >> 1;
        crc_table_$n[i] = c;
    }
    u32 crc = ~0u;
    for (size_t i = 0; i < 20; i++) {
        crc = crc_table_$n[(crc ^ in(i + $i)) & 0xff] ^ (crc >> 8);
        if (crc % $p == 0) mix(i);
    }
    mix(~crc);
}

//: checksums
static void unit_$n(void) {
    u32 a = 1, b = 0;
    for (size_t i = 0; i < 40; i++) {
        a = (a + in(i)) % 65521;
        b = (b + a) % 65521;
    }
    mix(b << 16 | a);
    u16 fletcher = 0, twice = 0;
    for (size_t i = 0; i < 16; i++) {
        fletcher = (u16)((fletcher + in(i * 3)) % 255);
        twice = (u16)((twice + fletcher) % 255);
    }
    mix((u64)twice << 8 | fletcher);
    if (a > b) mix($k);
    u32 hash = $k;
    for (size_t i = 0; i < 12; i++) {
        hash += in(i + $i);
        hash += hash << 10;
        hash ^= hash >> 6;
        if ((hash & 7) == $[3$|5$]) mix(hash >> $w);
    }
    mix(hash + (hash << 15));
}

//: rounds
static u32 round_$n(u32 a, u32 b, u32 c) {
    return rotl32($e{u32: a u32, b u32, c u32}, $w) + (a ^ b ^ c) + $k;
}

static void unit_$n(void) {
    u32 s[4] = {$k, $k, $k, $k};
    for (int i = 0; i < 8; i++) {
        u32 word = (u32)in(4 * i) | (u32)in(4 * i + 1) << 8 | (u32)in(4 * i + 2) << 16 |
                   (u32)in(4 * i + 3) << 24;
        u32 t = round_$n(s[0], s[1], word ^ s[3]);
        s[0] = s[1];
        s[1] = rotl32(s[2], $w);
        s[2] = s[3] + t;
        s[3] = t;
        if (t & 0x80000000u) mix(word);
    }
    for (int i = 0; i < 4; i++) mix(s[i]);
}

//: base64
static void unit_$n(void) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char text[64];
    size_t length = 0;
    for (size_t i = 0; i + 2 < 21; i += 3) {
        u32 group = (u32)in(i) << 16 | (u32)in(i + 1) << 8 | in(i + 2);
        for (int k = 3; k >= 0; k--) text[length++] = digits[group >> (6 * k) & 63];
    }
    text[length] = 0;
    mix_text(text);
    for (size_t i = 0; i < length; i++) {
        const char *found = strchr(digits, text[(i * $p) % length]);
        mix(found ? (u64)(found - digits) : 99u);
    }
    puts(text);
}

//: varint
static void unit_$n(void) {
    u8 buffer[80];
    size_t at = 0;
    for (int i = 0; i < 6; i++) {
        u64 value = (u64)in(i) * in(i + 7) * in(i + 13) << (in(i + 2) & 31);
        do {
            buffer[at++] = (u8)((value & 127) | (value > 127 ? 128 : 0));
            value >>= 7;
        } while (value);
    }
    size_t from = 0;
    while (from < at) {
        u64 value = 0;
        unsigned shift = 0;
        while (from < at && shift < 64) {
            u8 byte = buffer[from++];
            value |= (u64)(byte & 127) << shift;
            shift += 7;
            if (!(byte & 128)) break;
        }
        i64 zigzag = (i64)(value >> 1) ^ -(i64)(value & 1);
        mix((u64)zigzag);
    }
    mix(at);
}

//: utf8
static void unit_$n(void) {
    unsigned good = 0, bad = 0;
    for (size_t i = 0; i < 30;) {
        u8 lead = in(i++);
        unsigned more = lead < 0x80 ? 0 : (lead & 0xe0) == 0xc0 ? 1 : (lead & 0xf0) == 0xe0 ? 2
                        : (lead & 0xf8) == 0xf0 ? 3 : 9;
        if (more == 9) {
            bad++;
            continue;
        }
        u32 point = more ? lead & (0x3fu >> more) : lead;
        for (; more; more--) {
            u8 next = in(i);
            if ((next & 0xc0) != 0x80) break;
            i++;
            point = point << 6 | (next & 0x3f);
        }
        if (more) bad++;
        else good++, mix(point);
    }
    mix(good * 1000 + bad);
}
