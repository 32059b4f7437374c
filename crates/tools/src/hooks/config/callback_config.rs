//! The callbacks of a program in the hook configuration.

use serde::Deserialize;
use serde_json::Value;
use windlass_core::message::raw_json::RawJson;

use super::{
    ConfiguredHook, FailurePolicy, HookAction, HookConfig, HookEvent, HookMatcher, IgnoredHook,
    InvalidHooks,
};

/// Callbacks with the same matcher, as a program registers them.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallbackGroup {
    #[serde(default)]
    matcher: Option<String>,
    #[serde(default)]
    hook_callback_ids: Vec<String>,
    #[serde(default)]
    timeout: Option<f64>,
    #[serde(default)]
    on_failure: Option<String>,
}

impl HookConfig {
    /// Parses the callbacks that a program registers: for each event a list of groups with `matcher`,
    /// `hookCallbackIds`, `timeout` (in seconds) and `onFailure`. Unknown events are
    /// [ignored](Self::ignored_entries): a newer program may register them.
    pub fn parse_callbacks(events: &Value) -> Result<Self, InvalidHooks> {
        let mut config =
            Self { hash: RawJson::encode(events).canonical_hash_hex(), ..Self::default() };
        for (name, groups) in events.as_object().into_iter().flatten() {
            match HookEvent::from_name(name) {
                Some(event) => config.add_callbacks(event, groups)?,
                None => config.ignored.push(IgnoredHook::Unknown(format!("hook event `{name}`"))),
            }
        }
        config.check_count()?;
        Ok(config)
    }

    fn add_callbacks(&mut self, event: HookEvent, groups: &Value) -> Result<(), InvalidHooks> {
        let at = |reason: String| InvalidHooks(format!("{}: {reason}", event.name()));
        let groups: Option<Vec<CallbackGroup>> =
            Deserialize::deserialize(groups).map_err(|error| at(format!("{error}")))?;
        for group in groups.into_iter().flatten() {
            let matcher = HookMatcher::parse(event, group.matcher.as_deref()).map_err(&at)?;
            let on_failure = FailurePolicy::parse(group.on_failure.as_deref()).map_err(&at)?;
            for id in group.hook_callback_ids {
                let (matcher, action) = (matcher.clone(), HookAction::Callback(id));
                let hook = ConfiguredHook::new(event, matcher, (action, group.timeout), on_failure);
                self.hooks.entry(event).or_default().push(hook.map_err(&at)?);
            }
        }
        Ok(())
    }
}
