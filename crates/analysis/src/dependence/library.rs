//! What functions of the C library do to memory: which of their arguments they read and write through, and which state of the
//! library's own they share.
//!
//! One line for each function, in a small language:
//!
//! | word | meaning |
//! |---|---|
//! | `rN`, `wN` | reads, writes what argument N points to |
//! | `r*N`, `w*N` | the same for N and all arguments behind it |
//! | `deep` | also what pointers in that memory point to |
//! | `errno`, `options`, `environment`, `random`, `locale` | writes that state; with `?` behind it: reads it |
//! | `stream` | takes from standard input or from an unknown stream, which then stands elsewhere |
//! | `out` | its effect is seen outside of the program |
//! | `end` | it ends the program, and its status is seen |
//!
//! Everything that a function reads and all its arguments go into its result and into everything that it writes. A function that
//! is not listed reads and writes all that its arguments lead to, and `errno`; numbers that it is given are not addresses.

/// State of the library that functions share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    Errno,
    Options,
    Environment,
    Random,
    Locale,
    Streams,
}

/// What one function does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    reads: u32,
    writes: u32,
    /// What it reads and writes goes on behind pointers that lie there.
    pub deep: bool,
    pub states_read: Vec<State>,
    pub states_written: Vec<State>,
    pub out: bool,
    pub end: bool,
}

impl Effect {
    pub fn reads(&self, argument: usize) -> bool {
        self.reads >> argument.min(31) & 1 == 1
    }

    pub fn writes(&self, argument: usize) -> bool {
        self.writes >> argument.min(31) & 1 == 1
    }

    /// Of a function of which nothing is known.
    fn unknown() -> Effect {
        Effect {
            reads: u32::MAX,
            writes: u32::MAX,
            deep: true,
            states_written: vec![State::Errno],
            ..Effect::default()
        }
    }

    fn parse(words: &str) -> Effect {
        let mut effect = Effect::default();
        for word in words.split_whitespace() {
            let bits = |text: &str| match text.strip_prefix('*') {
                Some(first) => u32::MAX << first.parse::<u32>().unwrap_or(0),
                None => 1 << text.parse::<u32>().unwrap_or(31),
            };
            let state = match word.trim_end_matches('?') {
                "errno" => Some(State::Errno),
                "options" => Some(State::Options),
                "environment" => Some(State::Environment),
                "random" => Some(State::Random),
                "locale" => Some(State::Locale),
                _ => None,
            };
            match (word, state) {
                (_, Some(state)) if word.ends_with('?') => effect.states_read.push(state),
                (_, Some(state)) => effect.states_written.push(state),
                ("stream", _) => {
                    effect.states_read.push(State::Streams);
                    effect.states_written.push(State::Streams);
                }
                ("deep", _) => effect.deep = true,
                ("out", _) => effect.out = true,
                ("end", _) => effect.end = true,
                _ => match word.split_at(1) {
                    ("r", rest) => effect.reads |= bits(rest),
                    (_, rest) => effect.writes |= bits(rest),
                },
            }
        }
        effect
    }
}

/// What a function outside of the program does.
pub fn effect(name: &str) -> Effect {
    let plain = plain(name);
    let known = TABLE
        .iter()
        .find(|(names, _)| names.split(' ').any(|one| one == plain));
    known.map_or_else(Effect::unknown, |(_, words)| Effect::parse(words))
}

/// Memory that a function gives the address of each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Same {
    /// State that other functions touch, too.
    State(State),
    /// Its own.
    Memory,
}

/// Functions that give the address of the same memory each time.
pub fn gives_the_same(name: &str) -> Option<Same> {
    match plain(name) {
        "errno_location" => Some(Same::State(State::Errno)),
        plain => SAME.contains(&plain).then_some(Same::Memory),
    }
}

/// Variables of the C library by the function that sets them.
pub fn variables(name: &str) -> &'static [&'static str] {
    match plain(name).starts_with("getopt") {
        true => &["optarg", "optind", "optopt", "opterr"],
        false => &[],
    }
}

