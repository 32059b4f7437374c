//! The mounts of a confined process: everything read-only, private temporary folders, `/proc` and
//! `/dev`, and then what the policy names, the outer paths first.
//!
//! A mount point can be neither renamed nor removed. So the folders between a writable folder and a
//! protected path in it become mount points too: otherwise one of them could be moved away, and
//! another one with other contents put in its place.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind,
    mount_change, move_mount, open_tree,
};

use crate::{NetworkAccess, Policy, SandboxLimits};

/// Folders that every confined process has for itself.
const PRIVATE_FOLDERS: [&str; 3] = ["/tmp", "/var/tmp", "/run"];

/// Devices that a confined process can use.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];

/// Makes the mounts. An error of the kind `Unsupported` means that this machine does not allow them.
pub(super) fn make_mounts(policy: &Policy) -> io::Result<()> {
    if policy.write.iter().any(|root| root.as_path() == Path::new("/")) {
        return Err(io::Error::other("the root folder cannot be writable as a whole"));
    }
    let unsupported = |error: rustix::io::Errno| {
        io::Error::new(io::ErrorKind::Unsupported, format!("mounts are not allowed: {error}"))
    };
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).map_err(unsupported)?;
    let placements = plan_placements(policy)?;
    make_read_only(CWD, "/", Depth::Recursive).map_err(|error| named("/", &error))?;
    make_private_folders(policy.limits)?;
    make_processes_private(policy.limits).map_err(|error| {
        io::Error::new(io::ErrorKind::Unsupported, format!("no private /proc: {error}"))
    })?;
    make_devices()?;
    let mut hidden = Vec::new();
    for placement in &placements {
        // What a private folder hides already is not there any more.
        if placement.kind == Kind::Hidden && fs::symlink_metadata(&placement.path).is_err() {
            continue;
        }
        placement.mount().map_err(|error| named(placement.path.display(), &error))?;
        hidden.extend((placement.kind == Kind::Hidden).then_some(&placement.path));
    }
    for path in hidden {
        make_read_only(CWD, path, Depth::Single).map_err(|error| named(path.display(), &error))?;
    }
    match policy.network {
        NetworkAccess::None => start_loopback(),
        NetworkAccess::Full => Ok(()),
    }
}

fn named(path: impl std::fmt::Display, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{path}: {error}"))
}

/// A path that gets a mount of its own.
struct Placement {
    path: PathBuf,
    kind: Kind,
    /// What is mounted, taken before anything was hidden; not for hidden paths.
    tree: Option<OwnedFd>,
}

/// What a mount is for, in the order in which mounts of the same path are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// It can be written.
    Writable,
    /// It cannot be moved away.
    Pinned,
    /// It can be read and not written.
    ReadOnly,
    /// It is empty.
    Hidden,
}

/// Returns the placements of a policy, the outer paths first.
fn plan_placements(policy: &Policy) -> io::Result<Vec<Placement>> {
    let mut placements = Vec::new();
    let listed = [
        (&policy.write, Kind::Writable),
        (&policy.read, Kind::ReadOnly),
        (&policy.protect, Kind::ReadOnly),
        (&policy.deny_read, Kind::Hidden),
    ];
    for (paths, kind) in listed {
        for path in paths {
            add_placement(&mut placements, path, kind)?;
        }
    }
    for path in policy.protect.iter().chain(&policy.deny_read) {
        for folder in path.ancestors().skip(1) {
            let is_inside =
                policy.write.iter().any(|root| folder != root && folder.starts_with(root));
            if is_inside {
                add_placement(&mut placements, folder, Kind::Pinned)?;
            }
        }
    }
    placements.sort_by_key(|placement| (placement.path.components().count(), placement.kind));
    Ok(placements)
}

/// Adds a path that exists. What does not exist needs no mount: it cannot be created, or it may be.
fn add_placement(placements: &mut Vec<Placement>, path: &Path, kind: Kind) -> io::Result<()> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    // A link is held in its place; what it leads to is listed as well.
    let kind = if found.is_symlink() { Kind::Pinned } else { kind };
    if placements
        .iter()
        .any(|known| known.path == path && (known.kind == kind || kind == Kind::Pinned))
    {
        return Ok(());
    }
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    let tree = match kind {
        Kind::Writable | Kind::Pinned | Kind::ReadOnly => Some(open_tree(CWD, path, flags)?),
        Kind::Hidden => None,
    };
    placements.push(Placement { path: path.to_owned(), kind, tree });
    Ok(())
}

impl Placement {
    fn mount(&self) -> io::Result<()> {
        let Some(tree) = &self.tree else { return hide(&self.path) };
        if self.kind == Kind::ReadOnly {
            make_read_only(tree.as_fd(), "", Depth::Recursive)?;
        }
        self.make_mount_point(tree)?;
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        Ok(move_mount(tree, "", CWD, &self.path, flags)?)
    }

