//: jumps
static jmp_buf back_$n;

__attribute__((noinline)) static u32 deep_$n(u32 value, int depth) {
    if (value % $p == $s) longjmp(back_$n, (int)(value & 0xff) + 1);
    if (depth == 0) return value;
    return deep_$n($e{u32: value u32}, depth - 1) + 1;
}

static void unit_$n(void) {
    volatile u32 tries = 0;
    volatile u8 seen = in($i);
    int code = setjmp(back_$n);
    mix((u32)code);
    if (code) seen = (u8)(seen + code);
    tries = tries + 1;
    if (tries < 5) mix(deep_$n(seen * tries + $b, 6));
    mix(seen);
}

//: switches
static const char *name_$n(u8 byte) {
    switch (byte) {
    case 0: return "zero";
    case 'a': case 'e': case 'i': case 'o': case 'u': return "vowel";
    case '0' ... '9': return "digit";
    case ' ': case '\t': case '\n': return "blank";
    case $b % 8 + 1: return "odd";
    default: return byte > 127 ? "high" : "other";
    }
}

static void unit_$n(void) {
    u32 state = 0;
    for (size_t i = 0; i < 24; i++) {
        u8 byte = in(i + $i);
        mix_text(name_$n(byte));
        switch (state) {
        case 0: state = byte == '-' ? 1 : isdigit(byte) ? 2 : byte == '"' ? 3 : 0; break;
        case 1: state = isdigit(byte) ? 2 : 0; /* fall through */
        case 2: if (!isdigit(byte)) state = byte == '.' ? 4 : 0; break;
        case 3: if (byte == '"') state = 0; else if (byte == '\\') state = 5; break;
        case 4: state = isdigit(byte) ? 4 : $[0$|1$]; break;
        default: state = 3;
        }
        mix(state);
    }
    i64 big = (i64)in($i) << 33 | in($i);
    switch (big) {
    case 0: mix(1); break;
    case (i64)'a' << 33 | 'b': mix(2); break;
    case -5: mix(3); break;
    default: mix((u64)big);
    }
}

//: unrolled_copy
static void unit_$n(void) {
    u8 to[40] = {0}, from[40];
    for (size_t i = 0; i < sizeof from; i++) from[i] = in(i * $s);
    size_t count = in($i) % 33 + 1, turns = (count + 3) / 4;
    u8 *out = to;
    const u8 *at = from;
    switch (count % 4) {
    case 0: do { *out++ = *at++;
    case 3:      *out++ = *at++;
    case 2:      *out++ = (u8)(*at++ ^ $b);
    case 1:      *out++ = *at++;
            } while (--turns > 0);
    }
    mix((u64)(out - to));
    mix_bytes(to, sizeof to);
}

//: computed_goto
static void unit_$n(void) {
    static const void *const next[] = {&&push, &&add, &&dup, &&drop, &&end};
    u32 stack[16] = {1};
    unsigned top = 1, steps = 0;
    size_t pc = $i;
    goto *next[in(pc) % 5];
push:
    if (top < 16) stack[top++] = in(pc + 1);
    goto step;
add:
    if (top > 1) top--, stack[top - 1] += stack[top] * $p;
    goto step;
dup:
    if (top && top < 16) stack[top] = stack[top - 1], top++;
    goto step;
drop:
    if (top) mix(stack[--top]);
step:
    pc++;
    if (++steps < 20) goto *next[in(pc) % 5];
end:
    mix(steps);
    for (unsigned i = 0; i < top; i++) mix(stack[i]);
}

//: nested_loops
static void unit_$n(void) {
    unsigned found = 0;
    for (unsigned i = 0; i < 6; i++) {
        for (unsigned k = i; k < 9; k++) {
            if (in(i) == in(k * 3)) continue;
            if (in(k) > in(i) + $b) goto out;
            found += i ^ k;
            unsigned w = in(k) & 15;
            while (w > 1) w = w & 1 ? w * 3 + 1 > 60 ? 1 : w * 3 + 1 : w / 2, found++;
        }
        if (found > 500) break;
    }
out:
    mix(found);
    u8 last = 0;
    unsigned run = 0, best = 0, at = 0;
    do {
        u8 byte = in(at);
        run = byte == last ? run + 1 : 1;
        if (run > best) best = run;
        last = byte;
    } while (++at < 30);
    mix(best);
}
