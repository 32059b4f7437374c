//! Requests that change with what the session works: permission mode, model, thinking, settings.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use windlass::core::permission::PermissionMode;
use windlass::core::settings::model_change::ModelChange;
use windlass::core::settings::run_settings::RunSettings;
use windlass::messages::SystemEvent;
use windlass::ports::StoreError;

use super::{ControlAnswer, ControlRequest};
use crate::config::claude::permission_settings;
use crate::config::permission_mode::apply_mode;
use crate::prompt::session_events;
use crate::sdk_channel::channel_loop::Channel;
use crate::setup::session_changes::{self, check_mode};

/// The modes that a program can choose, for the error about another one.
const MODES: &str = "default, acceptEdits, plan, dontAsk, auto, bypassPermissions";

/// Sets the permission mode, of the turn in progress too.
pub(super) async fn set_permission_mode(
    channel: &mut Channel,
    request: &ControlRequest,
) -> ControlAnswer {
    let name = request.text("mode").unwrap_or_default();
    let mode = permission_settings::parse_mode(name)
        .map_err(|_| format!("invalid permission mode `{name}`; use one of {MODES}"))?;
    check_mode(mode, &channel.print.agent, &channel.initial_settings)?;
    change_mode(channel, mode).await.map_err(|error| format!("{error:#}"))?;
    Ok(json!({ "mode": mode }))
}

/// Changes the mode of this session.
async fn change_mode(channel: &mut Channel, mode: PermissionMode) -> anyhow::Result<()> {
    apply_mode(&mut channel.setup.settings, mode);
    if channel.turn.is_some() {
        channel.session.set_permission_mode(mode).await?;
    }
    Ok(())
}

/// The message that announces the permission mode.
pub(super) fn mode_status(channel: &Channel) -> SystemEvent {
    let mode = serde_json::to_value(channel.setup.settings.rules.mode).unwrap_or_default();
    SystemEvent::Status {
        status: None,
        permission_mode: mode.as_str().map(str::to_owned),
        compact_result: None,
    }
}

/// Sets the model; without one, that of the start is used again.
pub(super) async fn set_model(channel: &mut Channel, request: &ControlRequest) -> ControlAnswer {
    let (initial, args) = (&channel.initial_settings, &channel.print.agent);
    let name = request.text("model");
    let settings = &mut channel.setup.settings;
    let changed = session_events::switch_model(&channel.session, settings, name, |settings| {
        session_changes::set_model(settings, initial, (name, args))
    });
    changed.await.map_err(|error| format!("{error:#}"))?;
    change_active_model(channel).await.map_err(|error| error.to_string())?;
    Ok(json!({ "model": channel.setup.settings.model.name }))
}

/// Changes the model and the thinking of the turn in progress.
async fn change_active_model(channel: &Channel) -> Result<(), StoreError> {
    if channel.turn.is_none() {
        return Ok(());
    }
    let RunSettings { models, thinking, .. } = RunSettings::from_settings(&channel.setup.settings);
    channel.session.set_model(ModelChange { models, thinking }).await
}

/// Sets how many tokens the model may think.
pub(super) async fn set_max_thinking_tokens(
    channel: &mut Channel,
    request: &ControlRequest,
) -> ControlAnswer {
    let tokens = request.fields.get("max_thinking_tokens");
    let budget = match tokens {
        None | Some(Value::Null) => channel.initial_settings.thinking.budget_tokens,
        Some(tokens) => match tokens.as_u64() {
            Some(tokens) => Some(tokens),
            None => return Err("max_thinking_tokens must be a whole number or null".to_owned()),
        },
    };
    channel.setup.settings.thinking.budget_tokens = budget;
    change_active_model(channel).await.map_err(|error| error.to_string())?;
    Ok(json!({}))
}

/// Applies settings that a program could have given with `--settings`, as far as they can change
/// while a session runs.
pub(super) async fn apply_settings(
    channel: &mut Channel,
    request: &ControlRequest,
) -> ControlAnswer {
    let Some(Value::Object(settings)) = request.fields.get("settings") else {
        return Err("`settings` must be an object".to_owned());
    };
    let text = |name: &str| settings.get(name).and_then(Value::as_str);
    if let Some(model) = text("model") {
        set_model(channel, &changed_request(request, "model", model)).await?;
    }
    let mode = settings.get("permissions").and_then(|rules| rules.get("defaultMode"));
    if let Some(mode) = mode.and_then(Value::as_str) {
        set_permission_mode(channel, &changed_request(request, "mode", mode)).await?;
    }
    let ignored: Vec<&str> = settings
        .keys()
        .map(String::as_str)
        .filter(|name| !matches!(*name, "model" | "permissions"))
        .collect();
    Ok(json!({ "ignored": ignored }))
}

/// A request with one field, on behalf of another.
fn changed_request(request: &ControlRequest, name: &str, value: &str) -> ControlRequest {
    let fields = Map::from_iter([(name.to_owned(), json!(value))]);
    ControlRequest { id: request.id.clone(), subtype: request.subtype.clone(), fields }
}

/// The settings in effect.
pub(super) fn get_settings(channel: &Channel) -> ControlAnswer {
    let settings = &channel.setup.settings;
    let rules = &settings.rules;
    let texts = |rules: &[windlass::core::permission::PermissionRule]| -> Vec<Arc<str>> {
        rules.iter().map(|rule| rule.text().clone()).collect()
    };
    let denied: Vec<_> = rules.disallowed.iter().chain(&rules.deny).cloned().collect();
    Ok(json!({
        "effective": {
            "model": settings.model.name,
            "permissions": {
                "defaultMode": rules.mode,
                "allow": texts(&rules.allow),
                "ask": texts(&rules.ask),
                "deny": texts(&denied),
            },
        },
        "sources": [],
        "applied": { "model": settings.model.name, "effort": settings.thinking.effort },
    }))
}

/// The permission rules in effect.
pub(super) fn list_permission_rules(channel: &Channel) -> ControlAnswer {
    let rules = &channel.setup.settings.rules;
    let lists = [
        ("allow", &rules.allow),
        ("ask", &rules.ask),
        ("deny", &rules.deny),
        ("deny", &rules.disallowed),
    ];
    let rules: Vec<Value> = lists
        .into_iter()
        .flat_map(|(behavior, list)| list.iter().map(move |rule| (behavior, rule)))
        .map(|(behavior, rule)| json!({ "behavior": behavior, "rule": rule.text() }))
        .collect();
    Ok(json!({ "rules": rules }))
}
