//! New processes of the helper, which has one thread.

use std::io;

use rustix::process::Pid;

use crate::{Namespaces, NetworkAccess};

/// The two sides of a fork.
pub(super) enum ForkSide {
    /// The new process.
    Child,
    /// This process, with the id of the new one.
    Parent(Pid),
}

/// Forks this process, the child in namespaces of its own.
#[expect(unsafe_code, reason = "clone has no safe interface")]
pub(super) fn fork_into(namespaces: Namespaces, network: NetworkAccess) -> io::Result<ForkSide> {
    let mounts = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWIPC;
    let mounts = match network {
        NetworkAccess::None => mounts | libc::CLONE_NEWNET,
        NetworkAccess::Full => mounts,
    };
    let flags = match namespaces {
        Namespaces::All => mounts | libc::CLONE_NEWUSER,
        Namespaces::WithoutUser => mounts,
        Namespaces::None => 0,
    };
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    // SAFETY: without CLONE_VM this is a fork: the child has its own copy of everything. This
    // process has one thread, so no lock of another thread is copied.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match i32::try_from(pid).unwrap_or(-1) {
        0 => Ok(ForkSide::Child),
        pid if pid > 0 => {
            Pid::from_raw(pid).map(ForkSide::Parent).ok_or_else(io::Error::last_os_error)
        }
        _ => Err(io::Error::last_os_error()),
    }
}

/// Forks this process.
pub(super) fn fork() -> io::Result<ForkSide> {
    fork_into(Namespaces::None, NetworkAccess::Full)
}

/// Ends this process without running what was registered for its end.
pub(super) fn exit_now(code: i32) -> ! {
    // The copies of this process must not run its destructors a second time.
    #[expect(unsafe_code, reason = "_exit has no safe interface")]
    // SAFETY: _exit has no preconditions.
    unsafe {
        libc::_exit(code)
    }
}
