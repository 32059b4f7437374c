//! Checks profiles without starting a run.

use std::sync::Arc;

use windlass::SystemClock;

use super::{ModelNeed, RunBase, offer};
use crate::args::{AgentArgs, WhenAsked};
use crate::config::claude::skills::Skills;
use crate::config::command_tools::CommandTools;
use crate::config::config_toml::Config;
use crate::config::sandbox_level::LevelChoice;
use crate::config::trust::folder_trust::FolderTrust;
use crate::toolset::{self, AddedTools};

/// Checks whether a run with this profile could start: by the same checks as a run, without its
/// model, its store and the settings files of the folder.
pub(crate) fn check_profile(
    name: &str,
    config: &Config,
    folder: &FolderTrust,
) -> anyhow::Result<()> {
    let args = AgentArgs::of_profile(name);
    let clock: Arc<dyn windlass::ports::Clock> = Arc::new(SystemClock::start());
    let (asks, earlier_model) = (ModelNeed::NotNeeded, None);
    let level = LevelChoice::of_folder(&args.permissions, config, folder)?;
    let base = RunBase::new((folder, config, &clock), level, asks, earlier_model);
    let (mut settings, _) = base.settings(&args, WhenAsked::Park, None)?;
    let programs = CommandTools::load(config, &folder.folder, folder.trust, |_| true)?;
    let (workplace, _) = toolset::build_workplace(&args, &folder.folder, &[], &programs, &clock)?;
    let (skills, web) = (Skills::default(), (&config.web, &clock));
    let added = AddedTools { agents: &[], programs: &programs, skills: &skills, web };
    offer(&mut settings, &args, &added, &workplace).map(drop)
}
