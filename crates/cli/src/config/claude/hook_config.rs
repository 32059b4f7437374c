//! Hooks of all settings files, in the order of the sources.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};
use windlass::core::settings::conversation_settings::Settings;
use windlass::ports::Clock;
use windlass::tools::{CommandHooks, HookConfig};

use crate::config::claude::settings_sources::SettingsSource;
use crate::output::HookMessages;

/// Builds the hooks of all sources, and the hook events that the settings subscribe to. Read once:
/// changes of a file take effect in the next process.
pub(crate) fn build_command_hooks(
    settings: &mut Settings,
    sources: &[SettingsSource],
    workspace: &Path,
    clock: &Arc<dyn Clock>,
    messages: &Arc<HookMessages>,
) -> anyhow::Result<CommandHooks> {
    let config = match sources.iter().any(|source| source.disable_all_hooks) {
        true => HookConfig::default(),
        false => HookConfig::parse(&Value::Object(merge_hooks(sources)).to_string())?,
    };
    let messages = Arc::clone(messages);
    let hooks = CommandHooks::new(config, workspace, Arc::clone(clock));
    let hooks = hooks.with_user_messages(move |text| messages.push(text));
    settings.hooks = hooks.hook_points();
    settings.limits.hook_ms = settings.limits.hook_ms.max(hooks.max_timeout_ms());
    Ok(hooks)
}

/// Merges hooks by event; the groups of one source follow those of the one before.
fn merge_hooks(sources: &[SettingsSource]) -> Map<String, Value> {
    let mut all = Map::new();
    let events = sources.iter().filter_map(|source| source.hooks.as_object()).flatten();
    for (event, groups) in events {
        match (all.get_mut(event).and_then(Value::as_array_mut), groups) {
            (Some(known), Value::Array(more)) => known.extend(more.iter().cloned()),
            _ => drop(all.insert(event.clone(), groups.clone())),
        }
    }
    all
}
