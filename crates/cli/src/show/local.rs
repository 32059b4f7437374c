//! What is told without a run: answers that no model gave, and conversations that do not exist.

use serde_json::{Value, json};
use windlass::Session;
use windlass::core::conversation::Conversation;
use windlass::core::ids::LaneId;

use super::frames::Frames;
use super::{line, result};
use crate::args::{AgentArgs, Print};
use crate::prompt::slash::Name;
use crate::setup::{self, Setup};

/// The answer to a command that needs no model.
pub(crate) fn locally(
    name: Name,
    said: &str,
    now: &Conversation,
    (session, setup): (&Session, &Setup),
    args: &AgentArgs,
) -> anyhow::Result<()> {
    let Some(frames) = told(said, (session, setup), args) else { return Ok(()) };
    frames.init(setup);
    frames.said(said);
    frames.result(result::local(name.word(), said, &setup.settings, now)?)
}

/// A new conversation begins in the place of another.
pub(crate) fn cleared(
    said: &str,
    old: Option<&LaneId>,
    (session, setup): (&Session, &Setup),
    args: &AgentArgs,
) -> anyhow::Result<()> {
    let Some(frames) = told(said, (session, setup), args) else { return Ok(()) };
    if let Some(old) = old {
        frames.reset(old);
    }
    frames.init(setup);
    let now = Conversation::default();
    frames.result(result::local(Name::Clear.word(), said, &setup.settings, &now)?)
}

/// Tells people at once; a program is given frames, which are the caller's to fill.
fn told(said: &str, (session, setup): (&Session, &Setup), args: &AgentArgs) -> Option<Frames> {
    if !args.output.is_for_programs() {
        line(said);
        return None;
    }
    let before = Conversation::default();
    Some(Frames::new(session.lane(), before, &setup.settings, &args.output))
}

/// A program that asked for a conversation which does not exist hears so in a result, too.
pub(crate) fn not_begun(error: &anyhow::Error, print: &Print) {
    if !print.agent.output.is_for_programs() {
        return;
    }
    let Ok(mut message) = result::not_begun(&error.to_string()) else { return };
    if let Value::Object(fields) = &mut message {
        fields.insert("session_id".to_owned(), json!(print.resume.as_deref().unwrap_or_default()));
        fields.insert("uuid".to_owned(), json!(setup::new_id()));
    }
    line(&message.to_string());
}
