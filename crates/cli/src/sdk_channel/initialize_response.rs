//! The answer to `initialize`: what the program can ask for.

use serde_json::{Value, json};
use windlass::tools::GENERAL_PURPOSE_AGENT;

use crate::prompt::slash_command::LocalCommand;
use crate::sdk;
use crate::setup::RunSetup;
use crate::setup::session_changes::MODEL_CHOICES;

/// Builds the answer.
pub(super) fn initialize_response(setup: &RunSetup, session_state: &str) -> Value {
    json!({
        "commands": commands(setup),
        "agents": agents(setup),
        "models": models(setup),
        "account": account(),
        "output_style": "default",
        "available_output_styles": ["default"],
        "claude_code_version": sdk::PROTOCOL_VERSION,
        "windlass_version": env!("CARGO_PKG_VERSION"),
        "pid": std::process::id(),
        "current_permission_mode": setup.settings.rules.mode,
        "session_state": session_state,
        "capabilities": [],
        "hook_on_failure_supported": true,
    })
}

/// The slash commands: those built in, and custom ones.
pub(super) fn commands(setup: &RunSetup) -> Vec<Value> {
    let own = LocalCommand::ALL.map(|command| {
        json!({
            "name": command.as_str(),
            "description": command.description(),
            "argumentHint": "",
            "builtin": true,
        })
    });
    let custom = setup.custom_commands.iter().map(|command| {
        let page = command.read_page().ok();
        let (description, hint) =
            page.map(|page| (page.description, page.argument_hint)).unwrap_or_default();
        json!({
            "name": command.name,
            "description": description,
            "argumentHint": hint.unwrap_or_default(),
        })
    });
    own.into_iter().chain(custom).collect()
}

/// The sub-agents.
pub(super) fn agents(setup: &RunSetup) -> Vec<Value> {
    let names =
        std::iter::once(GENERAL_PURPOSE_AGENT).chain(setup.agents.names.iter().map(String::as_str));
    let described = |name| {
        let description = setup.agents.descriptions.get(name).map_or("", String::as_str);
        json!({"name": name, "description": description})
    };
    names.map(described).collect()
}

/// The models that a program can choose by name.
pub(super) fn models(setup: &RunSetup) -> Vec<Value> {
    let choice = |(value, name, description): (&str, &str, &str)| {
        let mut choice = json!({"value": value, "displayName": name, "description": description});
        if let (true, Some(fields)) = (value == "default", choice.as_object_mut()) {
            fields.insert("resolvedModel".to_owned(), json!(setup.settings.model.name));
        }
        choice
    };
    MODEL_CHOICES.into_iter().map(choice).collect()
}

fn account() -> Value {
    match std::env::var_os("ANTHROPIC_API_KEY") {
        Some(_) => json!({"apiKeySource": "ANTHROPIC_API_KEY", "apiProvider": "firstParty"}),
        None => json!({"apiKeySource": "none"}),
    }
}
