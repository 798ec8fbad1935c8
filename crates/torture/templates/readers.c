static void take(int byte, size_t limit) {
    if (in_len < limit) in_bytes[in_len++] = (u8)byte;
}

/* Reads the stream to its end, or to `limit` bytes of input altogether. */
static void read_input(FILE *stream, size_t limit) {
$[    int byte;
    while (in_len < limit && (byte = fgetc(stream)) != EOF) take(byte, limit);
$|    int byte;
    while (in_len < limit && (byte = getc_unlocked(stream)) != EOF) take(byte, limit);
$|    u8 buffer[$p];
    size_t got;
    while ((got = fread(buffer, 1, sizeof buffer, stream)) > 0)
        for (size_t i = 0; i < got; i++) take(buffer[i], limit);
$|    char line[16 + $s];
    while (fgets(line, sizeof line, stream))
        for (const char *at = line; *at; at++) take(*at, limit);
$|    u8 buffer[$p];
    ssize_t got;
    while ((got = read(fileno(stream), buffer, sizeof buffer)) > 0)
        for (ssize_t i = 0; i < got; i++) take(buffer[i], limit);
$|    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    while ((length = $[getline(&line, &capacity, stream)$|getdelim(&line, &capacity, $b, stream)$]) > 0)
        for (ssize_t i = 0; i < length; i++) take(line[i], limit);
    free(line);
$|    int byte;
    bool again = false;
    while (in_len < limit && (byte = getc(stream)) != EOF) {
        if (byte == $b && !again) {
            again = true;
            ungetc(byte ^ 1, stream);
            continue;
        }
        again = false;
        take(byte, limit);
    }
$|    char word[12];
    while (in_len < limit && fscanf(stream, "%11s", word) == 1)
        for (size_t i = 0; word[i]; i++) take(word[i], limit);
$|    struct stat about;
    static u8 whole[IN_MAX];
    if (fstat(fileno(stream), &about) == 0 && S_ISREG(about.st_mode)) {
        ssize_t got = pread(fileno(stream), whole, sizeof whole, 0);
        for (ssize_t i = 0; i < got; i++) take(whole[i], limit);
    } else {
        int byte;
        while (in_len < limit && (byte = getchar()) != EOF) take(byte, limit);
    }
$]}

