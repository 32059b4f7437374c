//! Path zones: workspace, outside, or protected, where writing would change what may run.
//!
//! A path is checked twice: as it was written, and where it leads once every link is resolved as
//! the kernel does. Both are reported if they differ, so that rules about either apply, and the
//! more restrictive zone decides.
//!
//! Not here: opening files. Anything may change between the check and the opening; the path is
//! checked again when the file is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_core::permission::{PathAccess, PathUse, PathZone};

use super::lexical::lexical_absolute;
use super::protected_paths::{FoldedPath, ProtectedPaths, own_folders};
use super::symlinks::{LinkResolution, depends_on_process, resolve_links};

/// The paths that a session knows, and the zones they make up.
#[derive(Debug, Clone)]
pub struct PathZones {
    /// The workspace path as given, if it is not the real one.
    alias: PathBuf,
    /// Real folders in which a session works; the first is the workspace.
    roots: Vec<PathBuf>,
    home: Option<PathBuf>,
    protected: ProtectedPaths,
}

impl PathZones {
    /// Returns the zones of a session in `workspace`, with the folders of this user.
    #[must_use]
    pub fn new(workspace: &Path) -> Self {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let zones = Self::with_home(workspace, variable("HOME"));
        own_folders(variable)
            .into_iter()
            .fold(zones, |zones, folder| zones.with_protected_folder(&folder))
    }

    /// Returns the zones of a session in `workspace` for a user with the home folder `home`.
    #[must_use]
    pub fn with_home(workspace: &Path, home: Option<PathBuf>) -> Self {
        let root = real_or_lexical(workspace);
        let home = home.filter(|home| home.is_absolute()).map(|home| real_or_lexical(&home));
        let protected = ProtectedPaths::of(&root, home.as_deref());
        Self {
            alias: lexical_absolute(Path::new("/"), workspace),
            roots: vec![root],
            home,
            protected,
        }
    }

    /// Adds a folder to work in.
    #[must_use]
    pub fn with_folder(mut self, folder: &Path) -> Self {
        let folder = real_or_lexical(folder);
        self.protected.add_git_of(&folder);
        self.roots.push(folder);
        self
    }

    /// Returns the zones with another workspace, such as a git worktree, in place of this one. The
    /// folders that were added stay.
    #[must_use]
    pub fn moved_to(&self, workspace: &Path) -> Self {
        let mut moved = self.clone();
        let root = real_or_lexical(workspace);
        moved.alias = lexical_absolute(Path::new("/"), workspace);
        moved.protected.add_git_of(&root);
        match moved.roots.first_mut() {
            Some(first) => *first = root,
            None => moved.roots.push(root),
        }
        moved
    }

    /// Adds a folder in which nothing may be written.
    #[must_use]
    pub fn with_protected_folder(mut self, folder: &Path) -> Self {
        self.protected.add_own_folder(real_or_lexical(folder));
        self
    }

    /// Adds a file that decides what runs: it can be read, and no tool writes it.
    #[must_use]
    pub fn keeping_file(mut self, file: &Path) -> Self {
        self.protected.add_file(real_or_lexical(file));
        self.protected.add_file(lexical_absolute(self.root(), file));
        self
    }

    /// Returns the workspace, links resolved: path rules are relative to it.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.roots.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// Returns the folders in which a session works, links resolved.
    pub(crate) fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Returns the protected paths.
    pub(super) fn protected(&self) -> &ProtectedPaths {
        &self.protected
    }

    /// Returns the user's home folder, links resolved.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns the uses of the file that `path` names in the workspace.
    #[must_use]
    pub fn path_uses(&self, path: &str, access: PathAccess) -> Vec<PathUse> {
        self.path_uses_from(self.root(), path, access)
    }

