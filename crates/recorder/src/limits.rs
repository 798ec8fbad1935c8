//! How much is kept of what programs read and write.

/// Sizes in bytes. What goes beyond is cut off, and the scenario says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of one file that was opened.
    pub file: u64,
    /// Of one file that was only looked at (its size, its permissions).
    pub glance: u64,
    /// Of standard input, or of what one client sent to a server.
    pub stdin: u64,
    /// Of standard output and standard error, each.
    pub output: u64,
    /// Of everything that one scenario holds.
    pub scenario: u64,
    /// Entries of one directory that was listed.
    pub entries: usize,
    /// Different scenarios of all programs.
    pub scenarios: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            file: 1 << 20,
            glance: 64 << 10,
            stdin: 1 << 20,
            output: 1 << 20,
            scenario: 8 << 20,
            entries: 1000,
            scenarios: 100_000,
        }
    }
}
