//! What a user can choose for a session: modes, models, commands.

use agent_client_protocol::v1::schema::{
    AvailableCommand, AvailableCommandInput, AvailableCommandsUpdate, SessionConfigOption,
    SessionConfigOptionCategory, SessionConfigSelectOption, SessionMode, SessionModeState,
    SessionUpdate, UnstructuredCommandInput,
};
use serde_json::Value;
use windlass::core::permission::PermissionMode;

use crate::host::{CommandChoice, HostedSession, ModelChoice};

/// The id of the option that selects the mode.
pub(crate) const MODE_OPTION: &str = "mode";

/// The id of the option that selects the model.
pub(crate) const MODEL_OPTION: &str = "model";

/// The id, name and description of a mode.
fn mode_texts(mode: PermissionMode) -> (&'static str, &'static str) {
    match mode {
        PermissionMode::Default => ("Default", "Asks before each change"),
        PermissionMode::AcceptEdits => ("Accept edits", "Edits files without asking"),
        PermissionMode::Plan => ("Plan", "Reads and plans, and changes nothing"),
        PermissionMode::PlanNone => ("Plan without tools", "Runs no tool at all"),
        PermissionMode::DontAsk => ("Don't ask", "Denies what no rule allows"),
        PermissionMode::Auto => ("Auto", "A classifier decides instead of asking"),
        PermissionMode::BypassPermissions => {
            ("Bypass permissions", "Runs everything without asking")
        }
    }
}

/// Returns the id of a mode.
pub(crate) fn mode_id(mode: PermissionMode) -> String {
    let value = serde_json::to_value(mode).ok();
    value.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns the mode with this id, if it can be chosen.
pub(crate) fn find_mode(session: &dyn HostedSession, id: &str) -> Option<PermissionMode> {
    session.modes().into_iter().find(|mode| mode_id(*mode) == id)
}

/// Returns the modes and the current one.
pub(crate) fn mode_state(session: &dyn HostedSession) -> SessionModeState {
    let mode = |mode: PermissionMode| {
        let (name, description) = mode_texts(mode);
        SessionMode::new(mode_id(mode), name).description(description.to_owned())
    };
    let modes = session.modes().into_iter().map(mode).collect();
    SessionModeState::new(mode_id(session.settings().rules.mode), modes)
}

/// Returns the options and their current values.
pub(crate) fn config_options(session: &dyn HostedSession) -> Vec<SessionConfigOption> {
    let modes: Vec<_> = session.modes().into_iter().map(mode_option).collect();
    let current = session.settings().model.name.to_string();
    let mut models = session.models();
    if !models.iter().any(|model| model.id == current) {
        let (id, name) = (current.clone(), current.clone());
        models.insert(0, ModelChoice { id, name, description: None });
    }
    let models: Vec<_> = models.into_iter().map(model_option).collect();
    let mode = mode_id(session.settings().rules.mode);
    vec![
        SessionConfigOption::select(MODE_OPTION, "Mode", mode, modes)
            .category(SessionConfigOptionCategory::Mode),
        SessionConfigOption::select(MODEL_OPTION, "Model", current, models)
            .category(SessionConfigOptionCategory::Model),
    ]
}

fn mode_option(mode: PermissionMode) -> SessionConfigSelectOption {
    let (name, description) = mode_texts(mode);
    SessionConfigSelectOption::new(mode_id(mode), name).description(description.to_owned())
}

fn model_option(model: ModelChoice) -> SessionConfigSelectOption {
    SessionConfigSelectOption::new(model.id, model.name).description(model.description)
}

/// Returns the update that announces the commands.
pub(crate) fn commands_update(commands: Vec<CommandChoice>) -> SessionUpdate {
    let command = |command: CommandChoice| {
        let input = command.hint.map(UnstructuredCommandInput::new);
        AvailableCommand::new(command.name, command.description)
            .input(input.map(AvailableCommandInput::Unstructured))
    };
    let commands = commands.into_iter().map(command).collect();
    SessionUpdate::AvailableCommandsUpdate(AvailableCommandsUpdate::new(commands))
}
