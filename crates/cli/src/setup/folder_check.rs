//! The folder of a run: whether it is trusted, and what follows from that.

use std::path::Path;

use anyhow::Context;

use crate::args::{PermissionArgs, WhenAsked};
use crate::config::claude::settings_sources;
use crate::config::command_tools::CommandTools;
use crate::config::config_toml::Config;
use crate::config::trust::folder_trust::FolderTrust;
use crate::config::trust::ignored_settings::IgnoredSettings;
use crate::exit::OrUsageError;
use crate::{output, terminal};

/// Checks the trust of the folder. What is ignored is reported once; at a terminal the user is
/// asked first.
pub(super) fn check_folder(
    workspace: &Path,
    args: &PermissionArgs,
    config: &Config,
    when_asked: WhenAsked,
) -> anyhow::Result<(FolderTrust, CommandTools, Option<IgnoredSettings>)> {
    let reads_source = |source: &str| args.reads_source(source);
    let mut folder = FolderTrust::load(workspace, reads_source).or_usage_error()?;
    // Rules may name command tools, so these come first.
    let mut programs =
        CommandTools::load(config, workspace, folder.trust, reads_source).or_usage_error()?;
    settings_sources::check_sources(args, &folder).or_usage_error()?;
    let reads = args.reads_source("project") || args.reads_source("local");
    if reads && ask_about_trust(&mut folder, when_asked)? {
        programs =
            CommandTools::load(config, workspace, folder.trust, reads_source).or_usage_error()?;
    }
    let ignored = IgnoredSettings::of_every_run(&folder).filter(|_| reads);
    if let Some(ignored) = &ignored {
        terminal::print_note(&ignored.message);
    }
    Ok((folder, programs, ignored))
}

/// Asks once at the terminal whether to trust a folder whose settings are ignored. Returns whether
/// the user decided.
pub(crate) fn ask_about_trust(
    folder: &mut FolderTrust,
    when_asked: WhenAsked,
) -> anyhow::Result<bool> {
    let asks =
        when_asked == WhenAsked::Prompt && !folder.is_declined && folder.grants.too_much.is_none();
    if asks && folder.has_ignored_grants() {
        let decision = output::ask_trust(folder).context("cannot use the terminal")?;
        let decided = decision.map(|decision| folder.record_decision(decision)).transpose()?;
        return Ok(decided.is_some());
    }
    Ok(false)
}
