//! Hooks of all settings files, in the order of the sources.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;

use windlass::core::permission::HumanAvailability;
use windlass::core::settings::conversation_settings::Settings;
use windlass::ports::{Clock, ProcessLauncher};
use windlass::tools::{CommandHooks, HookConfig};

use crate::config::claude::agent_spec::AgentSpec;
use crate::config::claude::settings_sources::SettingsSource;
use crate::config::plugins::ROOT_VARIABLE;
use crate::output::HookMessages;
use crate::setup::HookReportSink;
use crate::transcript::TranscriptFiles;

/// Builds the hooks of all sources, and the hook events that the settings subscribe to. Read once:
/// changes of a file take effect in the next process.
pub(crate) fn build_command_hooks(
    settings: &mut Settings,
    sources: &[SettingsSource],
    workspace: &Path,
    clock: &Arc<dyn Clock>,
    listeners: HookListeners,
) -> anyhow::Result<CommandHooks> {
    let config = match sources.iter().any(|source| source.disable_all_hooks) {
        true => HookConfig::default(),
        false => merge_hooks(sources)?,
    };
    let hooks = CommandHooks::new(config, workspace, Arc::clone(clock));
    let hooks = with_transcripts(hooks, workspace);
    let hooks = listeners.add_to(hooks);
    add_hook_points(settings, &hooks);
    if hooks.decides_permissions() && settings.rules.human == HumanAvailability::Absent {
        settings.rules.human = HumanAvailability::HooksOnly;
    }
    Ok(hooks)
}

/// What the hooks of agents are built with.
pub(crate) struct AgentHooks<'a> {
    workspace: &'a Path,
    clock: &'a Arc<dyn Clock>,
    launcher: &'a Arc<dyn ProcessLauncher>,
    listeners: HookListeners,
    /// Whether the settings switch all hooks off.
    is_disabled: bool,
}

impl<'a> AgentHooks<'a> {
    pub(crate) fn new(
        (sources, workspace, clock): (&[SettingsSource], &'a Path, &'a Arc<dyn Clock>),
        launcher: &'a Arc<dyn ProcessLauncher>,
        listeners: HookListeners,
    ) -> Self {
        let is_disabled = sources.iter().any(|source| source.disable_all_hooks);
        Self { workspace, clock, launcher, listeners, is_disabled }
    }

    /// The hooks of one agent; `None` if it has none.
    pub(crate) fn of_agent(&self, agent: &AgentSpec) -> anyhow::Result<Option<CommandHooks>> {
        if !agent.hooks.is_object() || self.is_disabled {
            return Ok(None);
        }
        let config = HookConfig::parse(&agent.hooks.to_string())
            .with_context(|| format!("the agent `{}`", agent.name))?;
        let hooks = CommandHooks::new(config, self.workspace, Arc::clone(self.clock));
        let hooks = with_transcripts(hooks, self.workspace);
        let hooks = self.listeners.clone().add_to(hooks);
        Ok(Some(hooks.with_launcher(Arc::clone(self.launcher))))
    }
}

/// Tells hooks where the transcripts of conversations in a workspace are.
pub(crate) fn with_transcripts(hooks: CommandHooks, workspace: &Path) -> CommandHooks {
    let workspace = workspace.to_owned();
    hooks.with_transcripts(move |lane| TranscriptFiles::file_of(&workspace, lane))
}

/// Who learns what hooks do.
#[derive(Clone)]
pub(crate) enum HookListeners {
    /// A person, who gets their messages.
    Terminal(Arc<HookMessages>),
    /// The readers of the run get their messages; this gets reports about commands.
    Readers(HookReportSink),
}

impl HookListeners {
    fn add_to(self, hooks: CommandHooks) -> CommandHooks {
        match self {
            Self::Terminal(queue) => hooks.with_user_messages(move |text| queue.push(text)),
            Self::Readers(reports) => hooks.with_reports(move |report| reports(report)),
        }
    }
}

/// Subscribes the settings to the events of these hooks too, and gives them the time they need.
pub(crate) fn add_hook_points(settings: &mut Settings, hooks: &CommandHooks) {
    settings.hooks = settings.hooks.union(hooks.hook_points());
    settings.limits.hook_ms = settings.limits.hook_ms.max(hooks.max_timeout_ms());
}

/// The hooks of all sources; those of one source follow those of the one before. The hooks of a plugin
/// get its folder as a variable.
fn merge_hooks(sources: &[SettingsSource]) -> anyhow::Result<HookConfig> {
    let mut all = HookConfig::default();
    for source in sources.iter().filter(|source| source.hooks.is_object()) {
        let mut config = HookConfig::parse(&source.hooks.to_string())?;
        if let Some(plugin) = &source.plugin {
            config = config.with_variable(ROOT_VARIABLE, plugin.root.to_string_lossy());
        }
        all = all.merge(config)?;
    }
    Ok(all)
}
