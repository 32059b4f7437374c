//! What a call is about, as far as rules can see it: found out at the edge, recorded with the facts.

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

/// What a call is about.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// Nothing rules could be scoped to.
    #[default]
    Nothing,
    /// Files and folders.
    Paths(Vec<PathUse>),
    /// A host on the network.
    Domain(Arc<str>),
    /// A shell command, taken apart.
    Shell(Shell),
}

/// A path and what is done with it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PathUse {
    /// Absolute, without `.` and `..`. A path that goes through a link is there twice: as it was
    /// written and where it leads, so that a rule about either is heard.
    pub path: Arc<str>,
    /// What is done with it.
    pub access: Access,
    /// Where it lies.
    pub zone: Zone,
}

/// What is done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// It is looked at.
    Read,
    /// It is changed.
    Write,
}

/// Where a path lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Zone {
    /// In the workspace or a folder that was added to it.
    Workspace,
    /// Anywhere else, or nobody can tell where.
    Outside,
    /// Where writing would change what may run: hooks, configuration, keys. Exists or not.
    Protected,
}

/// A shell command, taken apart by a real parser.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shell {
    /// The folder it starts in: from the workspace's own, or the whole path if it lies elsewhere.
    /// Empty where it is the workspace's own.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub folder: Arc<str>,
    /// Every simple command found, at any depth, wrappers taken off. A relative path of a program is
    /// written from the workspace's folder, wherever the command starts.
    pub commands: Vec<SimpleCommand>,
    /// The same commands under other names of their programs: where a link leads, `git x` for
    /// `git-x`. Only rules that hold back look at them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_names: Vec<SimpleCommand>,
    /// Paths that its commands write to, as far as their words say so.
    #[serde(default)]
    pub writes: Vec<PathUse>,
    /// Paths that output redirections write to. They are edits: a rule about the command before the
    /// redirection says nothing of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirects: Vec<PathUse>,
    /// Paths that its commands may read: every argument could be one. Where a command that is not
    /// known to be read-only names a protected path, the zone says so.
    #[serde(default)]
    pub reads: Vec<PathUse>,
    /// Files that its commands may use without naming them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scans: Vec<Scan>,
    /// Files that a word may lead to, though it does not name them: names within a longer word, and
    /// what a pattern finds behind a link.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_use: Vec<PathUse>,
    /// What it may run or use without showing it. It matters where a rule holds something back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<Arc<str>>,
    /// What the parser saw that the rules do not understand; with any, nothing is allowed.
    #[serde(default)]
    pub doubts: Vec<Arc<str>>,
    /// How much of it was looked at.
    #[serde(default)]
    pub seen: Seen,
}

/// Files that a command may use without naming each of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scan {
    /// A folder that is meant with everything beneath it, or a pattern for paths; `/` where it may
    /// be any file at all.
    pub path: Arc<str>,
    /// What may be done with them.
    pub access: Access,
}

/// How much of a command was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// All of it.
    #[default]
    Whole,
    /// It was over a limit: a deny rule may not have seen what it is there for.
    Part,
}

/// A command and its arguments, each a plain word.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SimpleCommand {
    /// The words; the first is the command's name, without its folder if that is one of the
    /// system's. A program of another folder is another program, whatever its name.
    pub words: Vec<Arc<str>>,
}

impl Subject {
    /// Whether there is nothing to see.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::Nothing
    }

    /// The folder that a command starts in; empty for the workspace's own, and for everything else.
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
    /// A command of these words.
    #[must_use]
    pub fn of<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> Self {
        Self { words: words.into_iter().map(|word| Arc::from(word.as_ref())).collect() }
    }

    /// The name it is called by.
    #[must_use]
    pub fn name(&self) -> &str {
        self.words.first().map_or("", AsRef::as_ref)
    }

    /// The same without any folder before its name, if there is one.
    #[must_use]
    pub fn bare(&self) -> Option<Self> {
        let (_, name) = self.name().rsplit_once('/')?;
        let rest = self.words.iter().skip(1).map(AsRef::as_ref);
        Some(Self::of(std::iter::once(name).chain(rest)))
    }
}
