//! The one place a path means, and opening it.
//!
//! Links are followed once, in thought, and the result is what was judged. It is then opened from
//! the root of its zone with every link on the way forbidden: whoever puts one there between the
//! look and the opening gets an error, not a file somewhere else.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use windlass_core::outcome::ToolError;

use super::open::{leads_nowhere, leads_outside, special};
use super::path::{absolute, is_kernels};
use super::resolve::{Real, real};
use super::zones::Zones;

/// Where a path leads, links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The folder it is opened from: one of the workspace's, or `/`.
    root: PathBuf,
    /// The way from there.
    rest: PathBuf,
    /// The path as it was meant, for words.
    pub(crate) shown: PathBuf,
}

impl Zones {
    /// The place that `path` names from the workspace. A way that begins in the workspace and
    /// leaves it through a link is refused: who wants that file says its real name.
    pub(crate) fn place(&self, path: &str) -> Result<Place, ToolError> {
        self.place_among(path, None)
    }

    /// The same with one more folder that may be looked into.
    pub(crate) fn place_or_beneath(&self, path: &str, folder: &Path) -> Result<Place, ToolError> {
        self.place_among(path, Some(folder))
    }

    fn place_among(&self, path: &str, more: Option<&Path>) -> Result<Place, ToolError> {
        let whole = self.whole(path);
        let shown = absolute(Path::new("/"), &whole);
        let Real::At(real) = real(&whole) else { return Err(leads_nowhere(&shown)) };
        if is_kernels(&shown) || is_kernels(&real) {
            return Err(special(&shown));
        }
        let root_of = |path: &Path| {
            let more = more.filter(|folder| path.starts_with(folder));
            self.root_of(path).or(more).map(Path::to_owned)
        };
        let root = match (root_of(&real), root_of(&shown)) {
            (Some(root), _) => root,
            (None, None) => PathBuf::from("/"),
            (None, Some(_)) => return Err(leads_outside(&shown, &real)),
        };
        let rest = real.strip_prefix(&root).unwrap_or(&real).to_owned();
        Ok(Place { root, rest, shown })
    }
}

impl Place {
    /// The place itself.
    pub(crate) fn real(&self) -> PathBuf {
        self.root.join(&self.rest)
    }

    /// Its last name, if it is not the root itself.
    pub(crate) fn name(&self) -> Option<&std::ffi::OsStr> {
        self.rest.file_name()
    }

    /// The folder it lies in.
    pub(crate) fn folder(&self) -> Option<Self> {
        let rest = self.rest.parent()?.to_owned();
        let shown = self.shown.parent().unwrap_or(&self.shown).to_owned();
        Some(Self { root: self.root.clone(), rest, shown })
    }

    /// A place below this one; `path` must come from a walk through it.
    pub(crate) fn below(&self, path: &Path) -> Option<Self> {
        let rest = path.strip_prefix(&self.root).ok()?.to_owned();
        Some(Self { root: self.root.clone(), rest, shown: path.to_owned() })
    }

    /// Opens it.
    pub(crate) fn open(&self, flags: OFlags) -> io::Result<OwnedFd> {
        let root = open_root(&self.root)?;
        let rest = if self.rest.as_os_str().is_empty() { Path::new(".") } else { &self.rest };
        Ok(beneath(&root, rest, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW)?)
    }

    /// Opens it as a folder, making those on the way that do not exist.
    pub(crate) fn open_folder(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        match self.open(flags) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.make_folders(flags),
            opened => opened,
        }
    }

    fn make_folders(&self, flags: OFlags) -> io::Result<OwnedFd> {
        let mut at = open_root(&self.root)?;
        for part in self.rest.components() {
            let Component::Normal(name) = part else { continue };
            match rustix::fs::mkdirat(&at, name, Mode::from(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            at = step(&at, name, flags | OFlags::CLOEXEC)?;
        }
        Ok(at)
    }

    /// Whether it is a folder that can be searched.
    pub(crate) fn check_folder(&self) -> Result<(), ToolError> {
        let opened = self.open(OFlags::PATH | OFlags::DIRECTORY);
        opened.map(drop).map_err(|error| super::open::refused(&self.shown, &error))
    }

    /// Whether it is a folder or a file that can be searched.
    pub(crate) fn check_readable(&self) -> Result<(), ToolError> {
        self.check_folder().or_else(|_| self.open_file().map(drop))
    }

    /// Opens it for reading, if it is a regular file. It is looked at before it is opened, because
    /// opening a pipe or a device is felt on the other side, and again once it is open. Opening
    /// never waits.
    pub(crate) fn open_file(&self) -> Result<File, ToolError> {
        let refused = |error: io::Error| super::open::refused(&self.shown, &error);
        let looked = File::from(self.open(OFlags::PATH).map_err(refused)?);
        super::open::check(&self.shown, &looked.metadata().map_err(refused)?)?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(self.open(flags).map_err(refused)?);
        super::open::check(&self.shown, &file.metadata().map_err(refused)?)?;
        Ok(file)
    }
}

fn open_root(root: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(rustix::fs::open(root, flags, Mode::empty())?)
}

/// Opens what lies beneath `root` without following a link. The kernel does it in one step; where
/// it cannot (before 5.6, or in a container that forbids it) every part is opened by itself.
pub(super) fn beneath(root: &OwnedFd, rest: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(root, rest, flags, Mode::empty(), resolve) {
        Err(Errno::NOSYS | Errno::PERM) => walk(root, rest, flags),
        opened => opened,
    }
}

/// The same, a part at a time.
pub(super) fn walk(root: &OwnedFd, rest: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut at = step(root, std::ffi::OsStr::new("."), OFlags::PATH | OFlags::DIRECTORY)?;
    let folder = rest.parent().unwrap_or(Path::new(""));
    for part in folder.components() {
        match part {
            Component::Normal(name) => at = step(&at, name, OFlags::PATH | OFlags::DIRECTORY)?,
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                return Err(Errno::XDEV);
            }
        }
    }
    match rest.components().next_back() {
        Some(Component::Normal(name)) => step(&at, name, flags),
        Some(Component::CurDir) | None => step(&at, std::ffi::OsStr::new("."), flags),
        Some(Component::Prefix(_) | Component::RootDir | Component::ParentDir) => Err(Errno::XDEV),
    }
}

fn step(at: &OwnedFd, name: &std::ffi::OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let opened =
        rustix::fs::openat(at, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    // Looking at a link itself is not an error for the kernel, but nothing may lead through one.
    let found = rustix::fs::fstat(&opened)?;
    match rustix::fs::FileType::from_raw_mode(found.st_mode) {
        rustix::fs::FileType::Symlink => Err(Errno::LOOP),
        _ => Ok(opened),
    }
}
