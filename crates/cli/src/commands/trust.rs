//! `windlass trust`: trusts a folder, so that what it would run or allow takes effect, or revokes
//! that.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::config::paths;
use crate::config::trust::folder_trust::{self, FolderTrust, TrustState};
use crate::config::trust::trust_file::TrustDecision;
use crate::{messages, terminal};

pub(crate) fn run(folder: &Path, revoke: bool) -> anyhow::Result<ExitCode> {
    if revoke {
        return print_revoked(&canonical_or_absolute(folder)?);
    }
    let folder = paths::resolve_folder(folder, "windlass trust DIR")?;
    let mut at = FolderTrust::load(&folder, |_| true)?;
    let already = if at.trust == TrustState::Trusted { "already " } else { "" };
    at.record_decision(TrustDecision::Trusted)?;
    terminal::print_line(&format!("{} is {already}trusted", messages::folder_name(&folder)));
    messages::grant_lines(&at.grants)
        .iter()
        .for_each(|line| terminal::print_line(&terminal::sanitize_text(line)));
    Ok(ExitCode::SUCCESS)
}

fn print_revoked(folder: &Path) -> anyhow::Result<ExitCode> {
    let text = match folder_trust::revoke_trust(folder)? {
        TrustState::Trusted => "is no longer trusted",
        TrustState::Untrusted => "was not trusted",
    };
    terminal::print_line(&format!("{} {text}", messages::folder_name(folder)));
    Ok(ExitCode::SUCCESS)
}

/// The canonical path of a folder, or its absolute path if it no longer exists: its trust can still
/// be revoked.
fn canonical_or_absolute(folder: &Path) -> anyhow::Result<PathBuf> {
    match folder.canonicalize() {
        Ok(real) => Ok(real),
        Err(_) => Ok(std::path::absolute(folder)?.components().collect()),
    }
}
