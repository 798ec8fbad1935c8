//: assembly
static void unit_$n(void) {
    u32 value = in($i) * $k;
    __asm__("" : "+r"(value));
    mix(value);
    u64 wide = in($i);
    __asm__ volatile("" : : "r"(&wide) : "memory");
    mix(wide);
    u32 doubled;
    __asm__("leal (%1,%1), %0" : "=r"(doubled) : "r"(value));
    mix(doubled);
    if (doubled > value) mix($k);
}

//: vectors
typedef u32 vec_$n __attribute__((vector_size(16)));
typedef u8 bytes_$n __attribute__((vector_size(16)));

static void unit_$n(void) {
    vec_$n a = {in(0), in(1), in(2), in(3)}, b = {$k, $k, in(4), $k};
    vec_$n c = a * b + (a ^ b);
    c = c << (vec_$n){1, 2, 3, $w};
    vec_$n smaller_lanes = (vec_$n)(a < b);
    for (int i = 0; i < 4; i++) {
        mix(c[i]);
        mix(smaller_lanes[i]);
    }
    bytes_$n d, e;
    for (int i = 0; i < 16; i++) {
        d[i] = in(i + $i);
        e[i] = (u8)(i * $p);
    }
    d = (d & e) | (bytes_$n)c;
    u8 out[16];
    memcpy(out, &d, sizeof out);
    mix_bytes(out, sizeof out);
    if (out[3] > in($i)) mix(1);
}

//: atomics
static _Atomic u32 shared_$n;
static u64 plain_$n;
static u32 lock_$n;

static void unit_$n(void) {
    for (int i = 0; i < 8; i++) {
        u8 byte = in(i + $i);
        u32 before = __atomic_fetch_add(&plain_$n, byte, __ATOMIC_SEQ_CST) & 0xffff;
        mix(before);
        shared_$n += byte;
        u32 expected = byte;
        if (__atomic_compare_exchange_n(&lock_$n, &expected, $b, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) mix(7);
        else __atomic_store_n(&lock_$n, byte >> 1, __ATOMIC_RELEASE);
        mix(expected);
        mix(__atomic_exchange_n(&plain_$n, (u64)byte << 3, __ATOMIC_ACQ_REL));
        __atomic_fetch_$[or$|and$|xor$](&plain_$n, $b, __ATOMIC_RELAXED);
        if (shared_$n % $p == 0) mix(i);
    }
    mix(shared_$n);
    mix(plain_$n);
}

//: volatile
static volatile u32 register_$n = $k;
static volatile struct { u8 a; u16 b[3]; } device_$n;

static void unit_$n(void) {
    for (int i = 0; i < 6; i++) {
        register_$n ^= in(i);
        device_$n.a = (u8)register_$n;
        device_$n.b[i % 3] = (u16)(device_$n.a * $p);
        if (device_$n.b[(i + 1) % 3] > register_$n % 1000) mix(register_$n);
    }
    mix(device_$n.a);
    mix(device_$n.b[2]);
}

//: complex
static void unit_$n(void) {
    _Complex double z = in($i) / 100.0 + 0.5i, c = -0.4 + 0.6i;
    unsigned turns = 0;
    while (turns < 12) {
        double re = __real__ z, im = __imag__ z;
        if (re * re + im * im > 4) break;
        /* written out: multiplication of complex numbers calls a library function */
        z = (re * re - im * im) + 2 * re * im * 1.0i + c;
        turns++;
    }
    mix(turns);
    mix_double(__real__ z);
    mix_double(__imag__ z);
}
