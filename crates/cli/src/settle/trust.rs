//! Whether a project's folder is trusted. What an untrusted folder says can only hold back.
//!
//! Trust is of one folder and not of those below it, and it is bound to what the folder would run or
//! allow: if that changes, the folder is untrusted until the user has looked at it again.

use std::path::{Path, PathBuf};

use super::grants::ProjectGrants;
use super::paths;
use super::sources::{self, SettingsText};
use super::trust_file::{self, Decision, TrustEntry};
use crate::words;

/// Whether a folder is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The user said so, of what it grants now.
    Given,
    /// The user did not.
    Missing,
}

/// How it stands with a folder.
#[derive(Debug)]
pub(crate) struct FolderTrust {
    pub(crate) folder: PathBuf,
    pub(crate) trust: Trust,
    /// What trust enables.
    pub(crate) grants: ProjectGrants,
    /// The kinds of grants that changed since the folder was trusted.
    pub(crate) changed: Vec<&'static str>,
    /// Whether the user was asked about exactly this and said no.
    pub(crate) is_declined: bool,
    /// The settings of the folder, as they were when it was looked at.
    pub(crate) texts: Vec<SettingsText>,
}

impl FolderTrust {
    /// Looks at a folder. Settings that cannot be read are an error where their source counts.
    pub(crate) fn look(folder: &Path, reads: impl Fn(&str) -> bool) -> anyhow::Result<Self> {
        let texts = sources::of_project(folder, reads)?;
        let grants = match is_users_own(folder) {
            true => ProjectGrants::default(),
            false => ProjectGrants::read(folder, &texts),
        };
        let entry = trust_file::find(folder)?;
        let decided = entry.as_ref().map(|entry| (entry.decision, &entry.grants));
        let changed = decided.map(|(_, hashes)| grants.changed_since(hashes)).unwrap_or_default();
        let (trust, is_declined) = match decided {
            Some((Decision::Trusted, _)) if changed.is_empty() && grants.too_much.is_none() => {
                (Trust::Given, false)
            }
            Some((Decision::Declined, _)) => (Trust::Missing, changed.is_empty()),
            Some((Decision::Trusted, _)) | None => (Trust::Missing, false),
        };
        let changed = match decided {
            Some((Decision::Trusted, _)) => changed,
            Some((Decision::Declined, _)) | None => Vec::new(),
        };
        Ok(Self { folder: folder.to_owned(), trust, grants, changed, is_declined, texts })
    }

    /// Whether something of the folder is ignored because it is not trusted.
    pub(crate) fn ignores_something(&self) -> bool {
        self.trust == Trust::Missing && !self.grants.is_empty()
    }

    /// Keeps what the user decided, about what was looked at.
    pub(crate) fn decide(&mut self, decision: Decision) -> anyhow::Result<()> {
        if let (Decision::Trusted, Some(why)) = (decision, &self.grants.too_much) {
            anyhow::bail!("{}", words::too_much_to_trust(&self.folder, why));
        }
        let path = self.folder.to_str().map(str::to_owned).ok_or_else(|| {
            let folder = self.folder.display();
            anyhow::anyhow!("the name of {folder} is not UTF-8, so it cannot be trusted; rename it")
        })?;
        let entry = TrustEntry { path, decision, grants: self.grants.hashes() };
        trust_file::replace(&self.folder, Some(entry))?;
        (self.trust, self.is_declined) = match decision {
            Decision::Trusted => (Trust::Given, false),
            Decision::Declined => (Trust::Missing, true),
        };
        self.changed.clear();
        Ok(())
    }
}

/// Whether the folder's settings are the user's own: the home folder is not a project.
pub(crate) fn is_users_own(folder: &Path) -> bool {
    let real = |path: PathBuf| path.canonicalize().ok();
    let own = paths::shared_settings().and_then(real);
    own.is_some() && real(folder.join(".claude")) == own
}

/// Forgets every decision about a folder, and says whether it was trusted.
pub(crate) fn revoke(folder: &Path) -> anyhow::Result<Trust> {
    let before = trust_file::replace(folder, None)?;
    Ok(match before.map(|entry| entry.decision) {
        Some(Decision::Trusted) => Trust::Given,
        Some(Decision::Declined) | None => Trust::Missing,
    })
}
