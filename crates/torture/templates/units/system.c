//: thread
struct job_$n { u8 from; u32 result; };

static void *work_$n(void *opaque) {
    struct job_$n *job = opaque;
    u32 total = job->from;
    for (size_t i = 0; i < 10; i++) {
        total = total * 33 + in(i + job->from);
        if (total % $p == 0) total++;
    }
    job->result = total;
    return (void *)(uintptr_t)(total & 0xffff);
}

static void unit_$n(void) {
    struct job_$n jobs[2] = {{in($i), 0}, {in($i), 0}};
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        void *result;
        if (pthread_create(&thread, NULL, work_$n, &jobs[i])) exit(98);
        if (pthread_join(thread, &result)) exit(98);
        mix((uintptr_t)result);
        mix(jobs[i].result);
        if (jobs[i].result > $k) mix(1);
    }
}

//: process
static void unit_$n(void) {
    int ends[2];
    if (pipe(ends)) exit(97);
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) exit(97);
    u8 bytes[16];
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = in(i + $i);
    if (child == 0) {
        for (size_t i = 0; i < sizeof bytes; i++) bytes[i] ^= (u8)(bytes[(i + 1) % sizeof bytes] + $b);
        if (bytes[0] > 100) bytes[1] = 7;
        ssize_t wrote = write(ends[1], bytes, sizeof bytes);
        _exit(wrote == sizeof bytes ? bytes[3] & 31 : 96);
    }
    close(ends[1]);
    u8 answer[16] = {0};
    size_t got = 0;
    ssize_t more;
    while (got < sizeof answer && (more = read(ends[0], answer + got, sizeof answer - got)) > 0) got += (size_t)more;
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    mix(WIFEXITED(status) ? (u64)WEXITSTATUS(status) : 300);
    mix_bytes(answer, sizeof answer);
    if (answer[2] == bytes[2]) mix(2);
}

//: signal
static volatile sig_atomic_t caught_$n;
static u8 level_$n;

static void handler_$n(int number) {
    caught_$n = caught_$n + number;
    if (level_$n > $b) caught_$n = caught_$n + 1000;
}

static void unit_$n(void) {
    struct sigaction action = {0}, before;
    action.sa_handler = handler_$n;
    sigaction(SIGUSR1, &action, &before);
    for (int i = 0; i < 4; i++) {
        level_$n = in((u64)i + $i);
        if (level_$n & 1) raise(SIGUSR1);
        mix((u64)caught_$n);
    }
    sigaction(SIGUSR1, &before, NULL);
}

//: scratch_file
static void unit_$n(void) {
    FILE *file = tmpfile();
    if (!file) exit(95);
    for (size_t i = 0; i < 20; i++) fputc(in(i + $i), file);
    fprintf(file, "%s\n%d\n", arg(0), in($i));
    rewind(file);
    int byte, count = 0;
    while ((byte = getc(file)) != EOF && count++ < 60) {
        mix((u32)byte);
        if (byte == '\n') mix($k);
    }
    fseek(file, $s, SEEK_SET);
    u8 four[4] = {0};
    size_t got = fread(four, 1, 4, file);
    mix(got);
    mix_bytes(four, 4);
    mix((u64)ftell(file));
    fclose(file);
}

//: environment
static void unit_$n(void) {
    char value[12];
    snprintf(value, sizeof value, "%u", in($i));
    setenv("TORTURE_$n", value, 1);
    const char *back = getenv("TORTURE_$n");
    mix_text(back ? back : "unset");
    mix((u32)atoi(back ? back : "0") == in($i));
    unsetenv("TORTURE_$n");
    mix(getenv("TORTURE_$n") == NULL);
    struct stat about;
    mix((u32)stat(".", &about));
    mix(S_ISDIR(about.st_mode));
    mix(access("/nonexistent/$n", R_OK) == 0);
}

//: at_exit
static u8 last_$n;

static void farewell_$n(void) {
    printf("farewell %u%s\n", last_$n, last_$n > $b ? " high" : "");
}

static void unit_$n(void) {
    last_$n = in($i);
    atexit(farewell_$n);
    mix(last_$n);
}

__attribute__((constructor)) static void early_$n(void) { last_$n = $b; }