    /// Returns the uses of the file that `path` names, relative to `folder`.
    pub(crate) fn path_uses_from(
        &self,
        folder: &Path,
        path: &str,
        access: PathAccess,
    ) -> Vec<PathUse> {
        let full_path = self.replace_alias(&folder.join(path));
        let written = lexical_absolute(Path::new("/"), &full_path);
        let (leads_to, zone) = match resolve_links(&full_path) {
            // Nearly every path is written without links.
            LinkResolution::Path(real) if real == written => (real, self.zone_of(&written, access)),
            LinkResolution::Path(real) => {
                let zone =
                    self.zone_of(&real, access).more_restrictive(self.zone_of(&written, access));
                (real, zone)
            }
            // An unresolvable path is treated as outside.
            LinkResolution::Unresolvable => (
                written.clone(),
                PathZone::Outside.more_restrictive(self.zone_of(&written, access)),
            ),
        };
        let used = |path: &Path| PathUse { path: Arc::from(path.to_string_lossy()), access, zone };
        match leads_to == written {
            true => vec![used(&written)],
            false => vec![used(&leads_to), used(&written)],
        }
    }

    /// Returns whether it can be determined where a path relative to `folder` leads.
    pub(crate) fn is_resolvable(&self, folder: &Path, path: &str) -> bool {
        let full_path = self.replace_alias(&folder.join(path));
        // Process ids are reused, and the files of processes belong to the kernel.
        let is_process = lexical_absolute(Path::new("/"), &full_path).starts_with("/proc");
        let is_elsewhere = is_process || depends_on_process(&full_path);
        !is_elsewhere
            && matches!(resolve_links(&full_path), LinkResolution::Path(real) if !real.starts_with("/proc"))
    }

    /// Returns the folder that `path` leads to from `folder`: as the shell resolves `..`,
    /// lexically, and as the kernel does.
    pub(crate) fn logical_and_real_folder(&self, folder: &Path, path: &str) -> Vec<PathBuf> {
        let full_path = folder.join(path);
        let mut both = vec![lexical_absolute(Path::new("/"), &full_path)];
        if let LinkResolution::Path(real) = resolve_links(&full_path)
            && real != real_folder_or_same(&both)
        {
            both.push(real);
        }
        both
    }

    /// Returns whether the folder that `path` names is the workspace or the home folder, or
    /// contains one of them: then there are protected paths beneath it.
    pub(crate) fn contains_workspace_or_home(&self, folder: &Path, path: &str) -> bool {
        let LinkResolution::Path(real) = resolve_links(&self.replace_alias(&folder.join(path)))
        else {
            return true;
        };
        let mut known = self.roots.iter().chain(&self.home);
        known.any(|known| known.starts_with(&real))
    }

    /// Returns whether writing to a path would change what may run.
    pub(crate) fn is_protected(&self, folder: &Path, path: &str) -> bool {
        let uses = self.path_uses_from(folder, path, PathAccess::Write);
        uses.iter().any(|used| used.zone == PathZone::Protected)
    }

    /// Returns whether a path is protected by its name alone, without resolving links.
    pub(crate) fn is_protected_name(&self, folder: &Path, path: &str) -> bool {
        self.is_protected_real(&lexical_absolute(
            Path::new("/"),
            &self.replace_alias(&folder.join(path)),
        ))
    }

    fn zone_of(&self, path: &Path, access: PathAccess) -> PathZone {
        let is_write = access == PathAccess::Write;
        let folded = FoldedPath::new(path);
        let is_private = self.protected.is_in_own_folder(&folded)
            || self.holds_private(path, &folded)
            || (is_write && self.protected.is_program_folder(&folded));
        // Whole components are compared: `/data-evil` does not begin with `/data`.
        match self.roots.iter().any(|root| path.starts_with(root)) {
            _ if is_write && self.protected.contains(&folded) => PathZone::Protected,
            true if !is_private => PathZone::Workspace,
            true | false => PathZone::Outside,
        }
    }

    /// Returns whether a path is private: keys, histories. If the workspace contains the whole home
    /// folder, everything hidden in it is private.
    pub(crate) fn is_private(&self, path: &Path) -> bool {
        self.holds_private(path, &FoldedPath::new(path))
    }

    fn holds_private(&self, path: &Path, folded: &FoldedPath) -> bool {
        let is_only_at_home = || {
            let home = self.home.as_deref();
            let holds_home = |root: &PathBuf| home.is_some_and(|home| home.starts_with(root));
            let mut roots = self.roots.iter().filter(|root| path.starts_with(root)).peekable();
            roots.peek().is_some() && roots.all(holds_home)
        };
        self.protected.is_private(folded)
            || (self.protected.is_hidden_at_home(folded) && is_only_at_home())
    }

