//: words
static void unit_$n(void) {
    char *text = in_text($i, 45);
    unsigned words = 0, capitals = 0, longest = 0, current = 0;
    bool inside = false;
    for (char *at = text; *at; at++) {
        bool letter = $[isalpha((u8)*at)$|(*at | 32) >= 'a' && (*at | 32) <= 'z'$|!isspace((u8)*at)$];
        if (letter && !inside) words++, current = 0;
        inside = letter;
        if (inside && ++current > longest) longest = current;
        if (isupper((u8)*at)) capitals++;
        *at = (char)($[toupper$|tolower$]((u8)*at));
    }
    mix(words);
    mix(capitals);
    mix(longest);
    mix_text(text);
    free(text);
}

//: library
static void unit_$n(void) {
    const char *a = arg(0), *b = arg(1);
    mix(strlen(a) * 100 + strlen(b));
    mix(strcmp(a, b) < 0);
    mix(strncmp(a, b, $s) > 0);
    mix(strcmp(a, "$[abc$|0$|--long$|x$]") == 0);
    mix(strcasecmp(a, "ZEBRA") == 0);
    const char *at = strchr(a, $['=' $|',' $|'e'$]);
    mix(at ? (u64)(at - a) : 99);
    at = strrchr(b, $['.'$|'a'$]);
    mix(at ? (u64)(at - b) : 98);
    at = strstr(a, "$[e$|ar$|1$]");
    mix(at ? (u64)(at - a) : 97);
    mix(strspn(a, "0123456789-+"));
    mix(strcspn(b, ",;:= "));
    at = strpbrk(b, "aeiou");
    mix(at ? (u8)*at : 96);
    char room[32];
    strncpy(room, a, sizeof room - 1);
    room[sizeof room - 1] = 0;
    mix_text(room);
    strncat(room, b, sizeof room - 1 - strlen(room));
    mix_text(room);
    char *copy = need(strdup(room));
    mix(strlen(copy));
    free(copy);
    copy = need(strndup(a, $s));
    mix_text(copy);
    free(copy);
}

//: numbers
static void unit_$n(void) {
    for (unsigned i = 0; i < 3; i++) {
        char *end;
        errno = 0;
        long value = strtol(arg(i), &end, $[10$|0$|16$|8$]);
        mix((u64)value);
        mix((u64)(end - arg(i)));
        mix(errno == ERANGE);
        if (*end) mix((u8)*end);
        if (value > $b) mix(1);
        else if (value < 0) mix(2);
        mix(strtoul(arg(i), NULL, 10));
        mix((u32)atoi(arg(i)));
    }
    int a = -1, b = -2;
    char word[8] = "";
    char *text = in_text($i, 12);
    int got = sscanf(text, "%d%n %7[a-z]", &a, &b, word);
    mix((u32)got);
    mix((u32)a);
    mix((u32)b);
    mix_text(word);
    free(text);
}

//: split
static void unit_$n(void) {
    char *text = in_text($i, 40);
    char *rest = text, *token;
    unsigned count = 0;
    while (count < 20 && (token = $[strsep(&rest, " ,;:\n")$|strtok_r(count ? NULL : text, ",=; \t\n", &rest)$|strtok(count ? NULL : text, "\n ,")$])) {
        count++;
        mix_text(token);
        if (!strcmp(token, "abc")) mix($k);
        else if (token[0] == '-') mix((u8)token[1]);
    }
    mix(count);
    free(text);
}

//: format
static void unit_$n(void) {
    char room[96];
    u8 a = in($i), b = in($i);
    int length = snprintf(room, sizeof room, "%d|%5u|%-6x|%c|%s|%+ld|%08.3f|%%", a - 100, b * 77u, a * 257u,
                          isprint(b) ? b : '?', arg(0), (long)a * b, b / 7.0);
    mix((u32)length);
    mix_text(room);
    length = snprintf(room, $s + 3, "%s=%d", arg(1), b);
    mix((u32)length);
    mix_text(room);
    puts(room);
    sprintf(room, "%.*s<%*d>", $s, arg(2), $s, a);
    mix_text(room);
    printf("%s %u\n", room, b);
}

//: pattern
static bool match_$n(const char *pattern, const char *text, unsigned budget) {
    if (!budget) return false;
    if (!*pattern) return !*text;
    if (*pattern == '*') return match_$n(pattern + 1, text, budget - 1) || (*text && match_$n(pattern, text + 1, budget - 1));
    if (!*text) return false;
    if (*pattern == '?' || *pattern == *text) return match_$n(pattern + 1, text + 1, budget - 1);
    return false;
}

static void unit_$n(void) {
    char *text = in_text($i, 8);
    mix(match_$n("*$[a$|1$|e$]*?", text, 25));
    mix(match_$n("?*$[b$|0$| $]", text, 25));
    mix(match_$n(arg(1), text, 20));
    mix(match_$n("*", arg(0), 60));
    free(text);
}

//: edit_distance
static void unit_$n(void) {
    char *a = in_text($i, 7);
    const char *b = "$[kitten$|12345$|sample$]";
    u8 row[8], previous[8];
    size_t width = strlen(b);
    for (size_t i = 0; i <= width; i++) previous[i] = (u8)i;
    for (size_t k = 1; a[k - 1]; k++) {
        row[0] = (u8)k;
        for (size_t i = 1; i <= width; i++) {
            u8 best = (u8)(previous[i - 1] + (a[k - 1] != b[i - 1]));
            if (previous[i] + 1 < best) best = (u8)(previous[i] + 1);
            if (row[i - 1] + 1 < best) best = (u8)(row[i - 1] + 1);
            row[i] = best;
        }
        memcpy(previous, row, sizeof row);
    }
    mix(previous[width]);
    free(a);
}

//: reverse
static void unit_$n(void) {
    char *text = in_text($i, 21);
    size_t length = strlen(text);
    for (char *low = text, *high = text + length - 1; low < high; low++, high--) {
        char held = *low;
        *low = *high;
        *high = held;
    }
    mix_text(text);
    bool same = true;
    for (size_t i = 0; i < length / 2; i++) same &= text[i] == text[length - 1 - i];
    mix(same);
    size_t to = 0;
    for (size_t from = 0; text[from]; from++)
        if (to == 0 || text[from] != text[to - 1]) text[to++] = text[from];
    text[to] = 0;
    mix_text(text);
    wchar_t wide[24];
    for (size_t i = 0; i <= to; i++) wide[i] = (wchar_t)((u8)text[i] * $s);
    mix(wcslen(wide));
    for (size_t i = 0; i < to; i++) mix((u32)wide[i] ^ (u32)L"parallax"[i & 7]);
    free(text);
}
