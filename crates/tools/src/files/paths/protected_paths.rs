//! Protected paths: writing there changes what may run (hooks, tasks, start files of shells and
//! editors, our own configuration). They count whether they exist or not: creating one decides what
//! is in it.
//!
//! Beside them there are the private paths of a home folder: keys, histories, folders of programs.
//! They are never part of a workspace, even if the workspace is the home folder itself.

use std::path::{Path, PathBuf};

use super::git_config::protected_git_paths;
use super::path_file::read_path_file;

/// Names that are protected in every folder, by component. A `*` matches the rest, or the
/// beginning, of a name; a folder protects everything in it, and it is itself protected, because
/// moving another folder to its path replaces its contents.
pub(super) const PROTECTED_ANYWHERE: &[&[&str]] = &[
    &[".git"],
    &[".mcp.json"],
    &[".claude"],
    &[".windlass"],
    // Start files that editors read from their working folder.
    &[".vscode"],
    &[".idea"],
    &[".zed"],
    &[".helix"],
    &[".cursor"],
    &[".devcontainer"],
    &[".vim"],
    &[".lvimrc"],
    &[".gdbinit"],
    &[".lldbinit"],
    &["*.code-workspace"],
    &[".vimrc"],
    &[".gvimrc"],
    &[".exrc"],
    &[".nvimrc"],
    &[".nvim.lua"],
    &[".dir-locals.el"],
    &[".dir-locals-2.el"],
    // The file that direnv runs when a shell enters the folder.
    &[".envrc"],
];

/// Names that are protected in the home folder.
pub(super) const PROTECTED_AT_HOME: &[&[&str]] = &[
    &[".ssh"],
    &[".gnupg"],
    &[".bashrc"],
    &[".bash_profile"],
    &[".bash_login"],
    &[".bash_logout"],
    &[".bash_aliases"],
    &[".profile"],
    &[".inputrc"],
    &[".zshrc"],
    &[".zshenv"],
    &[".zprofile"],
    &[".zlogin"],
    &[".zlogout"],
    &[".kshrc"],
    &[".cshrc"],
    &[".tcshrc"],
    &[".login"],
    &[".pam_environment"],
    &[".xinitrc"],
    &[".xprofile"],
    &[".xsession*"],
    &[".xsessionrc"],
    &[".tmux.conf"],
    &[".screenrc"],
    &[".gdbinit"],
    &[".lldbinit"],
    &[".gitconfig"],
    &[".netrc"],
    &[".npmrc"],
    &[".cargo", "config*"],
    &[".vim"],
    &[".emacs*"],
    &[".spacemacs*"],
    &[".nanorc"],
    &[".config", "fish"],
    &[".config", "git"],
    &[".config", "nvim"],
    &[".config", "vim"],
    &[".config", "emacs"],
    &[".config", "helix"],
    &[".config", "kak"],
    &[".config", "zed"],
    &[".config", "Code", "User"],
    &[".config", "tmux"],
    &[".config", "direnv"],
    &[".config", "autostart"],
    &[".config", "systemd"],
    &[".config", "environment.d"],
    &[".local", "share", "systemd"],
    &[".local", "share", "applications"],
    &[".local", "share", "dbus-1"],
];

/// Names in the home folder that are private: reading them requires approval.
pub(super) const PRIVATE_AT_HOME: &[&[&str]] = &[
    &[".ssh"],
    &[".gnupg"],
    &[".aws"],
    &[".azure"],
    &[".kube"],
    &[".docker", "config.json"],
    &[".config", "gcloud"],
    &[".config", "gh"],
    &[".config", "hub"],
    &[".config", "op"],
    &[".config", "rclone"],
    &[".config", "git", "credentials"],
    &[".config", "google-chrome*"],
    &[".config", "chromium"],
    &[".config", "bravesoftware"],
    &[".netrc"],
    &[".npmrc"],
    &[".pypirc"],
    &[".pgpass"],
    &[".my.cnf"],
    &[".git-credentials"],
    &[".cargo", "credentials*"],
    &[".gem", "credentials"],
    &[".terraform.d"],
    &[".vault-token"],
    &[".password-store"],
    &[".local", "share", "keyrings"],
    &[".local", "share", "kwalletd"],
    &[".mozilla"],
    &[".thunderbird"],
    &[".bash_history"],
    &[".zsh_history"],
    &[".python_history"],
    &[".node_repl_history"],
    &[".psql_history"],
    &[".mysql_history"],
    &[".sqlite_history"],
    &[".claude.json"],
    &[".claude", ".credentials.json"],
];

