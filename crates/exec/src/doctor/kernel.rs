//! Kernel features, limits and resources.

use std::fs;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr;

use parallax_abi::layout::{LABEL_BASE, LABEL_BYTES};

use super::Check;
use crate::sandbox::{self, Confinement, Policy};

pub(super) fn checks() -> Vec<Check> {
    vec![
        shared_memory(),
        address_space(),
        fixed_addresses(),
        stack_limit(),
        namespaces(),
        landlock(),
        sandbox(),
        processors(),
        memory(),
    ]
}

fn shared_memory() -> Check {
    const NAME: &str = "shared memory (memfd)";
    // SAFETY: a valid C string; the result is checked.
    let fd = unsafe { libc::memfd_create(c"parallax-doctor".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        let error = io::Error::last_os_error();
        return Check::missing(
            NAME,
            format!("memfd_create: {error}"),
            "allow memfd_create in the container's seccomp profile",
        );
    }
    // SAFETY: just created, owned by nobody else.
    drop(unsafe { OwnedFd::from_raw_fd(fd) });
    Check::good(NAME, "available")
}

/// The one thing that decides: can the largest table be reserved?
fn address_space() -> Check {
    const NAME: &str = "address space for labels";
    // SAFETY: a fresh reservation that replaces nothing and is never touched.
    let (reserved, error) = unsafe {
        let flags = libc::MAP_PRIVATE
            | libc::MAP_ANONYMOUS
            | libc::MAP_NORESERVE
            | libc::MAP_FIXED_NOREPLACE;
        let address = libc::mmap(
            ptr::without_provenance_mut(LABEL_BASE as usize),
            LABEL_BYTES as usize,
            libc::PROT_READ | libc::PROT_WRITE,
            flags,
            -1,
            0,
        );
        let error = io::Error::last_os_error();
        if address != libc::MAP_FAILED {
            libc::munmap(address, LABEL_BYTES as usize);
        }
        (address != libc::MAP_FAILED, error)
    };
    if reserved {
        return Check::good(NAME, "64 TiB can be reserved");
    }
    let strict =
        fs::read_to_string("/proc/sys/vm/overcommit_memory").is_ok_and(|mode| mode.trim() == "2");
    let advice = if limit(libc::RLIMIT_AS) != libc::RLIM_INFINITY {
        "ulimit -v unlimited"
    } else if strict {
        "sysctl vm.overcommit_memory=0"
    } else {
        "tracing needs an x86-64 kernel with 47 bits of address space"
    };
    Check::missing(NAME, format!("cannot be reserved: {error}"), advice)
}

fn fixed_addresses() -> Check {
    const NAME: &str = "fixed addresses (personality)";
    // On a thread of its own: the setting belongs to the thread.
    let allowed = std::thread::spawn(|| {
        // SAFETY: changes only this thread.
        unsafe {
            let now = libc::personality(0xffff_ffff);
            now >= 0
                && libc::personality(
                    now as libc::c_ulong | libc::ADDR_NO_RANDOMIZE as libc::c_ulong,
                ) >= 0
        }
    })
    .join()
    .unwrap_or(false);
    if allowed {
        Check::good(NAME, "permitted")
    } else {
        Check::limited(
            NAME,
            "forbidden (container): addresses differ from run to run",
            "docker run --security-opt seccomp=unconfined",
        )
    }
}

fn limit(resource: libc::__rlimit_resource_t) -> libc::rlim_t {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: fills in a plain struct.
    unsafe { libc::getrlimit(resource, &mut limit) };
    limit.rlim_cur
}

fn stack_limit() -> Check {
    const NAME: &str = "stack limit";
    match limit(libc::RLIMIT_STACK) {
        libc::RLIM_INFINITY => Check::good(NAME, "unlimited; traced programs get 8 MiB"),
        bytes => Check::good(NAME, format!("{} KiB", bytes / 1024)),
    }
}

fn namespaces() -> Check {
    const NAME: &str = "namespaces";
    match &sandbox::detect().namespaces {
        Ok(()) => Check::good(NAME, "user, mount, pid, network, ipc, uts"),
        Err(error) => Check::limited(
            NAME,
            error,
            "sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000; \
             docker run --security-opt seccomp=unconfined",
        ),
    }
}

fn landlock() -> Check {
    const NAME: &str = "Landlock";
    match sandbox::detect().landlock {
        0 => Check::limited(
            NAME,
            "not available",
            "boot with lsm=landlock,… (Linux 5.13 or newer)",
        ),
        version => Check::good(NAME, format!("ABI {version}")),
    }
}

/// What the two come to.
fn sandbox() -> Check {
    const NAME: &str = "sandbox";
    match sandbox::choose(Policy::Required) {
        Ok(confinement @ Confinement::Landlock) => Check::limited(
            NAME,
            confinement.describe(),
            "permit namespaces (see above)",
        ),
        Ok(confinement) => Check::good(NAME, confinement.describe()),
        Err(error) => Check::missing(
            NAME,
            error.to_string(),
            "permit namespaces (see above), or say --no-sandbox where it does not matter",
        ),
    }
}

fn processors() -> Check {
    const NAME: &str = "processors";
    match std::thread::available_parallelism() {
        Ok(count) => Check::good(NAME, count.to_string()),
        Err(error) => Check::limited(NAME, error.to_string(), "one will be used"),
    }
}

fn memory() -> Check {
    const NAME: &str = "memory";
    const ENOUGH: u64 = 2 << 20;
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kilobytes = |name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    };
    let (Some(total), Some(free)) = (kilobytes("MemTotal:"), kilobytes("MemAvailable:")) else {
        return Check::limited(NAME, "unknown", "mount /proc");
    };
    let found = format!("{} MiB, {} MiB of it available", total >> 10, free >> 10);
    if free >= ENOUGH {
        Check::good(NAME, found)
    } else {
        Check::limited(NAME, found, "lower the limit of each run: --memory 512M")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Status;

    #[test]
    fn whatever_is_not_good_comes_with_advice() {
        for check in checks() {
            assert_eq!(
                check.status == Status::Good,
                check.advice.is_none(),
                "{check:?}"
            );
            assert!(!check.found.is_empty(), "{check:?}");
        }
    }

    #[test]
    fn looking_leaves_the_address_space_as_it_was() {
        assert_eq!(address_space(), address_space());
    }
}
