//! The subject of a call, as far as permission rules can see it: found when the call is assessed,
//! recorded with the facts.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use super::access::AddedAccess;

/// The subject of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallSubject {
    /// Nothing that a rule could be scoped to.
    #[default]
    Nothing,
    /// Files and folders.
    Paths(Vec<PathUse>),
    /// A host on the network.
    Domain(Arc<str>),
    /// A shell command, parsed.
    Shell(Box<ShellCommand>),
}

impl From<ShellCommand> for CallSubject {
    fn from(command: ShellCommand) -> Self {
        Self::Shell(Box::new(command))
    }
}

/// A path and how it is accessed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PathUse {
    /// Absolute path, without `.` and `..`. A path through a link is listed twice: as it was
    /// written and where it leads, so that a rule about either matches.
    pub path: Arc<str>,
    /// How the path is accessed.
    pub access: PathAccess,
    /// Zone of the path.
    pub zone: PathZone,
}

/// How a path is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathAccess {
    /// The path is read.
    Read,
    /// The path is changed.
    Write,
}

/// The zone of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PathZone {
    /// In the workspace or an added folder.
    Workspace,
    /// Anywhere else, or unknown.
    Outside,
    /// A path where writing would change what may run: hooks, configuration, keys. It need not
    /// exist.
    Protected,
}

/// A shell command, parsed by a real parser.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ShellCommand {
    /// The folder that the command starts in: relative to the workspace, or absolute if it lies
    /// elsewhere. Empty for the workspace folder itself.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub folder: Arc<str>,
    /// Every simple command found, at any depth, without wrappers. A relative path of a program is
    /// relative to the workspace folder, wherever the command starts.
    pub commands: Vec<SimpleCommand>,
    /// The commands under other names of their programs: where a link leads, `git x` for
    /// `git-x`. Only deny and ask rules look at them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_names: Vec<SimpleCommand>,
    /// Paths that its commands write to, as far as their words say so.
    #[serde(default)]
    pub writes: Vec<PathUse>,
    /// Paths that output redirections write to. They are edits: a rule about the command before the
    /// redirection does not cover them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<PathUse>,
    /// Paths that its commands may read: every argument could be one. Where a command that is not
    /// known to be read-only names a protected path, the zone says so.
    #[serde(default)]
    pub reads: Vec<PathUse>,
    /// Files that its commands may use without naming them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scans: Vec<FileScan>,
    /// Files that a word may lead to, though it does not name them: names within a longer word, and
    /// what a pattern finds behind a link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_use: Vec<PathUse>,
    /// What the command may run or use without showing it. Relevant where a deny or ask rule
    /// exists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<Arc<str>>,
    /// Syntax that the rules do not understand; with any, nothing is allowed.
    #[serde(default)]
    pub unsupported: Vec<Arc<str>>,
    /// How much of the command was parsed.
    #[serde(default)]
    pub coverage: ParseCoverage,
    /// What a person is asked to give the command beyond the policy of the sandbox, after it was
    /// kept from that.
    #[serde(default, skip_serializing_if = "AddedAccess::is_empty")]
    pub added: AddedAccess,
}

/// Files that a command may use without naming each of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FileScan {
    /// A folder with everything beneath it, or a path pattern; `/` if it may be any file at all.
    pub path: Arc<str>,
    /// How the files may be accessed.
    pub access: PathAccess,
}

/// How much of a command was parsed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParseCoverage {
    /// All of the command.
    #[default]
    Complete,
    /// The command exceeded a limit: a deny rule may not have seen the part it is about.
    Partial,
}

/// A command and its arguments, each a plain word.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SimpleCommand {
    /// The words; the first is the command's name, without its folder if that is a system folder. A
    /// program in another folder is another program, whatever its name.
    pub words: Vec<Arc<str>>,
}

impl CallSubject {
    /// Returns whether the subject is empty.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::Nothing
    }

    /// Returns the folder that a command starts in; empty for the workspace folder, and for all
    /// other subjects.
    #[must_use]
    pub fn folder(&self) -> &Arc<str> {
        static NONE: LazyLock<Arc<str>> = LazyLock::new(Arc::default);
        match self {
            Self::Shell(shell) => &shell.folder,
            Self::Nothing | Self::Paths(_) | Self::Domain(_) => &NONE,
        }
    }
}

impl SimpleCommand {
    /// Creates a command of these words.
    #[must_use]
    pub fn from_words<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> Self {
        Self { words: words.into_iter().map(|word| Arc::from(word.as_ref())).collect() }
    }

    /// Returns the name of the command.
    #[must_use]
    pub fn name(&self) -> &str {
        self.words.first().map_or("", AsRef::as_ref)
    }

    /// Returns the command without the folder before its name, if it has one.
    #[must_use]
    pub fn without_folder(&self) -> Option<Self> {
        let (_, name) = self.name().rsplit_once('/')?;
        let rest = self.words.iter().skip(1).map(AsRef::as_ref);
        Some(Self::from_words(std::iter::once(name).chain(rest)))
    }
}
