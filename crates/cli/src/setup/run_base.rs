//! The settings of runs, from flags, files and what the conversation used before.

use std::sync::Arc;

use windlass::ToolRegistry;
use windlass::core::permission::HumanAvailability;
use windlass::core::settings::conversation_settings::Settings;
use windlass::mcp::McpServers;
use windlass::models::ModelRegistry;
use windlass::ports::Clock;
use windlass::tools::ToolContext;

use super::{FlagScope, ModelNeed, mcp_servers, offer, prompt_text};
use crate::args::{AgentArgs, WhenAsked};
use crate::config::claude::{output_styles, permission_settings, settings_sources};
use crate::config::config_toml::Config;
use crate::config::sandbox_level::LevelChoice;
use crate::config::trust::folder_trust::FolderTrust;
use crate::config::{limit_settings, model_selection, run_settings};
use crate::messages;
use crate::toolset::AddedTools;

/// The base of a run's settings, independent of what was given with its prompt.
pub(super) struct RunBase<'a> {
    /// The level of the sandbox of this process: that of every run in it.
    level: LevelChoice,
    folder: &'a FolderTrust,
    config: &'a Config,
    clock: &'a Arc<dyn Clock>,
    asks: ModelNeed,
    /// The model that the conversation used before.
    earlier_model: Option<String>,
}

impl<'a> RunBase<'a> {
    pub(super) fn new(
        (folder, config, clock): (&'a FolderTrust, &'a Config, &'a Arc<dyn Clock>),
        level: LevelChoice,
        asks: ModelNeed,
        earlier_model: Option<String>,
    ) -> Self {
        Self { level, folder, config, clock, asks, earlier_model }
    }

    /// The settings of a run with these flags, without tools, and the models that it can call: the
    /// named one, else the default, else the last resort.
    pub(super) fn settings(
        &self,
        args: &AgentArgs,
        when_asked: WhenAsked,
        last_resort: Option<String>,
    ) -> anyhow::Result<(Settings, Option<ModelRegistry>)> {
        let folder = &self.folder.folder;
        let sources = settings_sources::effective_sources(&args.permissions, self.folder)?;
        let profile = self.config.find_profile(args.limits.profile.as_deref());
        let profile = profile?;
        let known = (self.config, &profile);
        let mut settings = Settings::new(windlass::ModelSettings::with_defaults(""));
        let named = match self.asks {
            ModelNeed::Required => {
                model_selection::configured_model(&args.model, (self.config, &profile, &sources))
                    .or_else(|| self.earlier_model.clone())
            }
            ModelNeed::NotNeeded => run_settings::given_model(args, &profile)?,
        };
        let models = match (self.asks, &named) {
            (ModelNeed::NotNeeded, None) => {
                model_selection::describe_controls(&mut settings, &args.model, known, self.clock)?;
                None
            }
            (ModelNeed::NotNeeded | ModelNeed::Required, _) => {
                let names = (named, last_resort);
                model_selection::describe(&mut settings, &args.model, known, names, self.clock)?
            }
        };
        let place = (folder.as_path(), &self.level);
        let rules =
            permission_settings::build_permissions(&args.permissions, &sources, place, when_asked);
        settings.rules = rules?;
        limit_settings::apply_limits(&mut settings, &profile, &args.limits)?;
        let markers =
            messages::end_marker_instruction(&model_selection::merge_controls(&args.model, known)?);
        let reads = |source: &str| args.permissions.reads_source(source);
        let styles = output_styles::load_styles(reads, self.folder);
        // A style that does not exist was reported for the run that is about to start.
        let style = styles.find(output_styles::chosen_style(&sources)).ok().flatten();
        prompt_text::set_system_prompt(&mut settings, args, (folder, style), &markers);
        Ok((settings, models.filter(|_| self.asks == ModelNeed::Required)))
    }

    /// The settings and tools of the runs that this process drives: those given, or, if its flags apply
    /// to its own run alone, those of runs that other processes started.
    pub(super) fn owner_of(
        &self,
        (flags, is_given): (FlagScope, bool),
        (others, when_asked): (&AgentArgs, WhenAsked),
        given: (&Settings, &AddedTools<'_>, &ToolContext, &McpServers),
        mut tools: ToolRegistry,
    ) -> anyhow::Result<(Settings, ToolRegistry)> {
        let mut owner = given.0.clone();
        if flags == FlagScope::OwnRun {
            if is_given {
                (owner, tools) = self.owner_settings(others, when_asked, given)?;
            }
            owner.rules.human = HumanAvailability::Available;
        }
        Ok((owner, tools))
    }

    /// The settings and tools for runs that other processes started, with these flags.
    fn owner_settings(
        &self,
        others: &AgentArgs,
        when_asked: WhenAsked,
        (given, added, workplace, mcp): (&Settings, &AddedTools<'_>, &ToolContext, &McpServers),
    ) -> anyhow::Result<(Settings, ToolRegistry)> {
        let model = Some(given.model.name.to_string());
        let (mut owner, _) = self.settings(others, when_asked, model)?;
        let tools = offer(&mut owner, others, added, workplace)?;
        let tools = mcp_servers::offer_tools(&mut owner, tools, mcp, workplace);
        owner.user_context = given.user_context.clone();
        owner.sandbox.clone_from(&given.sandbox);
        owner.hooks = given.hooks;
        owner.limits.hook_ms = owner.limits.hook_ms.max(given.limits.hook_ms);
        Ok((owner, tools))
    }
}
