//! Hooks of settings files: every source's, in the order of the sources.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};
use windlass::core::settings::Settings;
use windlass::ports::Clock;
use windlass::tools::{CommandHooks, HookConfig};

use super::sources::Source;
use crate::show::HookMessages;

/// The hooks of all sources, and where the settings must listen. Read once: what changes in a file
/// afterwards counts from the next process on.
pub(crate) fn commands(
    settings: &mut Settings,
    sources: &[Source],
    workspace: &Path,
    clock: &Arc<dyn Clock>,
    messages: &Arc<HookMessages>,
) -> anyhow::Result<CommandHooks> {
    let config = match sources.iter().any(|source| source.disable_all_hooks) {
        true => HookConfig::default(),
        false => HookConfig::parse(&Value::Object(joined(sources)).to_string())?,
    };
    let messages = Arc::clone(messages);
    let hooks = CommandHooks::new(config, workspace, Arc::clone(clock));
    let hooks = hooks.telling(move |text| messages.push(text));
    settings.hooks = hooks.points();
    settings.limits.hook_ms = settings.limits.hook_ms.max(hooks.longest_ms());
    Ok(hooks)
}

/// Event by event, the groups of one source after those of another.
fn joined(sources: &[Source]) -> Map<String, Value> {
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
