//! `windlass trust`: what a folder would run or allow counts from now on, or no longer.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::settle::paths;
use crate::settle::trust::{self, FolderTrust, Trust};
use crate::settle::trust_file::Decision;
use crate::{show, words};

pub(crate) fn trust(folder: &Path, revoke: bool) -> anyhow::Result<ExitCode> {
    if revoke {
        return end(&named(folder)?);
    }
    let folder = paths::folder(folder, "windlass trust DIR")?;
    let mut at = FolderTrust::look(&folder, |_| true)?;
    let already = if at.trust == Trust::Given { "already " } else { "" };
    at.decide(Decision::Trusted)?;
    show::line(&show::harmless(&format!("{} is {already}trusted", folder.display())));
    words::trust_lines(&at.grants).iter().for_each(|line| show::line(&show::harmless(line)));
    Ok(ExitCode::SUCCESS)
}

fn end(folder: &Path) -> anyhow::Result<ExitCode> {
    let said = match trust::revoke(folder)? {
        Trust::Given => "is no longer trusted",
        Trust::Missing => "was not trusted",
    };
    show::line(&show::harmless(&format!("{} {said}", folder.display())));
    Ok(ExitCode::SUCCESS)
}

/// A folder that may be gone: trust in it can be taken back all the same.
fn named(folder: &Path) -> anyhow::Result<PathBuf> {
    match folder.canonicalize() {
        Ok(real) => Ok(real),
        Err(_) => Ok(std::path::absolute(folder)?.components().collect()),
    }
}
