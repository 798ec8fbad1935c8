//! The filters that decide, inside the kernel, which system calls stop a program.
//!
//! A stop costs more than most calls, so only calls that say something about input or output are stopped. Filters
//! add up: one that is installed later can only stop more.

use libc::{
    BPF_ABS, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_TRACE, sock_filter,
};

use crate::calls::{
    COPY_CALLS, LIST_CALLS, MOVING_CALLS, OPEN_CALLS, OUTPUT_CALLS, PATH_CALLS, READ_CALLS,
    SERVER_CALLS, TOUCHING_CALLS, WRITE_CALLS,
};

/// `AUDIT_ARCH_X86_64`.
const X86_64: u32 = 0xc000_003e;

/// Offsets in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const fn argument(at: usize) -> u32 {
    // The lower half: descriptors and flags are 32 bits wide.
    16 + 8 * at as u32
}

/// What a filter stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Filter {
    /// Everything about files, and the standard streams by their numbers: what every recorded program gets.
    Files,
    /// The same and all reading: for programs whose standard input is a pipe, which they may read through any descriptor.
    FilesAndReads,
    /// All reading and writing, in addition: for servers.
    Connections,
}

impl Filter {
    /// The filter as a program for the kernel.
    pub fn program(self) -> Vec<sock_filter> {
        let mut program = Program::new();
        match self {
            Filter::Files => files(&mut program),
            Filter::FilesAndReads => {
                // The first test that fits decides, so the wider one comes first.
                reads(&mut program);
                files(&mut program);
            }
            Filter::Connections => {
                reads(&mut program);
                for number in WRITE_CALLS {
                    program.stop(*number);
                }
                program.stop(libc::SYS_sendfile);
            }
        }
        program.end()
    }
}

fn files(program: &mut Program) {
    for number in OPEN_CALLS.iter().chain(LIST_CALLS).chain(SERVER_CALLS) {
        program.stop(*number);
    }
    for number in [libc::SYS_fchdir, libc::SYS_chroot] {
        debug_assert!(MOVING_CALLS.contains(&number));
        program.stop(number);
    }
    program.stop(libc::SYS_kill);
    for call in PATH_CALLS {
        if call.number == libc::SYS_newfstatat {
            continue;
        }
        program.stop(call.number);
    }
    // fstat is this call with an empty path: the most frequent one, and only of interest for standard streams.
    program.stop_if(libc::SYS_newfstatat, |test| {
        test.stop_unless_set(3, libc::AT_EMPTY_PATH as u32);
        for stream in 0..=2 {
            test.stop_if_equal(0, stream);
        }
    });
    for number in READ_CALLS {
        program.stop_if(*number, |test| test.stop_if_equal(0, 0));
    }
    for (number, at) in TOUCHING_CALLS {
        let last = if OUTPUT_CALLS.contains(number) { 2 } else { 0 };
        program.stop_if(*number, |test| {
            for stream in 0..=last {
                test.stop_if_equal(*at, stream);
            }
        });
    }
    for number in WRITE_CALLS {
        program.stop_if(*number, |test| {
            test.stop_if_equal(0, 1);
            test.stop_if_equal(0, 2);
        });
    }
    for call in COPY_CALLS {
        program.stop_if(call.number, |test| {
            test.stop_if_equal(call.from, 0);
            test.stop_if_equal(call.to, 1);
            test.stop_if_equal(call.to, 2);
        });
    }
}

fn reads(program: &mut Program) {
    for number in READ_CALLS {
        program.stop(*number);
    }
}

/// A filter under construction.
struct Program {
    code: Vec<sock_filter>,
}

impl Program {
    fn new() -> Program {
        let mut program = Program { code: Vec::new() };
        program.load(ARCHITECTURE);
        program.jump(BPF_JEQ, X86_64, 1, 0);
        program.answer(SECCOMP_RET_ALLOW);
        program.load(NUMBER);
        program
    }

    fn end(mut self) -> Vec<sock_filter> {
        self.answer(SECCOMP_RET_ALLOW);
        self.code
    }

    fn push(&mut self, code: u32, jt: u8, jf: u8, k: u32) {
        self.code.push(sock_filter {
            code: code as u16,
            jt,
            jf,
            k,
        });
    }

