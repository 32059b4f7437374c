//! Hooks of all settings files, in the order of the sources.

use std::path::Path;
use std::sync::Arc;

use windlass::core::permission::HumanAvailability;
use windlass::core::settings::conversation_settings::Settings;
use windlass::ports::Clock;
use windlass::tools::{CommandHooks, HookConfig};

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
    let hooks = match listeners {
        HookListeners::Terminal(queue) => hooks.with_user_messages(move |text| queue.push(text)),
        HookListeners::Readers(reports) => hooks.with_reports(move |report| reports(report)),
    };
    add_hook_points(settings, &hooks);
    if hooks.decides_permissions() && settings.rules.human == HumanAvailability::Absent {
        settings.rules.human = HumanAvailability::HooksOnly;
    }
    Ok(hooks)
}

/// Tells hooks where the transcripts of conversations in a workspace are.
pub(crate) fn with_transcripts(hooks: CommandHooks, workspace: &Path) -> CommandHooks {
    let workspace = workspace.to_owned();
    hooks.with_transcripts(move |lane| TranscriptFiles::file_of(&workspace, lane))
}

/// Who learns what hooks do.
pub(crate) enum HookListeners {
    /// A person, who gets their messages.
    Terminal(Arc<HookMessages>),
    /// The readers of the run get their messages; this gets reports about commands.
    Readers(HookReportSink),
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
