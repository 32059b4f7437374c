//! Where a path lies: in the workspace, outside, or where writing would change what may run.
//!
//! A path is looked at twice: as it was written, and where it leads once every link on the way is
//! followed as the kernel would. Both are reported if they differ, so that a rule about either is
//! heard, and the worse of the two decides.
//!
//! Not here: opening files. Between looking and opening anything may change; whoever opens checks
//! again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_core::permission::{Access, PathUse, Zone};

use super::path::absolute;
use super::protected::{FoldedPath, Protected, own_folders};
use super::resolve::{Real, depends_on_process, real};

/// The places a session knows.
#[derive(Debug, Clone)]
pub struct Zones {
    /// The workspace as somebody wrote it, if that is not where it really is.
    alias: PathBuf,
    /// Real folders in which a session works; the first is the workspace.
    roots: Vec<PathBuf>,
    home: Option<PathBuf>,
    protected: Protected,
}

impl Zones {
    /// The zones of a session that works in `workspace`, with the folders of this user.
    #[must_use]
    pub fn new(workspace: &Path) -> Self {
        let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let zones = Self::bare(workspace, variable("HOME"));
        own_folders(variable).into_iter().fold(zones, |zones, folder| zones.protecting(&folder))
    }

    /// The zones of a session that works in `workspace` for a user whose home is `home`.
    #[must_use]
    pub fn bare(workspace: &Path, home: Option<PathBuf>) -> Self {
        let root = found(workspace);
        let home = home.filter(|home| home.is_absolute()).map(|home| found(&home));
        let protected = Protected::of(&root, home.as_deref());
        Self { alias: absolute(Path::new("/"), workspace), roots: vec![root], home, protected }
    }

    /// The same with one more folder to work in.
    #[must_use]
    pub fn with_folder(mut self, folder: &Path) -> Self {
        let folder = found(folder);
        self.protected.add_git_of(&folder);
        self.roots.push(folder);
        self
    }

    /// The same with one more folder in which nothing may be written.
    #[must_use]
    pub fn protecting(mut self, folder: &Path) -> Self {
        self.protected.add(found(folder));
        self
    }

    /// The same with one more file that decides what runs: it can be read, and no tool writes it.
    #[must_use]
    pub fn keeping_file(mut self, file: &Path) -> Self {
        self.protected.add_file(found(file));
        self.protected.add_file(absolute(self.root(), file));
        self
    }

    /// The workspace, links resolved: what path rules are written from.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.roots.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// The user's home, links resolved.
    #[must_use]
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// What is done with the file that `path` names in the workspace.
    #[must_use]
    pub fn uses(&self, path: &str, access: Access) -> Vec<PathUse> {
        self.uses_from(self.root(), path, access)
    }

    /// The same for a path that begins in `folder`.
    pub(crate) fn uses_from(&self, folder: &Path, path: &str, access: Access) -> Vec<PathUse> {
        let whole = self.real_root(&folder.join(path));
        let written = absolute(Path::new("/"), &whole);
        let (leads_to, zone) = match real(&whole) {
            // Nearly every path is written as the place it leads to.
            Real::At(real) if real == written => (real, self.zone(&written, access)),
            Real::At(real) => {
                let zone = self.zone(&real, access).worse(self.zone(&written, access));
                (real, zone)
            }
            // Nobody can say where it leads, so it is nowhere we know.
            Real::Nowhere => (written.clone(), Zone::Outside.worse(self.zone(&written, access))),
        };
        let used = |path: &Path| PathUse { path: Arc::from(path.to_string_lossy()), access, zone };
        match leads_to == written {
            true => vec![used(&written)],
            false => vec![used(&leads_to), used(&written)],
        }
    }

    /// Whether it can be told where a path that begins in `folder` leads.
    pub(crate) fn is_known(&self, folder: &Path, path: &str) -> bool {
        let whole = self.real_root(&folder.join(path));
        // The numbers of processes are reused, and their files are the kernel's.
        let is_process = absolute(Path::new("/"), &whole).starts_with("/proc");
        let is_elsewhere = is_process || depends_on_process(&whole);
        !is_elsewhere && matches!(real(&whole), Real::At(real) if !real.starts_with("/proc"))
    }

    /// The folder that `path` leads to from `folder`: as the shell counts, taking `..` off the name,
    /// and as the kernel does.
    pub(crate) fn both_folders(&self, folder: &Path, path: &str) -> Vec<PathBuf> {
        let whole = folder.join(path);
        let mut both = vec![absolute(Path::new("/"), &whole)];
        if let Real::At(real) = real(&whole)
            && real != real_or_same(&both)
        {
            both.push(real);
        }
        both
    }

    /// Whether the folder that `path` names is the workspace or the home folder, or holds one of
    /// them: then places that decide what may run lie beneath it.
    pub(crate) fn holds_protected(&self, folder: &Path, path: &str) -> bool {
        let Real::At(real) = real(&self.real_root(&folder.join(path))) else { return true };
        let mut known = self.roots.iter().chain(&self.home);
        known.any(|known| known.starts_with(&real))
    }