/// Folders of programs in the home folder: writing to them requires approval.
const PROGRAM_FOLDERS_AT_HOME: &[&[&str]] =
    &[&[".local", "bin"], &["bin"], &[".cargo", "bin"], &["go", "bin"]];

/// Hidden names in a home folder that contain neither keys nor anything that runs automatically.
const HARMLESS: &[&str] = &[".gitignore", ".gitattributes", ".editorconfig", ".github"];

/// A path to compare with protected paths. Every call compares its paths with several of them, so a
/// path is folded once.
pub(crate) struct FoldedPath(Vec<String>);

impl FoldedPath {
    pub(crate) fn new(path: &Path) -> Self {
        Self(folded_parts(path))
    }
}

/// The protected paths of one session. Every tool call compares paths with them several times, so
/// they are folded once.
#[derive(Debug, Clone)]
pub(crate) struct ProtectedPaths {
    folders: Vec<Vec<String>>,
    /// Our own configuration and state, which cannot even be read without approval.
    own: Vec<Vec<String>>,
    /// The paths of `folders` and `own` as the system has them.
    kept_paths: Vec<PathBuf>,
    own_paths: Vec<PathBuf>,
    home: Option<Home>,
}

/// The home folder of the user.
#[derive(Debug, Clone)]
struct Home {
    path: PathBuf,
    parts: Vec<String>,
}

impl ProtectedPaths {
    pub(crate) fn of(root: &Path, home: Option<&Path>) -> Self {
        let home = home.map(|home| Home { path: home.to_owned(), parts: folded_parts(home) });
        let mut protected = Self {
            folders: Vec::new(),
            own: Vec::new(),
            kept_paths: Vec::new(),
            own_paths: Vec::new(),
            home,
        };
        protected.add_git_of(root);
        protected
    }

    pub(crate) fn add_own_folder(&mut self, folder: PathBuf) {
        self.own.push(folded_parts(&folder));
        self.own_paths.push(folder);
    }

    /// Adds a file that decides what runs, and may be read.
    pub(crate) fn add_file(&mut self, file: PathBuf) {
        self.folders.push(folded_parts(&file));
        self.kept_paths.push(file);
    }

    /// Adds the git folders of a root. In a worktree or a submodule `.git` is a file that contains
    /// the folder's path, and wherever that folder is, its configuration may name another folder
    /// for hooks.
    pub(crate) fn add_git_of(&mut self, root: &Path) {
        if let Some(folder) = read_path_file(&root.join(".git"), "gitdir:") {
            let shared = read_path_file(&folder.join("commondir"), "");
            self.folders
                .extend(std::iter::once(folder).chain(shared).map(|path| folded_parts(&path)));
        }
        let home = self.home.as_ref().map(|home| &*home.path);
        let paths = protected_git_paths(root, home);
        self.folders.extend(paths.iter().map(|path| folded_parts(path)));
        self.kept_paths.extend(paths);
    }

    /// Returns the files and folders that decide what runs, as the system has them.
    pub(super) fn kept_paths(&self) -> &[PathBuf] {
        &self.kept_paths
    }

    /// Returns our own folders, as the system has them.
    pub(super) fn own_paths(&self) -> &[PathBuf] {
        &self.own_paths
    }

    pub(crate) fn contains(&self, path: &FoldedPath) -> bool {
        let in_folder = |folder: &Vec<String>| path.0.starts_with(folder);
        has_protected_name(&path.0)
            || self.folders.iter().chain(&self.own).any(in_folder)
            || self.is_listed_at_home(path, PROTECTED_AT_HOME)
    }

    /// Returns whether the path lies in one of our own folders.
    pub(crate) fn is_in_own_folder(&self, path: &FoldedPath) -> bool {
        self.own.iter().any(|folder| path.0.starts_with(folder))
    }

    /// Returns whether the path is one of the private paths of the home folder.
    pub(crate) fn is_private(&self, path: &FoldedPath) -> bool {
        self.is_listed_at_home(path, PRIVATE_AT_HOME)
    }

