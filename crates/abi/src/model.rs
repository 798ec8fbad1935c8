//! The libc functions that have a model in the traced program.
//!
//! The plug-in replaces every use of such a function (calls and function pointers alike) by
//! `__plx_m_<model>`, unless the module defines it itself; when another part
//! of the program defines it, the relink maps the model back to that
//! definition. Several symbols can share one model: glibc's headers rename
//! functions depending on language standard and fortification, and on x86-64
//! `long`, `long long` and `intmax_t` are one type.
//!
//! Models are defined in `crates/runtime`: those that move labels about in
//! Rust (`src/models`), those that compute or decide something in C
//! (`models/*.c`), compiled and instrumented like any module of the program. In a
//! module of models nothing is replaced: its calls reach the real functions,
//! unless they name a model.

/// A table of symbols; `symbol=model` where the model has another name.
macro_rules! models {
    (@ $symbol:ident) => { stringify!($symbol) };
    (@ $symbol:ident $model:ident) => { stringify!($model) };
    ($($symbol:ident $(=$model:ident)?)*) => {
        &[$((stringify!($symbol), models!(@ $symbol $($model)?))),*]
    };
}

/// `(symbol, model)`: uses of `symbol` become uses of `__plx_m_<model>`. Sorted by symbol.
pub const MODELS: &[(&str, &str)] = models! {
    _Exit=_exit _IO_fclose=fclose _IO_fgets=fgets _IO_fread=fread _IO_getc=fgetc _IO_ungetc=ungetc __VERIFIER_assume
    __VERIFIER_error __VERIFIER_nondet_S16 __VERIFIER_nondet_S32 __VERIFIER_nondet_S64 __VERIFIER_nondet_S8
    __VERIFIER_nondet_U16 __VERIFIER_nondet_U32 __VERIFIER_nondet_U64 __VERIFIER_nondet_U8 __VERIFIER_nondet__Bool
    __VERIFIER_nondet_bool __VERIFIER_nondet_char __VERIFIER_nondet_charp __VERIFIER_nondet_const_char_pointer
    __VERIFIER_nondet_double __VERIFIER_nondet_float __VERIFIER_nondet_int __VERIFIER_nondet_int128
    __VERIFIER_nondet_loff_t __VERIFIER_nondet_long __VERIFIER_nondet_longlong __VERIFIER_nondet_memory
    __VERIFIER_nondet_pchar __VERIFIER_nondet_pointer __VERIFIER_nondet_pthread_t __VERIFIER_nondet_schar
    __VERIFIER_nondet_sector_t __VERIFIER_nondet_short __VERIFIER_nondet_size_t __VERIFIER_nondet_u16
    __VERIFIER_nondet_u32 __VERIFIER_nondet_u64 __VERIFIER_nondet_u8 __VERIFIER_nondet_uchar __VERIFIER_nondet_uint
    __VERIFIER_nondet_uint128 __VERIFIER_nondet_ulong __VERIFIER_nondet_ulonglong __VERIFIER_nondet_unsigned
    __VERIFIER_nondet_unsigned_int __VERIFIER_nondet_ushort __asprintf_chk __assert_fail __explicit_bzero_chk
    __fgets_chk __fgets_unlocked_chk __fgetws_chk __fgetws_unlocked_chk=__fgetws_chk __fread_chk __fread_unlocked_chk
    __getdelim=getdelim __isoc23_fscanf __isoc23_scanf __isoc23_sscanf __isoc23_strtoimax=__isoc23_strtol
    __isoc23_strtol __isoc23_strtoll=__isoc23_strtol __isoc23_strtoul __isoc23_strtoull=__isoc23_strtoul
    __isoc23_strtoumax=__isoc23_strtoul __isoc23_vfscanf __isoc23_vscanf __isoc23_vsscanf __isoc99_fscanf
    __isoc99_fwscanf __isoc99_scanf __isoc99_sscanf __isoc99_vfscanf __isoc99_vfwscanf __isoc99_vscanf
    __isoc99_vsscanf __isoc99_vwscanf __isoc99_wscanf __mbrlen=mbrlen __mbsnrtowcs_chk __mbsrtowcs_chk __mbstowcs_chk
    __memcmpeq=bcmp __memcpy_chk __memmove_chk __mempcpy=mempcpy __mempcpy_chk __memset_chk __open64_2=__open_2
    __open_2 __openat64_2=__openat_2 __openat_2 __posix_getopt __pread64=pread __pread64_chk=__pread_chk __pread_chk
    __rawmemchr=rawmemchr __read=read __read_chk __recv_chk __recvfrom_chk __sigaction=sigaction __snprintf_chk
    __sprintf_chk __stpcpy=stpcpy __stpcpy_chk __stpncpy=stpncpy __stpncpy_chk __strcasecmp=strcasecmp __strcat_chk
    __strchrnul=strchrnul __strcpy_chk __strdup=strdup __strncat_chk __strncpy_chk __strndup=strndup __strsep=strsep
    __strtod_internal __strtof_internal __strtok_r=strtok_r __strtol_internal __strtold_internal
    __strtoll_internal=__strtol_internal __strtoul_internal __strtoull_internal=__strtoul_internal
    __strverscmp=strverscmp __sysv_signal __uflow __underflow __vasprintf_chk __vsnprintf_chk __vsprintf_chk
    __wcpcpy_chk __wcpncpy_chk __wcrtomb_chk __wcscat_chk __wcscpy_chk __wcsncat_chk __wcsncpy_chk __wcsnrtombs_chk
    __wcsrtombs_chk __wcstombs_chk __wctomb_chk __wmemcpy_chk __wmemmove_chk __wmempcpy_chk __wmemset_chk _exit
    _obstack_newchunk abs accept accept4 access aligned_alloc asctime_r asprintf atof atoi atol atoll=atol bcmp bcopy
    bsd_signal=signal bsearch btowc bzero c32rtomb=wcrtomb calloc chdir chmod chown clock_getres clock_gettime creat
    creat64=creat ctime_r dcngettext div dngettext eaccess=euidaccess euidaccess explicit_bzero faccessat fchmodat
    fchownat fclose fgetc fgetc_unlocked fgets fgets_unlocked fgetwc fgetwc_unlocked fgetws fgetws_unlocked fnmatch
    fopen fopen64=fopen fread fread_unlocked free freopen freopen64=freopen fscanf fseek fseeko fseeko64=fseeko
    fsetpos fsetpos64=fsetpos fstat fstat64=fstat fstatat fstatat64=fstatat fstatfs fstatfs64=fstatfs fstatvfs
    fstatvfs64=fstatvfs fwscanf getc=fgetc getc_unlocked=fgetc_unlocked getchar getchar_unlocked getcwd getdelim
    gethostname getline getopt getopt_long getopt_long_only getrlimit getrlimit64=getrlimit getrusage gettimeofday
    getwc=fgetwc getwc_unlocked=fgetwc_unlocked getwchar getwchar_unlocked gmtime_r iconv imaxabs=labs imaxdiv=ldiv
    index=strchr isalnum isalpha isascii isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper
    iswalnum iswalpha iswblank iswcntrl iswctype iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper
    iswxdigit isxdigit klee_abort klee_alias_function klee_assume klee_check_memory_access klee_choose
    klee_close_merge klee_define_fixed_object klee_get_value_i32 klee_get_value_i64 klee_get_valued klee_get_valuef
    klee_get_valuel klee_get_valuell klee_int klee_is_replay klee_is_symbolic klee_make_symbolic klee_mark_global
    klee_merge klee_open_merge klee_posix_prefer_cex klee_prefer_cex klee_print_expr klee_print_range klee_range
    klee_report_error klee_set_forking klee_silent_exit klee_stack_trace klee_warning klee_warning_once labs lchown
    ldiv lfind link linkat llabs=labs lldiv=ldiv localtime_r lsearch lstat lstat64=lstat lutimes malloc mblen mbrlen
    mbrtoc32=mbrtowc mbrtowc mbsinit mbsnrtowcs mbsrtowcs mbstowcs mbtowc memalign memccpy memchr memcmp memcpy memmem
    memmove mempcpy memrchr memset mkdir mkdirat mkdtemp mkfifo mkfifoat mknod mknodat mkostemp mkostemp64=mkostemp
    mkstemp mkstemp64=mkstemp mkstemps mkstemps64=mkstemps mktime mlockall mmap mmap64=mmap mremap munmap nanosleep
    ngettext open open64=open openat openat64=openat opendir pathconf pipe pipe2 poll popen posix_memalign pread
    pread64=pread preadv preadv2 preadv64=preadv preadv64v2=preadv2 pvalloc qsort qsort_r rawmemchr re_compile_pattern
    re_match re_search reach_error read readlink readlinkat readv realloc reallocarray realpath recv recvfrom recvmsg
    regcomp regexec regfree remove rename renameat renameat2 rewind rindex=strrchr rmdir scanf select sigaction signal
    snprintf socketpair sprintf sscanf ssignal=signal stat stat64=stat statfs statfs64=statfs statvfs
    statvfs64=statvfs statx stpcpy stpncpy strcasecmp strcasestr strcat strchr strchrnul strcmp strcoll strcpy strcspn
    strdup strftime strlen strncasecmp strncat strncmp strncpy strndup strnlen strpbrk strptime strrchr strsep strspn
    strstr strtod strtof strtof32=strtof strtof32x=strtod strtof64=strtod strtof64x=strtold strtoimax=strtol strtok
    strtok_r strtol strtold strtoll=strtol strtoq=strtol strtoul strtoull=strtoul strtoumax=strtoul strtouq=strtoul
    strverscmp strxfrm symlink symlinkat sysinfo tcgetattr tdelete tfind time timegm times toascii tolower toupper
    towctrans towlower towupper truncate truncate64=truncate tsearch uname ungetc ungetwc unlink unlinkat utime
    utimensat utimes valloc vasprintf vfscanf vfwscanf vscanf vsnprintf vsprintf vsscanf vwscanf wait waitpid wcpcpy
    wcpncpy wcrtomb wcscasecmp wcscat wcschr wcschrnul wcscmp wcscoll wcscpy wcscspn wcsdup wcslen wcsncasecmp wcsncat
    wcsncmp wcsncpy wcsnlen wcsnrtombs wcspbrk wcsrchr wcsrtombs wcsspn wcsstr wcstok wcstombs wcswcs=wcsstr wcswidth
    wcsxfrm wctob wctomb wctrans wctype wcwidth wmemchr wmemcmp wmemcpy wmemmove wmempcpy wmemset wscanf
};

