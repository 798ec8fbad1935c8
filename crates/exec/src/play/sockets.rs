//! Sockets of a sandbox's network, for the clients of the servers in it.
//!
//! A socket belongs to the network that it was made in, whoever uses it. The sandbox's first process makes them, but only
//! between runs, and a run server is one long run: so there is a supply, and TCP sockets are used again.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::address::Address;
use crate::sandbox::{Init, SandboxError};

/// How many are fetched at a time of the kind that cannot be used again.
const SUPPLY: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Sockets {
    /// By address family.
    spare: BTreeMap<i32, Vec<OwnedFd>>,
}

impl Sockets {
    /// Whether the sandbox need not be asked.
    pub fn suffice(&self, address: &Address, count: usize) -> bool {
        let spare = self.spare.get(&address.family());
        is_ours(address) || spare.map_or(0, Vec::len) >= count
    }

    /// Fetches what is lacking. Only while nothing runs in the sandbox.
    pub fn fetch(
        &mut self,
        init: &Init,
        address: &Address,
        count: usize,
    ) -> Result<(), SandboxError> {
        let family = address.family();
        let wanted = match address {
            Address::Abstract(_) => count.max(SUPPLY),
            Address::Tcp(_) | Address::Tcp6(_) | Address::Path(_) => count,
        };
        let spare = self.spare.entry(family).or_default();
        while !is_ours(address) && spare.len() < wanted {
            spare.push(init.socket(family)?);
        }
        Ok(())
    }

    /// Takes some for a run.
    pub fn take(&mut self, address: &Address, count: usize) -> io::Result<Vec<OwnedFd>> {
        if is_ours(address) {
            return (0..count).map(|_| local(address.family())).collect();
        }
        let spare = self.spare.entry(address.family()).or_default();
        Ok(spare.split_off(spare.len().saturating_sub(count)))
    }

    /// Takes back those that can be connected once more.
    pub fn give_back(&mut self, family: i32, sockets: Vec<OwnedFd>) {
        if family == libc::AF_UNIX {
            return;
        }
        let spare = self.spare.entry(family).or_default();
        spare.extend(sockets.into_iter().filter(disconnect));
    }
}

/// Names in a file system are found in any network.
fn is_ours(address: &Address) -> bool {
    matches!(address, Address::Path(_))
}

fn local(family: i32) -> io::Result<OwnedFd> {
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: makes a descriptor that nobody else owns; the result is checked.
    unsafe {
        let made = libc::socket(family, kind, 0);
        match made {
            0.. => Ok(OwnedFd::from_raw_fd(made)),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// Resets a connection, so that the server's port is free at once, and the socket for another; whether it is.
fn disconnect(socket: &OwnedFd) -> bool {
    // SAFETY: plain data, for which zero is the address family that says "nowhere".
    unsafe {
        let nowhere: libc::sockaddr = std::mem::zeroed();
        let size = size_of_val(&nowhere) as libc::socklen_t;
        libc::connect(socket.as_raw_fd(), &nowhere, size) == 0
    }
}
