//! Folder trust. The settings of an untrusted folder can only restrict.
//!
//! Trust applies to one folder and not to those below it, and it is bound to what the folder would
//! run or allow: if that changes, the folder is untrusted until the user has reviewed it again.

use std::path::{Path, PathBuf};

use crate::config::claude::settings_sources::{self, SettingsFile};
use crate::config::paths;
use crate::config::trust::project_grants::ProjectGrants;
use crate::config::trust::trust_file::{self, TrustDecision, TrustEntry};
use crate::messages;

/// Whether a folder is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustState {
    /// The user trusted the folder, with its current grants.
    Trusted,
    /// The user did not trust the folder with its current grants.
    Untrusted,
}

/// The trust state of a folder and what it is bound to.
#[derive(Debug)]
pub(crate) struct FolderTrust {
    pub(crate) folder: PathBuf,
    pub(crate) trust: TrustState,
    /// The grants that trust enables.
    pub(crate) grants: ProjectGrants,
    /// The kinds of grants that changed since the folder was trusted.
    pub(crate) changed: Vec<&'static str>,
    /// Whether the user was asked about exactly these grants and declined.
    pub(crate) is_declined: bool,
    /// The settings files of the folder, as they were when they were read.
    pub(crate) settings_files: Vec<SettingsFile>,
}

impl FolderTrust {
    /// Loads the trust state of a folder. Unreadable settings are an error if their source is in
    /// use.
    pub(crate) fn load(folder: &Path, reads: impl Fn(&str) -> bool) -> anyhow::Result<Self> {
        let settings_files = settings_sources::project_settings(folder, reads)?;
        let grants = match is_user_folder(folder) {
            true => ProjectGrants::default(),
            false => ProjectGrants::read(folder, &settings_files),
        };
        let entry = trust_file::find_entry(folder)?;
        let decided = entry.as_ref().map(|entry| (entry.decision, &entry.grants));
        let changed = decided.map(|(_, hashes)| grants.changed_since(hashes)).unwrap_or_default();
        let (trust, is_declined) = match decided {
            Some((TrustDecision::Trusted, _))
                if changed.is_empty() && grants.too_much.is_none() =>
            {
                (TrustState::Trusted, false)
            }
            Some((TrustDecision::Declined, _)) => (TrustState::Untrusted, changed.is_empty()),
            Some((TrustDecision::Trusted, _)) | None => (TrustState::Untrusted, false),
        };
        let changed = match decided {
            Some((TrustDecision::Trusted, _)) => changed,
            Some((TrustDecision::Declined, _)) | None => Vec::new(),
        };
        Ok(Self { folder: folder.to_owned(), trust, grants, changed, is_declined, settings_files })
    }

    /// Returns whether something of the folder is ignored because it is not trusted.
    pub(crate) fn has_ignored_grants(&self) -> bool {
        self.trust == TrustState::Untrusted && !self.grants.is_empty()
    }

    /// Records the user's decision about the grants that were read.
    pub(crate) fn record_decision(&mut self, decision: TrustDecision) -> anyhow::Result<()> {
        if let (TrustDecision::Trusted, Some(reason)) = (decision, &self.grants.too_much) {
            anyhow::bail!("{}", messages::too_much_to_trust(&self.folder, reason));
        }
        let path = self.folder.to_str().map(str::to_owned).ok_or_else(|| {
            let folder = self.folder.display();
            anyhow::anyhow!("the name of {folder} is not UTF-8, so it cannot be trusted; rename it")
        })?;
        let entry = TrustEntry { path, decision, grants: self.grants.hashes() };
        trust_file::replace_entry(&self.folder, Some(entry))?;
        (self.trust, self.is_declined) = match decision {
            TrustDecision::Trusted => (TrustState::Trusted, false),
            TrustDecision::Declined => (TrustState::Untrusted, true),
        };
        self.changed.clear();
        Ok(())
    }
}

/// Returns whether the folder's settings are the user's own: the home folder is not a project.
pub(crate) fn is_user_folder(folder: &Path) -> bool {
    let real = |path: PathBuf| path.canonicalize().ok();
    let own = paths::user_settings_folder().and_then(real);
    own.is_some() && real(folder.join(".claude")) == own
}

/// Removes every decision about a folder, and returns whether it was trusted.
pub(crate) fn revoke_trust(folder: &Path) -> anyhow::Result<TrustState> {
    let before = trust_file::replace_entry(folder, None)?;
    Ok(match before.map(|entry| entry.decision) {
        Some(TrustDecision::Trusted) => TrustState::Trusted,
        Some(TrustDecision::Declined) | None => TrustState::Untrusted,
    })
}