/// The name without what fortification, language standards, locking and large files add to it.
fn plain(name: &str) -> &str {
    let name = name.strip_suffix("_chk").unwrap_or(name);
    let name = ["__isoc99_", "__isoc23_", "_IO_", "__"]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix))
        .unwrap_or(name);
    let name = name.strip_suffix("_unlocked").unwrap_or(name);
    match name {
        "fopen64" | "open64" | "lseek64" | "stat64" | "lstat64" | "fstat64" | "fseeko64"
        | "ftello64" | "freopen64" | "readdir64" | "creat64" | "truncate64" | "ftruncate64" => {
            &name[..name.len() - 2]
        }
        _ => name,
    }
}

const SAME: &[&str] = &[
    "ctype_b_loc",
    "ctype_tolower_loc",
    "ctype_toupper_loc",
    "localtime",
    "gmtime",
    "ctime",
    "asctime",
    "strerror",
    "setlocale",
    "localeconv",
    "nl_langinfo",
    "getenv",
    "getpwuid",
    "getpwnam",
    "getgrgid",
    "getgrnam",
];

const TABLE: &[(&str, &str)] = &[
    // Texts and memory.
    ("strlen strnlen wcslen", "r0"),
    (
        "strcmp strncmp strcasecmp strncasecmp memcmp bcmp strstr strcasestr strspn strcspn strpbrk wcscmp",
        "r0 r1",
    ),
    ("strcoll wcscoll", "r0 r1 locale?"),
    (
        "strchr strrchr strchrnul index rindex memchr memrchr rawmemchr wcschr",
        "r0",
    ),
    (
        "memcpy memmove mempcpy strcpy stpcpy strncpy stpncpy wmemcpy",
        "r1 w0",
    ),
    ("strcat strncat", "r0 r1 w0"),
    ("strxfrm", "r1 w0 locale?"),
    ("memset bzero explicit_bzero", "w0"),
    ("strdup strndup wcsdup", "r0"),
    ("strtok", "r0 r1 w0"),
    ("strtok_r strsep", "r0 r1 r2 w0 w2 deep"),
    ("bcopy", "r0 w1"),
    // Numbers.
    ("atoi atol atoll atof", "r0"),
    (
        "strtol strtoul strtoll strtoull strtod strtof strtold strtoimax strtoumax",
        "r0 w1 errno",
    ),
    (
        "abs labs llabs div ldiv fabs floor ceil sqrt pow fmod log exp sin cos round trunc rint",
        "",
    ),
    ("rand random lrand48 drand48", "random? random"),
    ("srand srandom srand48", "random"),
    // Characters.
    (
        "isalpha isdigit isalnum isspace isupper islower isprint ispunct isxdigit iscntrl isgraph isblank toupper tolower \
         iswalpha iswdigit iswalnum iswspace iswprint towupper towlower wcwidth btowc wctob",
        "locale?",
    ),
    (
        "ctype_b_loc ctype_tolower_loc ctype_toupper_loc ctype_get_mb_cur_max",
        "locale?",
    ),
    ("mbrtowc mbrlen mbtowc mblen", "r1 w0 r3 w3 locale? errno"),
    ("wcrtomb wctomb", "w0 r2 w2 locale?"),
    ("mbsinit", "r0"),
    ("setlocale", "r1 locale"),
    ("bindtextdomain textdomain", "r*0"),
    (
        "gettext dgettext dcgettext ngettext dcngettext",
        "r*0 locale?",
    ),
    ("nl_langinfo localeconv", "locale?"),
    // Memory.
    ("malloc calloc aligned_alloc memalign valloc", ""),
    ("realloc reallocarray", "r0"),
    ("free", ""),
    ("posix_memalign", "w0"),
    ("errno_location", ""),
    // Output.
    ("printf vprintf puts perror", "r*0 out"),
    ("putchar putc fputc fputwc putwc putwchar", "out"),
    ("fprintf vfprintf dprintf vdprintf fputs fwrite", "r*0 out"),
    ("write pwrite send", "r1 errno out"),
    (
        "error error_at_line warn warnx err errx verr verrx vwarn vwarnx",
        "r*0 errno? out",
    ),
    ("syslog", "r*0 out"),
    ("fflush", "errno out"),
    ("sprintf vsprintf", "w0 r*1"),
    ("snprintf vsnprintf", "w0 r*1"),
    ("asprintf vasprintf", "w0 r*1"),
    ("assert_fail assert_perror_fail", "r*0 out end"),
    ("abort exit _exit _Exit quick_exit", "out end"),
    ("stack_chk_fail", "end"),
    // Input.
    ("getchar getwchar", "stream"),
    (
        "getc fgetc getwc fgetwc uflow underflow ungetc ungetwc",
        "r0 w0 r1 w1 stream",
    ),
    ("fgets", "r2 w0 w2 stream"),
    ("gets", "w0 stream"),
    ("fread", "r3 w0 w3 stream"),
    ("getline", "r0 r1 r2 w0 w1 w2 deep stream errno"),
    ("getdelim", "r0 r1 r3 w0 w1 w3 deep stream errno"),
    ("read pread recv", "w1 stream errno"),
    ("scanf", "r0 w*1 stream"),
    ("fscanf", "r0 r1 w0 w*2 stream"),
    ("sscanf", "r0 r1 w*2"),
    // Files.
    (
        "fopen fdopen freopen popen opendir open openat creat unlink remove mkdir rmdir chdir access",
        "r*0 errno out",
    ),
    ("rename link symlink", "r*0 errno out"),
    ("fclose close pclose closedir", "w0 errno out"),
    ("fseek fseeko rewind fsetpos lseek", "w0 stream errno"),
    ("ftell ftello", "r0 errno"),
    ("feof ferror fileno", "r0"),
    ("clearerr", "w0"),
    ("setvbuf setbuf", "w0"),
    ("fpending freadahead", "r0"),
    ("stat lstat", "r0 w1 errno"),
    ("fstat", "w1 errno"),
    ("readdir", "r0 w0 errno"),
    ("isatty", "errno"),
    ("posix_fadvise posix_fadvise64 fadvise", ""),
    // The process and its surroundings.
    (
        "getopt getopt_long getopt_long_only",
        "r*0 deep options? options",
    ),
    ("getenv secure_getenv", "r0 environment?"),
    ("setenv putenv unsetenv clearenv", "r*0 environment"),
    ("atexit on_exit at_quick_exit", ""),
    (
        "signal sigaction sigemptyset sigaddset sigprocmask",
        "r1 w0 w2",
    ),
    ("time", "w0"),
    ("clock getpid getppid getuid geteuid getgid getegid", ""),
    ("gettimeofday clock_gettime", "w0 w1"),
    ("localtime gmtime ctime", "r0"),
    ("localtime_r gmtime_r", "r0 w1"),
    ("mktime timegm", "r0 w0"),
    ("strftime", "r2 r3 w0 locale?"),
    ("strerror", "locale?"),
    ("qsort qsort_r", "r0 w0"),
    ("bsearch lfind", "r0 r1"),
    ("setjmp _setjmp sigsetjmp", "w0"),
    ("longjmp siglongjmp", "r0"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_what_headers_add() {
        for (name, known) in [
            ("__strcpy_chk", "strcpy"),
            ("__isoc23_strtol", "strtol"),
            ("fputs_unlocked", "fputs"),
            ("__errno_location", "errno_location"),
            ("fopen64", "fopen"),
        ] {
            assert_eq!(plain(name), known);
        }
    }

    #[test]
    fn a_copy_reads_one_argument_and_writes_the_other() {
        let copy = effect("memcpy");
        assert!(copy.reads(1) && !copy.reads(0) && copy.writes(0) && !copy.writes(1));
        let print = effect("printf");
        assert!(print.out && print.reads(7) && !print.writes(7));
        let number = effect("strtol");
        assert_eq!(number.states_written, [State::Errno]);
    }

    #[test]
    fn what_is_not_listed_reads_and_writes_everything_that_it_is_given() {
        let unknown = effect("frobnicate");
        assert!(unknown.reads(3) && unknown.writes(3) && unknown.deep);
    }

    #[test]
    fn every_line_of_the_table_is_understood() {
        let known = [
            "deep",
            "stream",
            "out",
            "end",
            "errno",
            "options",
            "environment",
            "random",
            "locale",
        ];
        for (names, words) in TABLE {
            for word in words.split_whitespace() {
                let is_known = known.contains(&word.trim_end_matches('?'));
                let rest = word.trim_start_matches(['r', 'w']).trim_start_matches('*');
                assert!(is_known || rest.parse::<u32>().is_ok(), "{names}: {word}");
            }
        }
    }
}
