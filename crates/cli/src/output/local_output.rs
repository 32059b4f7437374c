//! Output without a run: answers of slash commands, and missing conversations.

use serde_json::{Value, json};
use windlass::Session;
use windlass::core::log::ids::LaneId;
use windlass::core::run::conversation::Conversation;

use super::json_output::JsonOutput;
use super::result_message;
use crate::args::{AgentArgs, PrintArgs};
use crate::prompt::slash_command::LocalCommand;
use crate::setup::{self, RunSetup};
use crate::terminal::print_line;

/// Prints the answer of a command that needs no model.
pub(crate) fn print_local_answer(
    name: LocalCommand,
    text: &str,
    now: &Conversation,
    (session, setup): (&Session, &RunSetup),
    args: &AgentArgs,
) -> anyhow::Result<()> {
    let Some(frames) = print_or_json_output(text, (session, setup), args) else { return Ok(()) };
    frames.write_init(setup);
    frames.write_synthetic_text(text);
    frames.write_result(result_message::local_result(name.as_str(), text, &setup.settings, now)?)
}

/// Prints that a new conversation replaces another.
pub(crate) fn print_cleared(
    text: &str,
    old: Option<&LaneId>,
    (session, setup): (&Session, &RunSetup),
    args: &AgentArgs,
) -> anyhow::Result<()> {
    let Some(frames) = print_or_json_output(text, (session, setup), args) else { return Ok(()) };
    if let Some(old) = old {
        frames.write_reset(old);
    }
    frames.write_init(setup);
    let now = Conversation::default();
    frames.write_result(result_message::local_result(
        LocalCommand::Clear.as_str(),
        text,
        &setup.settings,
        &now,
    )?)
}

/// Prints text for people at once; for programs, returns a JSON output for the caller to write to.
fn print_or_json_output(
    said: &str,
    (session, setup): (&Session, &RunSetup),
    args: &AgentArgs,
) -> Option<JsonOutput> {
    if !args.output.is_for_programs() {
        print_line(said);
        return None;
    }
    let before = Conversation::default();
    Some(JsonOutput::new(session.lane(), before, &setup.settings, &args.output))
}

/// Writes a result for a program that named a conversation which does not exist.
pub(crate) fn print_no_conversation(error: &anyhow::Error, print: &PrintArgs) {
    if !print.agent.output.is_for_programs() {
        return;
    }
    let Ok(mut message) = result_message::no_conversation_result(&error.to_string()) else {
        return;
    };
    if let Value::Object(fields) = &mut message {
        fields.insert("session_id".to_owned(), json!(print.resume.as_deref().unwrap_or_default()));
        fields.insert("uuid".to_owned(), json!(setup::new_id()));
    }
    print_line(&message.to_string());
}
