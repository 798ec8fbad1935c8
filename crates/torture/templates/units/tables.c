//: automaton
enum { CLASSES_$n = 5, STATES_$n = 6 };
static const u8 class_$n[256] = {
    ['0' ... '9'] = 1, ['a' ... 'z'] = 2, ['A' ... 'Z'] = 2, ['_'] = 2, [' '] = 3, ['\n'] = 3, ['"'] = 4,
};
static const i8 next_$n[STATES_$n][CLASSES_$n] = {
    {0, 1, 2, 0, 4}, {0, 1, 3, 0, 0}, {0, 2, 2, 0, 5}, {-1, 3, 3, 0, 1}, {4, 4, 4, 4, 0}, {$[0$|1$|2$], 5, 3, 1, 0},
};

static void unit_$n(void) {
    int state = 0;
    unsigned accepted = 0;
    for (size_t i = 0; i < 35; i++) {
        u8 class = class_$n[in(i + $i)];
        int next = next_$n[state][class];
        if (next < 0) {
            mix(i);
            next = 0;
        }
        if (state && !next) accepted++;
        state = next;
    }
    mix(accepted);
    mix((u32)state);
}

//: substitution
static u8 box_$n[256], inverse_$n[256];

static void unit_$n(void) {
    for (unsigned i = 0; i < 256; i++) box_$n[i] = (u8)(i * ($b | 1) + $b);
    for (unsigned i = 0; i < 256; i++) inverse_$n[i] = 0;
    for (unsigned i = 0; i < 256; i++) inverse_$n[box_$n[i]] = (u8)i;
    u8 state = $b;
    for (size_t i = 0; i < 16; i++) {
        state = box_$n[(u8)(in(i + $i) ^ state)];
        mix(state);
        if (inverse_$n[state] > $b) state ^= in(i);
        box_$n[i] ^= state;
    }
    mix(box_$n[in($i)]);
    mix(inverse_$n[box_$n[in($i)]]);
}

//: ctype
static void unit_$n(void) {
    u32 counts[8] = {0};
    for (size_t i = 0; i < 32; i++) {
        u8 byte = in(i + $i);
        counts[0] += isalpha(byte) != 0;
        counts[1] += isdigit(byte) != 0;
        counts[2] += isspace(byte) != 0;
        counts[3] += ispunct(byte) != 0;
        counts[4] += isxdigit(byte) != 0;
        if (iscntrl(byte)) counts[5]++;
        if (isgraph(byte) && !isalnum(byte)) counts[6] ^= (u32)tolower(byte);
        counts[7] = counts[7] * 3 + (u32)toupper(byte);
    }
    for (int i = 0; i < 8; i++) mix(counts[i]);
}

//: histogram
static void unit_$n(void) {
    u16 counts[256] = {0};
    for (size_t i = 0; i < 24; i++) counts[in(i + $i)]++;
    unsigned most = 0, different = 0;
    for (unsigned i = 0; i < 256; i++) {
        if (counts[i]) different++;
        if (counts[i] > counts[most]) most = i;
    }
    mix(most);
    mix(different);
    mix(counts[in($i)]);
    u8 order[16];
    for (u8 i = 0; i < 16; i++) order[i] = i;
    for (u8 i = 0; i < 16; i++) {
        u8 other = in(i) & 15, held = order[i];
        order[i] = order[other];
        order[other] = held;
    }
    mix_bytes(order, sizeof order);
}

//: keywords
static const struct { const char *word; i16 code; } words_$n[] = {
    {"abc", 1}, {"end.", $b}, {"key", -3}, {"x", 4}, {"zebra", 500}, {"--long", $s},
};

static void unit_$n(void) {
    for (unsigned i = 0; i < 3; i++) {
        i16 code = -99;
        for (size_t k = 0; k < COUNT(words_$n); k++) {
            const char *word = words_$n[k].word, *at = arg(i);
            while (*word && *word == *at) word++, at++;
            if (!*word && (!*at || *at == '=')) code = words_$n[k].code;
        }
        mix((u16)code);
        size_t low = 0, high = COUNT(words_$n) - 1;
        while (low < high) {
            size_t middle = (low + high) / 2;
            if (strcmp(words_$n[middle].word, arg(i)) < 0) low = middle + 1;
            else high = middle;
        }
        mix(low);
        mix((u8)words_$n[in(i) % COUNT(words_$n)].word[0]);
    }
}

//: matrix
static void unit_$n(void) {
    static const i32 factors[3][3] = {{1, -$s, 3}, {$s, 5, -6}, {7, $s, $s}};
    i32 a[3][3], b[3][3] = {{0}};
    for (int i = 0; i < 9; i++) a[i / 3][i % 3] = in((u64)i) - 60;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int m = 0; m < 3; m++) b[i][k] += a[i][m] * factors[m][k];
    int row = in($i) % 3, column = in($i) % 3;
    mix((u32)b[row][column]);
    b[column][row] = a[row][row];
    for (int i = 0; i < 9; i++) mix((u32)b[i / 3][i % 3]);
    if (b[0][0] > b[1][1] && b[2][2] != b[0][2]) mix($k);
}

//: sieve
static bool composite_$n[64];

static void unit_$n(void) {
    for (unsigned i = 2; i < 64; i++)
        if (!composite_$n[i])
            for (unsigned k = i * 2; k < 64; k += i) composite_$n[k] = true;
    unsigned primes = 0;
    for (int i = 0; i < 20; i++) {
        u8 byte = in((u64)i + $i);
        if (!composite_$n[byte & 63]) primes++;
        if (byte > $b) composite_$n[byte % 61] ^= 1;
    }
    mix(primes);
}

//: memo
static u64 memo_$n[20];
static unsigned calls_$n;

static u64 count_$n(unsigned n) {
    static u8 last;
    calls_$n++;
    last = (u8)(last * 3 + n);
    if (n < 2) return n + (last & 1);
    if (memo_$n[n]) return memo_$n[n];
    return memo_$n[n] = count_$n(n - 1) + count_$n(n - 2) * $s + 1;
}

static void unit_$n(void) {
    mix(count_$n(in($i) % 20));
    mix(count_$n(5 + in($i) % 10));
    mix(calls_$n);
    mix(memo_$n[in($i) % 20]);
}