    /// Makes the path in a private or hidden folder, where nothing exists yet.
    fn make_mount_point(&self, tree: &OwnedFd) -> io::Result<()> {
        if fs::symlink_metadata(&self.path).is_ok() {
            return Ok(());
        }
        let is_folder =
            rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(tree)?.st_mode).is_dir();
        if is_folder {
            return fs::create_dir_all(&self.path);
        }
        if let Some(parent) = self.path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&self.path, "")
    }
}

/// Mounts an empty folder, or an empty file, over a path.
fn hide(path: &Path) -> io::Result<()> {
    match fs::metadata(path)?.is_dir() {
        // It can be passed, because a path beneath it may be allowed.
        true => mount_temporary(path, "mode=0711,size=64k"),
        false => Ok(mount_bind("/dev/windlass-empty", path)?),
    }
}

fn make_private_folders(limits: SandboxLimits) -> io::Result<()> {
    let options = format!("mode=1777,size={}", limits.temporary_bytes);
    for folder in PRIVATE_FOLDERS.map(Path::new) {
        // `/var/run` and the like may be links to one of them.
        if fs::symlink_metadata(folder).is_ok_and(|found| found.is_dir()) {
            mount_temporary(folder, &options)?;
        }
    }
    Ok(())
}

fn mount_temporary(path: &Path, options: &str) -> io::Result<()> {
    let options = CString::new(options)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", path, "tmpfs", flags, options.as_c_str())
        .map_err(|error| named(path.display(), &error.into()))
}

/// Mounts a `/proc` of the new pid namespace, in which nothing can be changed.
fn make_processes_private(limits: SandboxLimits) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None::<&std::ffi::CStr>)?;
    limit_processes(limits);
    make_read_only(CWD, "/proc", Depth::Recursive)
}

/// Limits the number of processes in the pid namespace. Kernels before 6.14 have one such limit for
/// the whole machine, which is left alone.
fn limit_processes(limits: SandboxLimits) {
    let version = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = version.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
    let version = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    if version >= (6, 14) {
        // A user who may not set it has a limit of their own.
        fs::write("/proc/sys/kernel/pid_max", limits.processes.to_string()).unwrap_or_default();
    }
}

/// Replaces `/dev` by the devices that every program may use.
fn make_devices() -> io::Result<()> {
    let new = Path::new("/tmp/windlass-dev");
    fs::create_dir(new)?;
    mount_temporary(new, "mode=0755,size=1m")?;
    for device in DEVICES {
        fs::write(new.join(device), "")?;
        mount_bind(Path::new("/dev").join(device), new.join(device))?;
    }
    let links = [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")];
    for (name, target) in links {
        symlink(format!("/proc/self/fd{target}"), new.join(name))?;
    }
    fs::create_dir(new.join("shm"))?;
    mount_temporary(&new.join("shm"), "mode=1777,size=50%")?;
    fs::create_dir(new.join("pts"))?;
    let options = c"newinstance,ptmxmode=0666,mode=0620";
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    // A container may forbid terminals of its own; then there are none.
    if mount("devpts", new.join("pts"), "devpts", flags, options).is_ok() {
        symlink("pts/ptmx", new.join("ptmx"))?;
    }
    fs::write(new.join("windlass-empty"), "")?;
    fs::set_permissions(
        new.join("windlass-empty"),
        std::os::unix::fs::PermissionsExt::from_mode(0o000),
    )?;
    let tree = open_tree(
        CWD,
        new,
        OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE,
    )?;
    move_mount(&tree, "", CWD, "/dev", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    rustix::mount::unmount(new, rustix::mount::UnmountFlags::DETACH)?;
    fs::remove_dir(new)?;
    make_read_only(CWD, "/dev", Depth::Single)
}

/// How much of a mount is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// The mount alone.
    Single,
    /// The mount and those beneath it.
    Recursive,
}

/// Makes a mount read-only: the one at `path`, or the one that is open as `at`.
#[expect(unsafe_code, reason = "mount_setattr has no safe interface")]
fn make_read_only(at: BorrowedFd<'_>, path: impl AsRef<Path>, depth: Depth) -> io::Result<()> {
    let path = CString::new(path.as_ref().as_os_str().as_encoded_bytes())?;
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let flags = match (path.is_empty(), depth) {
        (true, Depth::Single) => libc::AT_EMPTY_PATH,
        (true, Depth::Recursive) => libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
        (false, Depth::Single) => 0,
        (false, Depth::Recursive) => libc::AT_RECURSIVE,
    };
    // SAFETY: the path ends in a NUL, and the structure has the size that is given.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            at.as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Starts the loopback interface of the new network namespace, for programs that talk to
/// themselves.
#[expect(unsafe_code, reason = "interfaces are configured by ioctl")]
fn start_loopback() -> io::Result<()> {
    // SAFETY: all bytes zero are a valid value of this structure of integers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = i16::try_from(libc::IFF_UP).unwrap_or_default();
    // SAFETY: socket has no preconditions.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the socket was made above and belongs to nothing else.
    let socket = unsafe { <OwnedFd as std::os::fd::FromRawFd>::from_raw_fd(socket) };
    // SAFETY: the request is a valid `ifreq` with a name that ends in a NUL.
    match unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