    fn load(&mut self, offset: u32) {
        self.push(BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
    }

    fn jump(&mut self, test: u32, value: u32, when_true: u8, when_false: u8) {
        self.push(BPF_JMP | test | BPF_K, when_true, when_false, value);
    }

    fn answer(&mut self, action: u32) {
        self.push(BPF_RET | BPF_K, 0, 0, action);
    }

    /// Stops at every call with this number.
    fn stop(&mut self, number: i64) {
        self.jump(BPF_JEQ, number as u32, 0, 1);
        self.answer(SECCOMP_RET_TRACE);
    }

    /// Stops at calls with this number if one of the tests says so.
    fn stop_if(&mut self, number: i64, tests: impl FnOnce(&mut Program)) {
        let mut inner = Program { code: Vec::new() };
        tests(&mut inner);
        inner.answer(SECCOMP_RET_ALLOW);
        let length = u8::try_from(inner.code.len()).expect("few tests");
        self.jump(BPF_JEQ, number as u32, 0, length);
        self.code.append(&mut inner.code);
    }

    fn stop_if_equal(&mut self, at: usize, value: u32) {
        self.load(argument(at));
        self.jump(BPF_JEQ, value, 0, 1);
        self.answer(SECCOMP_RET_TRACE);
    }

    fn stop_unless_set(&mut self, at: usize, flag: u32) {
        self.load(argument(at));
        self.jump(BPF_JSET, flag, 1, 0);
        self.answer(SECCOMP_RET_TRACE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a filter as the kernel would.
    fn stops(filter: Filter, number: i64, arguments: [u64; 6]) -> bool {
        let program = filter.program();
        let mut data = Vec::new();
        data.extend((number as u32).to_ne_bytes());
        data.extend(X86_64.to_ne_bytes());
        data.extend(0_u64.to_ne_bytes());
        data.extend(arguments.iter().flat_map(|value| value.to_ne_bytes()));
        let (mut at, mut value) = (0, 0_u32);
        loop {
            let op = &program[at];
            at += 1;
            match u32::from(op.code) {
                code if code == BPF_LD | BPF_W | BPF_ABS => {
                    let from = op.k as usize;
                    value = u32::from_ne_bytes(data[from..from + 4].try_into().unwrap());
                }
                code if code == BPF_JMP | BPF_JEQ | BPF_K => {
                    at += usize::from(if value == op.k { op.jt } else { op.jf });
                }
                code if code == BPF_JMP | BPF_JSET | BPF_K => {
                    at += usize::from(if value & op.k != 0 { op.jt } else { op.jf });
                }
                code if code == BPF_RET | BPF_K => return op.k == SECCOMP_RET_TRACE,
                code => panic!("operation {code:#x}"),
            }
        }
    }

    #[test]
    fn only_calls_that_matter_stop_a_program() {
        let stop = |number, arguments| stops(Filter::Files, number, arguments);
        let none = [9; 6];
        assert!(stop(libc::SYS_openat, none));
        assert!(stop(libc::SYS_renameat2, none));
        assert!(!stop(libc::SYS_close, none));
        assert!(!stop(libc::SYS_brk, none));
        // Reading a file that was opened says nothing new; standard input is another matter.
        assert!(!stop(libc::SYS_read, [3, 0, 0, 0, 0, 0]));
        assert!(stop(libc::SYS_read, [0; 6]));
        assert!(stops(
            Filter::FilesAndReads,
            libc::SYS_read,
            [3, 0, 0, 0, 0, 0]
        ));
        assert!(stop(libc::SYS_write, [2, 0, 0, 0, 0, 0]));
        assert!(!stop(libc::SYS_write, [4, 0, 0, 0, 0, 0]));
        assert!(stops(
            Filter::Connections,
            libc::SYS_write,
            [4, 0, 0, 0, 0, 0]
        ));
    }

    #[test]
    fn fstat_stops_for_standard_streams_only() {
        let stat = |fd, flags| stops(Filter::Files, libc::SYS_newfstatat, [fd, 0, 0, flags, 0, 0]);
        let empty = libc::AT_EMPTY_PATH as u64;
        assert!(stat(libc::AT_FDCWD as u64, 0));
        assert!(!stat(3, empty));
        assert!((0..=2).all(|stream| stat(stream, empty)));
    }

    #[test]
    fn moving_in_an_output_stops_and_mapping_it_does_not() {
        let stop = |number, stream| stops(Filter::Files, number, [stream; 6]);
        assert!((0..=2).all(|stream| stop(libc::SYS_lseek, stream)));
        assert!(!stop(libc::SYS_lseek, 3));
        assert!(stop(libc::SYS_mmap, 0) && !stop(libc::SYS_mmap, 1));
    }
}