/// The model that uses of `symbol` are bound to.
pub fn model_of(symbol: &str) -> Option<&'static str> {
    let at = MODELS
        .binary_search_by_key(&symbol, |(name, _)| name)
        .ok()?;
    Some(MODELS[at].1)
}

/// Functions that only write what they are given to the outside: input that goes
/// into them is output, not lost precision. Sorted.
pub const OUTPUTS: &[&str] = &[
    "_IO_putc",
    "_IO_puts",
    "__dprintf_chk",
    "__fprintf_chk",
    "__fwprintf_chk",
    "__overflow",
    "__printf_chk",
    "__syslog_chk",
    "__vdprintf_chk",
    "__vfprintf_chk",
    "__vfwprintf_chk",
    "__vprintf_chk",
    "__vsyslog_chk",
    "__vwprintf_chk",
    "__woverflow",
    "__wprintf_chk",
    "dprintf",
    "err",
    "error",
    "error_at_line",
    "errx",
    "fprintf",
    "fputc",
    "fputc_unlocked",
    "fputs",
    "fputs_unlocked",
    "fputwc",
    "fputwc_unlocked",
    "fputws",
    "fputws_unlocked",
    "fwprintf",
    "fwrite",
    "fwrite_unlocked",
    "perror",
    "printf",
    "psignal",
    "putc",
    "putc_unlocked",
    "putchar",
    "putchar_unlocked",
    "puts",
    "putw",
    "putwc",
    "putwc_unlocked",
    "putwchar",
    "putwchar_unlocked",
    "pwrite",
    "pwrite64",
    "pwritev",
    "send",
    "sendmsg",
    "sendto",
    "syslog",
    "vdprintf",
    "verr",
    "verrx",
    "vfprintf",
    "vfwprintf",
    "vprintf",
    "vsyslog",
    "vwarn",
    "vwarnx",
    "vwprintf",
    "warn",
    "warnx",
    "wprintf",
    "write",
    "writev",
];

