//! Tells hooks what happens in a session beside its runs: typed commands that become prompts, and
//! changes of the model.

use std::sync::Arc;

use anyhow::bail;
use windlass::Session;
use windlass::core::run::review::ReviewResult;
use windlass::core::settings::conversation_settings::Settings;
use windlass::ports::{ExpansionKind, ModelSwitch, SessionEvent};

/// Tells hooks that a typed command becomes a prompt; returns the prompt with their context for the
/// model.
///
/// # Errors
///
/// Fails if a hook objects.
pub(crate) async fn announce_expansion(
    session: &Session,
    (command, arguments): (&str, &str),
    prompt: String,
) -> anyhow::Result<String> {
    let text = Arc::from(prompt.as_str());
    let kind = ExpansionKind::SlashCommand;
    match announce(session, (kind, command, arguments), text).await? {
        Some(context) => Ok(format!("{prompt}\n\n{context}")),
        None => Ok(prompt),
    }
}

/// Tells hooks that a prompt of a server was typed.
///
/// # Errors
///
/// Fails if a hook objects.
pub(crate) async fn announce_server_prompt(session: &Session, typed: &str) -> anyhow::Result<()> {
    let typed = typed.trim_start_matches('/');
    let (command, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    let about = (ExpansionKind::McpPrompt, command, rest.trim());
    announce(session, about, Arc::from(typed)).await.map(drop)
}

async fn announce(
    session: &Session,
    (kind, command, arguments): (ExpansionKind, &str, &str),
    prompt: Arc<str>,
) -> anyhow::Result<Option<Arc<str>>> {
    let (name, arguments) = (Arc::from(command), Arc::from(arguments));
    let event = SessionEvent::PromptExpanded { kind, command: name, arguments, prompt };
    match session.announce(event).await {
        ReviewResult::Block { reason } | ReviewResult::Stop { reason } => {
            bail!("a hook blocked /{command}: {reason}")
        }
        ReviewResult::Pass { context } => Ok(context),
        ReviewResult::ModelText { .. } | ReviewResult::Failed { .. } => Ok(None),
    }
}

/// Changes the model of a session as `change` does, unless a hook objects.
///
/// # Errors
///
/// Fails if the change is not possible or a hook objects; then nothing has changed.
pub(crate) async fn switch_model(
    session: &Session,
    settings: &mut Settings,
    requested: Option<&str>,
    change: impl FnOnce(&mut Settings) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut changed = settings.clone();
    change(&mut changed)?;
    let switch = ModelSwitch {
        from: settings.model.name.clone(),
        to: changed.model.name.clone(),
        requested: requested.filter(|name| !matches!(*name, "" | "default")).map(Arc::from),
    };
    if switch.from == switch.to {
        *settings = changed;
        return Ok(());
    }
    match session.announce(SessionEvent::ModelSwitching(switch.clone())).await {
        ReviewResult::Block { reason } | ReviewResult::Stop { reason } => {
            bail!("a hook keeps the model {}: {reason}", switch.from)
        }
        ReviewResult::Pass { .. }
        | ReviewResult::ModelText { .. }
        | ReviewResult::Failed { .. } => {}
    }
    *settings = changed;
    session.announce(SessionEvent::ModelSwitched(switch)).await;
    Ok(())
}
