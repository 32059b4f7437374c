//! `windlass trust`: what a folder says counts from now on.

use std::path::Path;
use std::process::ExitCode;

use crate::settle::paths;
use crate::settle::trust::{self, Trust};
use crate::show;

pub(crate) fn trust(folder: &Path, revoke: bool) -> anyhow::Result<ExitCode> {
    let folder = paths::folder(folder, "windlass trust DIR")?;
    let trust = if revoke { Trust::Missing } else { Trust::Given };
    trust::write(&folder, trust)?;
    let said = if revoke { "no longer trusted" } else { "trusted" };
    show::line(&format!("{} is {said}", folder.display()));
    Ok(ExitCode::SUCCESS)
}