    /// Returns whether the path is a hidden entry of the home folder, or lies in one: keys,
    /// histories, start files and programs have too many names to list them all.
    pub(crate) fn is_hidden_at_home(&self, path: &FoldedPath) -> bool {
        let Some(home) = &self.home else { return false };
        let first = path.0.strip_prefix(home.parts.as_slice()).and_then(<[String]>::first);
        first.is_some_and(|first| {
            let is_hidden =
                first.starts_with('.') || matches!(first.as_str(), "library" | "appdata");
            is_hidden && !HARMLESS.contains(&first.as_str())
        })
    }

    /// Returns whether one of our own folders or a private path may lie beneath a folder.
    pub(crate) fn has_private_beneath(&self, folder: &Path) -> bool {
        let parts = folded_parts(folder);
        let private = |home: &Home| {
            let names = |names: &[&str]| {
                names.iter().map(|name| fold_name(name.trim_end_matches('*'))).collect::<Vec<_>>()
            };
            let place = |private: &&[&str]| [home.parts.clone(), names(private)].concat();
            PRIVATE_AT_HOME.iter().any(|private| place(private).starts_with(&parts))
        };
        self.own.iter().any(|own| own.starts_with(&parts))
            || self.home.as_ref().is_some_and(private)
    }

    /// Returns whether the path lies in a folder of the user's programs.
    pub(crate) fn is_program_folder(&self, path: &FoldedPath) -> bool {
        self.is_listed_at_home(path, PROGRAM_FOLDERS_AT_HOME)
    }

    fn is_listed_at_home(&self, path: &FoldedPath, names: &[&[&str]]) -> bool {
        let rest = self.home.as_ref().and_then(|home| path.0.strip_prefix(home.parts.as_slice()));
        rest.is_some_and(|rest| starts_with_any(rest, names))
    }
}

/// Returns the folders of our own configuration and state.
pub(crate) fn own_folders(variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    let at_home = |folder: &str| variable("HOME").map(|home| home.join(folder));
    let config = variable("XDG_CONFIG_HOME").or_else(|| at_home(".config"));
    let state = variable("XDG_STATE_HOME").or_else(|| at_home(".local/state"));
    let named = [config, state].into_iter().flatten().map(|folder| folder.join("windlass"));
    named.chain(variable("WINDLASS_HOME")).filter(|folder| folder.is_absolute()).collect()
}

fn has_protected_name(parts: &[String]) -> bool {
    let begins_at =
        |at: usize| parts.get(at..).is_some_and(|rest| starts_with_any(rest, PROTECTED_ANYWHERE));
    (0..parts.len()).any(begins_at)
}

fn starts_with_any(parts: &[String], names: &[&[&str]]) -> bool {
    let is = |part: &String, name: &str| match (name.strip_suffix('*'), name.strip_prefix('*')) {
        (Some(start), _) => {
            part.get(..start.len()).is_some_and(|part| part.eq_ignore_ascii_case(start))
        }
        (None, Some(end)) => part
            .len()
            .checked_sub(end.len())
            .and_then(|at| part.get(at..))
            .is_some_and(|part| part.eq_ignore_ascii_case(end)),
        (None, None) => part.eq_ignore_ascii_case(name),
    };
    let Some(first) = parts.first() else { return false };
    let is_hidden = first.starts_with('.');
    let all = |name: &[&str]| {
        // Nearly every protected name is hidden, and nearly every path is not.
        let fits = is_hidden || !name.first().is_some_and(|name| name.starts_with('.'));
        fits && parts.len() >= name.len()
            && name.iter().zip(parts).all(|(name, part)| is(part, name))
    };
    names.iter().any(|name| all(name))
}

/// Returns the components of a path as the most lenient file system would compare them: case is
/// ignored, and so are zero-width characters and trailing dots and spaces.
fn folded_parts(path: &Path) -> Vec<String> {
    let part = |part: std::path::Component<'_>| match part {
        std::path::Component::Normal(name) => Some(fold_name(&name.to_string_lossy())),
        _ => None,
    };
    path.components().filter_map(part).collect()
}

fn fold_name(name: &str) -> String {
    // Most names are plain: only their case has to be folded.
    let is_plain = |c: u8| c.is_ascii_graphic() || c == b' ';
    let folded = match name.bytes().all(is_plain) {
        true => name.to_ascii_lowercase(),
        false => fold_unicode(name),
    };
    match folded.trim_end_matches(['.', ' ']) {
        "git~1" => ".git".to_owned(),
        trimmed => trimmed.to_owned(),
    }
}

fn fold_unicode(name: &str) -> String {
    let visible = name.chars().filter(|c| !crate::tool_definition::tool_input::is_invisible(*c));
    visible.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}