/// Whether a function without model only writes output.
pub fn is_output(symbol: &[u8]) -> bool {
    OUTPUTS
        .binary_search_by_key(&symbol, |name| name.as_bytes())
        .is_ok()
}

/// Functions that take a format, by which argument it is. Sorted by name.
const FORMATS: &[(&str, u32)] = &[
    ("__dprintf_chk", 2),
    ("__fprintf_chk", 2),
    ("__printf_chk", 1),
    ("__syslog_chk", 2),
    ("__vdprintf_chk", 2),
    ("__vfprintf_chk", 2),
    ("__vprintf_chk", 1),
    ("__vsyslog_chk", 2),
    ("dprintf", 1),
    ("err", 1),
    ("error", 2),
    ("error_at_line", 4),
    ("errx", 1),
    ("fprintf", 1),
    ("printf", 0),
    ("syslog", 1),
    ("vdprintf", 1),
    ("verr", 1),
    ("verrx", 1),
    ("vfprintf", 1),
    ("vprintf", 0),
    ("vsyslog", 1),
    ("vwarn", 0),
    ("vwarnx", 0),
    ("warn", 0),
    ("warnx", 0),
];

/// Which argument of a function without model is a format.
pub fn format_argument(symbol: &str) -> Option<u32> {
    let found = FORMATS.binary_search_by_key(&symbol, |(name, _)| name);
    Some(FORMATS[found.ok()?].1)
}

/// Which arguments of a function without model say what it writes out: the first byte, and factors of how many.
pub fn written_range(symbol: &str) -> Option<(u32, &'static [u32])> {
    match symbol {
        "write" | "pwrite" | "pwrite64" | "send" | "sendto" => Some((1, &[2])),
        "fwrite" | "fwrite_unlocked" => Some((0, &[1, 2])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_of_the_table_is_found_in_it() {
        for (symbol, model) in MODELS {
            assert_eq!(model_of(symbol), Some(*model));
        }
        assert!(MODELS.is_sorted());
        assert_eq!(model_of("printf"), None);
        assert!(OUTPUTS.is_sorted());
        assert!(FORMATS.is_sorted());
        assert_eq!(format_argument("fprintf"), Some(1));
        assert_eq!(format_argument("puts"), None);
        assert!(
            OUTPUTS
                .iter()
                .all(|name| is_output(name.as_bytes()) && model_of(name).is_none())
        );
    }
}
