//: calculator
/* A recursive descent parser over the input; a budget bounds the nesting. */
struct parser_$n { const char *at; unsigned budget; };
static u32 sum_$n(struct parser_$n *parser);

static u32 atom_$n(struct parser_$n *parser) {
    if (parser->budget == 0) return 1;
    parser->budget--;
    while (*parser->at == ' ') parser->at++;
    if (*parser->at == '(') {
        parser->at++;
        u32 value = sum_$n(parser);
        if (*parser->at == ')') parser->at++;
        return value;
    }
    if (*parser->at == '-') {
        parser->at++;
        return -atom_$n(parser);
    }
    u32 value = 0;
    while (*parser->at >= '0' && *parser->at <= '9') value = value * 10 + (u32)(*parser->at++ - '0');
    return value;
}
static u32 term_$n(struct parser_$n *parser) {
    u32 value = atom_$n(parser);
    for (;;) {
        char op = *parser->at;
        if ((op != '*' && op != '/') || !parser->budget) return value;
        parser->at++;
        u32 right = atom_$n(parser);
        value = op == '*' ? value * right : div_u32(value, right);
    }
}
static u32 sum_$n(struct parser_$n *parser) {
    u32 value = term_$n(parser);
    while ((*parser->at == '+' || *parser->at == '-') && parser->budget) {
        char op = *parser->at++;
        u32 right = term_$n(parser);
        value = op == '+' ? value + right : value - right;
    }
    return value;
}

static void unit_$n(void) {
    for (unsigned i = 0; i < 3; i++) {
        struct parser_$n parser = {arg(i), 30};
        mix(sum_$n(&parser));
        mix((u64)(parser.at - arg(i)));
    }
    char text[] = "(1+2)*$s-8/($s+1)";
    text[1] = (char)('0' + in($i) % 10);
    text[6] = "+-*/)"[in($i) % 5];
    struct parser_$n parser = {text, 40};
    mix(sum_$n(&parser));
}

//: mutual
static u32 odd_$n(u32 n, u32 value);
static u32 even_$n(u32 n, u32 value) { return n == 0 ? value : odd_$n(n - 1, $e{u32: value u32, n u32}); }
static u32 odd_$n(u32 n, u32 value) { return n == 0 ? ~value : even_$n(n - 1, value + $k); }

static u32 ways_$n(u32 n, u32 depth) {
    if (n < 2 || depth == 0) return n;
    return ways_$n(n - 1 - (n & 1), depth - 1) + ways_$n(n / 2, depth - 1);
}

static void unit_$n(void) {
    mix(even_$n(in($i) % 12, in($i)));
    mix(ways_$n(in($i), 8));
}

//: permutations
static unsigned seen_$n;

static void permute_$n(u8 *items, unsigned from, unsigned count) {
    if (from == count) {
        seen_$n++;
        if (items[0] < items[count - 1]) mix(items[1] + seen_$n);
        return;
    }
    for (unsigned i = from; i < count; i++) {
        u8 held = items[from];
        items[from] = items[i];
        items[i] = held;
        permute_$n(items, from + 1, count);
        items[i] = items[from];
        items[from] = held;
    }
}

static void unit_$n(void) {
    u8 items[4];
    for (size_t i = 0; i < 4; i++) items[i] = in(i * $s);
    permute_$n(items, 0, 4);
    mix(seen_$n);
}

//: quicksort
static void sort_$n(i16 *values, int low, int high) {
    while (high - low > 1) {
        i16 pivot = values[low + (high - low) / 2];
        int left = low, right = high - 1;
        while (left <= right) {
            while (values[left] < pivot) left++;
            while (values[right] > pivot) right--;
            if (left <= right) {
                i16 held = values[left];
                values[left++] = values[right];
                values[right--] = held;
            }
        }
        sort_$n(values, low, right + 1);
        low = left;
    }
}

static void unit_$n(void) {
    i16 values[15];
    for (size_t i = 0; i < COUNT(values); i++) values[i] = (i16)(in(i) * $s - 300);
    sort_$n(values, 0, COUNT(values));
    for (size_t i = 0; i < COUNT(values); i++) mix((u16)values[i]);
}

//: flood
static u32 fill_$n(u8 grid[6][6], int x, int y, u8 from) {
    if (from == 9 || x < 0 || y < 0 || x >= 6 || y >= 6 || grid[y][x] != from) return 0;
    grid[y][x] = 9;
    return 1 + fill_$n(grid, x + 1, y, from) + fill_$n(grid, x - 1, y, from) + fill_$n(grid, x, y + 1, from) +
           fill_$n(grid, x, y - 1, from);
}

static void unit_$n(void) {
    u8 grid[6][6];
    for (int y = 0; y < 6; y++)
        for (int x = 0; x < 6; x++) grid[y][x] = in((u64)(y * 6 + x)) & 1;
    for (int i = 0; i < 6; i++) mix(fill_$n(grid, i, in((u64)i) % 6, grid[i % 6][i]) > 3);
    mix_bytes(grid, sizeof grid);
}