    /// Returns whether a path lies in one of Windlass's own folders.
    pub(crate) fn is_in_own_folder(&self, path: &Path) -> bool {
        self.protected.is_in_own_folder(&FoldedPath::new(path))
    }

    /// Returns whether there are private paths beneath the folder that `path` names.
    pub(crate) fn has_private_beneath(&self, folder: &Path, path: &str) -> bool {
        let full_path = self.replace_alias(&folder.join(path));
        let real = match resolve_links(&full_path) {
            LinkResolution::Path(real) => real,
            LinkResolution::Unresolvable => return true,
        };
        self.protected.has_private_beneath(&real)
    }

    /// Returns the uses of the file that `path` names by a command that may write: it is read, and
    /// if it is protected the zone says so.
    pub(crate) fn path_uses_of_writer(&self, folder: &Path, path: &str) -> Vec<PathUse> {
        let written = self.path_uses_from(folder, path, PathAccess::Write);
        let is_protected = written.iter().any(|used| used.zone == PathZone::Protected);
        let mut uses = self.path_uses_from(folder, path, PathAccess::Read);
        if is_protected {
            uses.iter_mut().for_each(|used| used.zone = PathZone::Protected);
        }
        uses
    }

    /// Returns the absolute path of `path` in the workspace, without resolving links.
    pub(crate) fn absolute_in_workspace(&self, path: &str) -> PathBuf {
        self.replace_alias(&self.root().join(path))
    }

    /// Returns a real folder relative to the workspace: empty for the workspace itself, and the
    /// whole path for a folder elsewhere.
    pub(crate) fn named_from_root(&self, folder: &Path) -> String {
        let beneath = folder.strip_prefix(self.root()).unwrap_or(folder);
        beneath.to_string_lossy().into_owned()
    }

    /// Returns whether a path, links resolved, lies in the workspace or a folder added to it.
    pub(crate) fn is_in_workspace(&self, path: &Path) -> bool {
        match resolve_links(&self.replace_alias(path)) {
            LinkResolution::Path(real) => self.root_containing(&real).is_some(),
            LinkResolution::Unresolvable => true,
        }
    }

    /// Returns the folder of the session in which a real path lies.
    pub(crate) fn root_containing(&self, path: &Path) -> Option<&Path> {
        self.roots.iter().map(PathBuf::as_path).find(|root| path.starts_with(root))
    }

    /// Returns whether writing to a real path would change what may run.
    pub(crate) fn is_protected_real(&self, path: &Path) -> bool {
        self.protected.contains(&FoldedPath::new(path))
    }

    /// Replaces another name of the workspace at the beginning of a path with its real name.
    fn replace_alias(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.alias) {
            Ok(rest) => self.root().join(rest),
            Err(_) => path.to_owned(),
        }
    }
}

/// Returns the path with its links resolved, or the lexical path if that is not possible.
fn real_or_lexical(path: &Path) -> PathBuf {
    let full_path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match resolve_links(&full_path) {
        LinkResolution::Path(real) => real,
        LinkResolution::Unresolvable => lexical_absolute(Path::new("/"), &full_path),
    }
}

/// Returns the real path of the first of these folders.
fn real_folder_or_same(folders: &[PathBuf]) -> PathBuf {
    let first = folders.first().cloned().unwrap_or_default();
    match resolve_links(&first) {
        LinkResolution::Path(real) => real,
        LinkResolution::Unresolvable => first,
    }
}

/// Combines two zones to the more restrictive one.
trait MoreRestrictive {
    fn more_restrictive(self, other: Self) -> Self;
}

impl MoreRestrictive for PathZone {
    fn more_restrictive(self, other: Self) -> Self {
        match (self, other) {
            (Self::Protected, _) | (_, Self::Protected) => Self::Protected,
            (Self::Outside, _) | (_, Self::Outside) => Self::Outside,
            (Self::Workspace, Self::Workspace) => Self::Workspace,
        }
    }
}
