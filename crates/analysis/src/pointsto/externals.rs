//! What functions outside of the program do with pointers.

/// What the result of a function points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Result {
    /// Something that nobody else has.
    Fresh,
    /// What this argument points to.
    Argument(u32),
    /// Either.
    FreshOr(u32),
    /// Anything that it was given, or something new.
    Anything,
}

/// What the result of a function points to.
pub fn result(name: &str) -> Result {
    match plain(name) {
        "malloc"
        | "calloc"
        | "aligned_alloc"
        | "memalign"
        | "valloc"
        | "strdup"
        | "strndup"
        | "fopen"
        | "fdopen"
        | "opendir"
        | "popen"
        | "tmpfile"
        | "getenv"
        | "setlocale"
        | "nl_langinfo"
        | "gettext"
        | "strerror"
        | "readdir"
        | "getpwuid"
        | "getgrgid"
        | "getpwnam"
        | "getgrnam"
        | "localtime"
        | "gmtime"
        | "mmap"
        | "__ctype_b_loc"
        | "__ctype_tolower_loc"
        | "__ctype_toupper_loc"
        | "__errno_location"
        | "realpath"
        | "getcwd"
        | "ctime"
        | "localeconv"
        | "dlopen"
        | "dlsym" => Result::Fresh,
        "realloc" | "reallocarray" => Result::FreshOr(0),
        "memcpy" | "memmove" | "mempcpy" | "memset" | "strcpy" | "stpcpy" | "strcat"
        | "strncpy" | "strncat" | "strchr" | "strrchr" | "strchrnul" | "strstr" | "memchr"
        | "memrchr" | "rawmemchr" | "strpbrk" | "fgets" | "index" | "rindex" | "strtok"
        | "strcasestr" | "basename" | "dirname" | "localtime_r" | "gmtime_r" => Result::Argument(0),
        "bsearch" => Result::Argument(1),
        _ => Result::Anything,
    }
}

/// Functions that copy memory, from their second to their first argument.
pub fn copies(name: &str) -> bool {
    matches!(plain(name), "memcpy" | "memmove" | "mempcpy")
}

/// Functions that put the address of something new where this argument points to.
pub fn stores_fresh(name: &str) -> Option<u32> {
    match plain(name) {
        "getline" | "getdelim" | "asprintf" | "vasprintf" | "posix_memalign" | "open_memstream" => {
            Some(0)
        }
        _ => None,
    }
}

/// Functions that put their first argument where this one points to: the rest of what was read.
pub fn stores_rest(name: &str) -> Option<u32> {
    let plain = plain(name);
    plain.starts_with("strto").then_some(1)
}

/// A function that calls back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Callback {
    /// Which argument is called.
    pub function: u32,
    /// Parameter of the function that is called, and the argument that it points into.
    pub passes: &'static [(u32, u32)],
}

const fn one(function: u32, passes: &'static [(u32, u32)]) -> Callback {
    Callback { function, passes }
}

const CALLBACKS: &[(&str, &[Callback])] = &[
    ("qsort", &[one(3, &[(0, 0), (1, 0)])]),
    ("qsort_r", &[one(3, &[(0, 0), (1, 0), (2, 4)])]),
    ("bsearch", &[one(4, &[(0, 0), (1, 1)])]),
    ("lfind", &[one(4, &[(0, 0), (1, 1)])]),
    ("lsearch", &[one(4, &[(0, 0), (1, 1)])]),
    ("tsearch", &[one(2, &[(0, 0), (1, 0)])]),
    ("tfind", &[one(2, &[(0, 0), (1, 0)])]),
    ("tdelete", &[one(2, &[(0, 0), (1, 0)])]),
    ("twalk", &[one(1, &[(0, 0)])]),
    ("pthread_create", &[one(2, &[(0, 3)])]),
    ("thrd_create", &[one(1, &[(0, 2)])]),
    ("on_exit", &[one(0, &[(1, 1)])]),
    ("__cxa_atexit", &[one(0, &[(0, 1)])]),
];

/// The callbacks of functions that are known. Of all others it is assumed that they call whatever function they are given.
pub fn callbacks(name: &str) -> Option<&'static [Callback]> {
    let found = CALLBACKS.iter().find(|(known, _)| *known == name);
    found.map(|(_, callbacks)| *callbacks)
}

/// Functions that find what they call in memory that this argument points to.
pub fn calls_what_is_in(name: &str) -> Option<u32> {
    matches!(name, "sigaction" | "sigvec").then_some(1)
}

/// Functions of the program that hand out memory, by their name: each of their calls makes an object of its own. Taken by
/// itself the body would make one object of everything that the program allocates.
pub fn allocates(name: &str) -> bool {
    ["alloc", "strdup", "memdup"]
        .iter()
        .any(|part| name.contains(part))
        && !name.contains("dealloc")
}

/// The name without what fortification adds to it.
fn plain(name: &str) -> &str {
    name.strip_prefix("__")
        .and_then(|name| name.strip_suffix("_chk"))
        .unwrap_or(name)
}
