//! Resolved paths, and opening them.
//!
//! Links are resolved once, and the result is what was authorised. The file is then opened from the
//! root of its zone with every link on the way forbidden (`openat2`), so a link that is swapped in
//! between is an error and does not lead to a file somewhere else.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use windlass_core::call::outcome::ToolError;

use super::lexical::{is_kernel_path, lexical_absolute};
use super::path_zones::PathZones;
use super::symlinks::{LinkResolution, resolve_links};
use crate::files::file_errors::{link_loop_error, outside_workspace_error, special_file_error};

/// A path with its links resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ResolvedPath {
    /// The folder it is opened from: one of the workspace's, or `/`.
    root: PathBuf,
    /// The path relative to that folder.
    relative: PathBuf,
    /// The path as it was written, for messages.
    pub(crate) display_path: PathBuf,
}

impl PathZones {
    /// Resolves `path` from the workspace. A path that begins in the workspace and leaves it
    /// through a link is rejected: the file must be named by its real path.
    pub(crate) fn resolve(&self, path: &str) -> Result<ResolvedPath, ToolError> {
        self.resolve_among(path, None)
    }

    /// Resolves `path` like [`PathZones::resolve`], with one more folder that may be read.
    pub(crate) fn resolve_with_folder(
        &self,
        path: &str,
        folder: &Path,
    ) -> Result<ResolvedPath, ToolError> {
        self.resolve_among(path, Some(folder))
    }

    fn resolve_among(&self, path: &str, more: Option<&Path>) -> Result<ResolvedPath, ToolError> {
        let full_path = self.absolute_in_workspace(path);
        let display_path = lexical_absolute(Path::new("/"), &full_path);
        let LinkResolution::Path(real) = resolve_links(&full_path) else {
            return Err(link_loop_error(&display_path));
        };
        if is_kernel_path(&display_path) || is_kernel_path(&real) {
            return Err(special_file_error(&display_path));
        }
        let root_of = |path: &Path| {
            let more = more.filter(|folder| path.starts_with(folder));
            self.root_containing(path).or(more).map(Path::to_owned)
        };
        let root = match (root_of(&real), root_of(&display_path)) {
            (Some(root), _) => root,
            (None, None) => PathBuf::from("/"),
            (None, Some(_)) => return Err(outside_workspace_error(&display_path, &real)),
        };
        let relative = real.strip_prefix(&root).unwrap_or(&real).to_owned();
        Ok(ResolvedPath { root, relative, display_path })
    }
}

impl ResolvedPath {
    /// Returns the real path.
    pub(crate) fn real_path(&self) -> PathBuf {
        self.root.join(&self.relative)
    }

    /// Returns the last component, unless it is the root itself.
    pub(crate) fn file_name(&self) -> Option<&std::ffi::OsStr> {
        self.relative.file_name()
    }

    /// Returns the folder that contains it.
    pub(crate) fn parent(&self) -> Option<Self> {
        let relative = self.relative.parent()?.to_owned();
        let display_path = self.display_path.parent().unwrap_or(&self.display_path).to_owned();
        Some(Self { root: self.root.clone(), relative, display_path })
    }

    /// Returns a path below this one; `path` must come from a walk through it.
    pub(crate) fn join_beneath(&self, path: &Path) -> Option<Self> {
        let relative = path.strip_prefix(&self.root).ok()?.to_owned();
        Some(Self { root: self.root.clone(), relative, display_path: path.to_owned() })
    }

    /// Opens the path.
    pub(crate) fn open_with(&self, flags: OFlags) -> io::Result<OwnedFd> {
        let root = open_root(&self.root)?;
        let rest =
            if self.relative.as_os_str().is_empty() { Path::new(".") } else { &self.relative };
        Ok(open_beneath(&root, rest, flags | OFlags::CLOEXEC | OFlags::NOFOLLOW)?)
    }

    /// Opens the path as a folder and creates missing folders on the way.
    pub(crate) fn open_or_create_folder(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        match self.open_with(flags) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.create_folders(flags),
            opened => opened,
        }
    }

    fn create_folders(&self, flags: OFlags) -> io::Result<OwnedFd> {
        let mut at = open_root(&self.root)?;
        for part in self.relative.components() {
            let Component::Normal(name) = part else { continue };
            match rustix::fs::mkdirat(&at, name, Mode::from(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            at = open_part(&at, name, flags | OFlags::CLOEXEC)?;
        }
        Ok(at)
    }

    /// Checks that the path is a folder that can be searched.
    pub(crate) fn check_folder(&self) -> Result<(), ToolError> {
        let opened = self.open_with(OFlags::PATH | OFlags::DIRECTORY);
        opened
            .map(drop)
            .map_err(|error| crate::files::file_errors::file_error(&self.display_path, &error))
    }

    /// Checks that the path is a folder or a file that can be searched.
    pub(crate) fn check_readable(&self) -> Result<(), ToolError> {
        self.check_folder().or_else(|_| self.open_file().map(drop))
    }

    /// Opens the path for reading, if it is a regular file. Its kind is checked before it is
    /// opened, because opening a pipe or a device has side effects, and again once it is open.
    /// Opening never blocks.
    pub(crate) fn open_file(&self) -> Result<File, ToolError> {
        let refused =
            |error: io::Error| crate::files::file_errors::file_error(&self.display_path, &error);
        let looked = File::from(self.open_with(OFlags::PATH).map_err(refused)?);
        crate::files::file_errors::check_regular_file(
            &self.display_path,
            &looked.metadata().map_err(refused)?,
        )?;
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(self.open_with(flags).map_err(refused)?);
        crate::files::file_errors::check_regular_file(
            &self.display_path,
            &file.metadata().map_err(refused)?,
        )?;
        Ok(file)
    }
}

fn open_root(root: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(rustix::fs::open(root, flags, Mode::empty())?)
}

/// Opens a path beneath `root` without following a link. The kernel does it in one step; where it
/// cannot (before 5.6, or in a container that forbids it) every component is opened by itself.
pub(crate) fn open_beneath(root: &OwnedFd, rest: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(root, rest, flags, Mode::empty(), resolve) {
        Err(Errno::NOSYS | Errno::PERM) => open_by_parts(root, rest, flags),
        opened => opened,
    }
}

/// Opens a path beneath `root` without following a link, one component at a time.
pub(crate) fn open_by_parts(root: &OwnedFd, rest: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut at = open_part(root, std::ffi::OsStr::new("."), OFlags::PATH | OFlags::DIRECTORY)?;
    let folder = rest.parent().unwrap_or(Path::new(""));
    for part in folder.components() {
        match part {
            Component::Normal(name) => at = open_part(&at, name, OFlags::PATH | OFlags::DIRECTORY)?,
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                return Err(Errno::XDEV);
            }
        }
    }
    match rest.components().next_back() {
        Some(Component::Normal(name)) => open_part(&at, name, flags),
        Some(Component::CurDir) | None => open_part(&at, std::ffi::OsStr::new("."), flags),
        Some(Component::Prefix(_) | Component::RootDir | Component::ParentDir) => Err(Errno::XDEV),
    }
}

fn open_part(at: &OwnedFd, name: &std::ffi::OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
    let opened =
        rustix::fs::openat(at, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    // Opening a link itself is not an error for the kernel, but no path may lead through one.
    let found = rustix::fs::fstat(&opened)?;
    match rustix::fs::FileType::from_raw_mode(found.st_mode) {
        rustix::fs::FileType::Symlink => Err(Errno::LOOP),
        _ => Ok(opened),
    }
}
