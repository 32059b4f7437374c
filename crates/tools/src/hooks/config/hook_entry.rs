//! One hook of the configuration: its type, and the keys that the type has.

use serde::Deserialize;
use serde_json::{Map, Value};
use windlass_core::permission::PermissionRule;

use super::{
    ConfiguredHook, FailurePolicy, HOOK_TYPES, HookAction, HookConfig, HookEvent, HookMatcher,
    InvalidHooks, UNSUPPORTED_HOOK_TYPES,
};
use crate::hooks::http_hook::HttpHook;

/// Keys that every hook has.
const COMMON_KEYS: [&str; 4] = ["type", "timeout", "once", "if"];

/// Keys of each type, besides the common ones.
const TYPE_KEYS: [(&str, &[&str]); 3] = [
    ("command", &["command", "async"]),
    ("http", &["url", "headers", "allowedEnvVars", "async"]),
    ("prompt", &["prompt"]),
];

/// Keys that only Claude Code has.
const UNSUPPORTED_HOOK_KEYS: &[&str] =
    &["args", "asyncRewake", "asyncTimeout", "model", "server", "shell", "statusMessage", "tool"];

/// The keys of a hook, of whichever type.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HookFields {
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    headers: Map<String, Value>,
    #[serde(default)]
    allowed_env_vars: Vec<String>,
    #[serde(default)]
    prompt: Option<String>,
    #[serde(default)]
    timeout: Option<f64>,
    #[serde(default)]
    r#async: bool,
    #[serde(default)]
    once: bool,
    #[serde(default, rename = "if")]
    condition: Option<String>,
}

impl HookConfig {
    /// Reads one hook, without its matcher. `None` for a type that has no effect here.
    pub(super) fn read_hook(
        &mut self,
        event: HookEvent,
        hook: &Value,
    ) -> Result<Option<ConfiguredHook>, String> {
        let plain = |error: InvalidHooks| error.0;
        let kind = hook.get("type").and_then(Value::as_str);
        let kind = kind.ok_or_else(|| "a hook has no `type`".to_owned())?;
        let Some((_, own_keys)) = TYPE_KEYS.iter().find(|(known, _)| *known == kind) else {
            self.record_ignored("type of hook", kind, &HOOK_TYPES, UNSUPPORTED_HOOK_TYPES)
                .map_err(plain)?;
            return Ok(None);
        };
        if kind == "prompt" && !event.can_ask_model() {
            let named = format!("type `prompt` of {}", event.name());
            self.ignored.push(super::IgnoredHook::Unsupported(named));
            return Ok(None);
        }
        let known: Vec<&str> = COMMON_KEYS.iter().chain(*own_keys).copied().collect();
        for key in hook.as_object().into_iter().flat_map(Map::keys) {
            if !known.contains(&key.as_str()) {
                let what = format!("key of a hook of type {kind}");
                self.record_ignored(&what, key, &known, UNSUPPORTED_HOOK_KEYS).map_err(plain)?;
            }
        }
        let fields: HookFields =
            Deserialize::deserialize(hook).map_err(|error| error.to_string())?;
        if fields.condition.is_some() && !event.is_tool_event() {
            // Without a call the condition never holds.
            let named = format!("hook of {} with `if`, which is about tool calls,", event.name());
            self.ignored.push(super::IgnoredHook::Unsupported(named));
            return Ok(None);
        }
        let condition = fields.condition.as_deref().map(|text| self.read_condition(text));
        let condition = condition.transpose()?;
        let action = action_of(kind, &fields)?;
        let action = (action, fields.timeout);
        let mut read =
            ConfiguredHook::new(event, HookMatcher::Everything, action, FailurePolicy::Ignore)?;
        (read.is_async, read.runs_once) = (fields.r#async, fields.once);
        read.condition = condition;
        Ok(Some(read))
    }

    /// Reads the condition of a hook, which is written like a permission rule.
    fn read_condition(&mut self, text: &str) -> Result<PermissionRule, String> {
        let rule = PermissionRule::parse(text).map_err(|error| format!("`if`: {error}"))?;
        let tool = text.split('(').next().unwrap_or_default().trim();
        self.tools.push(tool.to_owned());
        Ok(rule)
    }
}

fn action_of(kind: &str, fields: &HookFields) -> Result<HookAction, String> {
    match kind {
        "http" => {
            let url = required("url", fields.url.as_deref())?;
            HttpHook::new(url, &fields.headers, &fields.allowed_env_vars).map(HookAction::Http)
        }
        "prompt" => required("prompt", fields.prompt.as_deref())
            .map(|text| HookAction::Prompt(text.to_owned())),
        _ => {
            let command = required("command", fields.command.as_deref())?;
            match command.contains('\0') {
                true => Err("a command is empty or contains a NUL byte".to_owned()),
                false => Ok(HookAction::Command(command.to_owned())),
            }
        }
    }
}

/// Returns a text that a type of hook needs.
fn required<'a>(key: &str, value: Option<&'a str>) -> Result<&'a str, String> {
    match value {
        None => Err(format!("a hook has no `{key}`")),
        Some(text) if text.trim().is_empty() => Err(format!("the `{key}` of a hook is empty")),
        Some(text) => Ok(text),
    }
}