    /// Whether writing to a path would change what may run.
    pub(crate) fn is_protected(&self, folder: &Path, path: &str) -> bool {
        let uses = self.uses_from(folder, path, Access::Write);
        uses.iter().any(|used| used.zone == Zone::Protected)
    }

    /// The same by the name of the path alone, without looking where it leads.
    pub(crate) fn is_protected_name(&self, folder: &Path, path: &str) -> bool {
        self.protects(&absolute(Path::new("/"), &self.real_root(&folder.join(path))))
    }

    fn zone(&self, path: &Path, access: Access) -> Zone {
        let is_write = access == Access::Write;
        let folded = FoldedPath::of(path);
        let is_private = self.protected.is_own(&folded)
            || self.holds_private(path, &folded)
            || (is_write && self.protected.holds_programs(&folded));
        // Whole parts are compared: `/data-evil` does not begin with `/data`.
        match self.roots.iter().any(|root| path.starts_with(root)) {
            _ if is_write && self.protected.has(&folded) => Zone::Protected,
            true if !is_private => Zone::Workspace,
            true | false => Zone::Outside,
        }
    }

    /// Whether a path is private: keys, histories. Where the workspace holds the whole home folder,
    /// everything hidden in that is.
    pub(crate) fn is_private(&self, path: &Path) -> bool {
        self.holds_private(path, &FoldedPath::of(path))
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

    /// Whether a path lies in one of our own folders.
    pub(crate) fn is_own(&self, path: &Path) -> bool {
        self.protected.is_own(&FoldedPath::of(path))
    }

    /// Whether something private lies beneath the folder that `path` names.
    pub(crate) fn has_private_beneath(&self, folder: &Path, path: &str) -> bool {
        let whole = self.real_root(&folder.join(path));
        let real = match real(&whole) {
            Real::At(real) => real,
            Real::Nowhere => return true,
        };
        self.protected.has_private_beneath(&real)
    }

    /// What a command that may write does with the file that `path` names: it is read, and where it
    /// is protected the zone says so.
    pub(crate) fn uses_of_writer(&self, folder: &Path, path: &str) -> Vec<PathUse> {
        let written = self.uses_from(folder, path, Access::Write);
        let is_protected = written.iter().any(|used| used.zone == Zone::Protected);
        let mut uses = self.uses_from(folder, path, Access::Read);
        if is_protected {
            uses.iter_mut().for_each(|used| used.zone = Zone::Protected);
        }
        uses
    }

    /// The path that `path` stands for in the workspace, as it was written.
    pub(super) fn whole(&self, path: &str) -> PathBuf {
        self.real_root(&self.root().join(path))
    }

    /// A real folder as it is named from the workspace: empty for the workspace itself, and the whole
    /// path for one that lies elsewhere.
    pub(crate) fn named_from_root(&self, folder: &Path) -> String {
        let beneath = folder.strip_prefix(self.root()).unwrap_or(folder);
        beneath.to_string_lossy().into_owned()
    }

    /// Whether a path, once its links are followed, lies in the workspace or a folder added to it.
    pub(crate) fn is_in_workspace(&self, path: &Path) -> bool {
        match real(&self.real_root(path)) {
            Real::At(real) => self.root_of(&real).is_some(),
            Real::Nowhere => true,
        }
    }

    /// The folder of the session in which a real path lies.
    pub(crate) fn root_of(&self, path: &Path) -> Option<&Path> {
        self.roots.iter().map(PathBuf::as_path).find(|root| path.starts_with(root))
    }

    /// Whether writing to a real path would change what may run.
    pub(super) fn protects(&self, path: &Path) -> bool {
        self.protected.has(&FoldedPath::of(path))
    }

    /// A path through another name of the workspace, as one through its real name.
    fn real_root(&self, path: &Path) -> PathBuf {
        match path.strip_prefix(&self.alias) {
            Ok(rest) => self.root().join(rest),
            Err(_) => path.to_owned(),
        }
    }
}

/// The place itself if it can be found, else the name it would have.
fn found(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    match real(&whole) {
        Real::At(real) => real,
        Real::Nowhere => absolute(Path::new("/"), &whole),
    }
}

/// Where the first of these folders really is.
fn real_or_same(folders: &[PathBuf]) -> PathBuf {
    let first = folders.first().cloned().unwrap_or_default();
    match real(&first) {
        Real::At(real) => real,
        Real::Nowhere => first,
    }
}

/// The worse of two zones counts.
trait Worse {
    fn worse(self, other: Self) -> Self;
}

impl Worse for Zone {
    fn worse(self, other: Self) -> Self {
        match (self, other) {
            (Self::Protected, _) | (_, Self::Protected) => Self::Protected,
            (Self::Outside, _) | (_, Self::Outside) => Self::Outside,
            (Self::Workspace, Self::Workspace) => Self::Workspace,
        }
    }
}
