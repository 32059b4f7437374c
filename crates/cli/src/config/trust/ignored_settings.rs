//! What a run ignores because its folder is not trusted, as a value: people read it on standard
//! error, programs get it in a message.

use serde::Serialize;

use crate::config::trust::folder_trust::FolderTrust;
use crate::messages;

/// The settings of a folder that are ignored because it is not trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct IgnoredSettings {
    /// The folder.
    pub(crate) folder: String,
    /// The kinds of settings that are ignored.
    pub(crate) kinds: Vec<IgnoredKind>,
    /// One sentence that says what is ignored and what to do.
    pub(crate) message: String,
}

/// A kind of settings that is ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct IgnoredKind {
    /// The name of the kind: `hooks`, `allow rules`.
    pub(crate) kind: &'static str,
    pub(crate) count: usize,
}

impl IgnoredSettings {
    /// What every run in the folder ignores; `None` if that is nothing. What a custom command would
    /// bring is reported when it is typed.
    pub(crate) fn of_every_run(folder: &FolderTrust) -> Option<Self> {
        let kinds: Vec<IgnoredKind> = folder
            .grants
            .kinds_of_every_run()
            .map(|kind| IgnoredKind { kind: kind.name, count: kind.lines.len() })
            .collect();
        let is_ignored = folder.has_ignored_grants() && !kinds.is_empty();
        is_ignored.then(|| Self {
            folder: folder.folder.display().to_string(),
            kinds,
            message: messages::folder_untrusted(folder),
        })
    }
}
