//! Output without a run: answers of slash commands, and missing conversations.

use windlass::Session;
use windlass::core::log::ids::LaneId;
use windlass::core::run::conversation::Conversation;
use windlass::core::settings::conversation_settings::{ModelSpec, Settings};
use windlass::messages::{MessageOptions, MessageProjection};

use super::json_output::{JsonOutput, write_result};
use crate::args::{AgentArgs, PrintArgs};
use crate::prompt::slash_command::LocalCommand;
use crate::setup::RunSetup;
use crate::terminal::print_line;

/// Prints the answer of a command that needs no model.
pub(crate) fn print_local_answer(
    name: LocalCommand,
    text: &str,
    now: &Conversation,
    (session, setup): (&Session, &RunSetup),
    args: &AgentArgs,
) -> anyhow::Result<()> {
    let output = print_or_json_output(text, now.clone(), (session, setup), args);
    let Some(mut frames) = output else { return Ok(()) };
    frames.write_init(setup)?;
    frames.write_synthetic_text(text)?;
    frames.finish_local(name.as_str(), text)
}

/// Prints that a new conversation replaces another.
pub(crate) fn print_cleared(
    text: &str,
    old: Option<&LaneId>,
    (session, setup): (&Session, &RunSetup),
    args: &AgentArgs,
) -> anyhow::Result<()> {
    let output = print_or_json_output(text, Conversation::default(), (session, setup), args);
    let Some(mut frames) = output else { return Ok(()) };
    if let Some(old) = old {
        frames.write_reset(old)?;
    }
    frames.write_init(setup)?;
    frames.finish_local(LocalCommand::Clear.as_str(), text)
}

/// Prints text for people at once; for programs, returns a JSON output for the caller to write to.
fn print_or_json_output(
    said: &str,
    now: Conversation,
    (session, setup): (&Session, &RunSetup),
    args: &AgentArgs,
) -> Option<JsonOutput> {
    if !args.output.is_for_programs() {
        print_line(said);
        return None;
    }
    Some(JsonOutput::new(session, now, &setup.settings, &args.output))
}

/// Writes a result for a program that named a conversation which does not exist.
pub(crate) fn print_no_conversation(error: &anyhow::Error, print: &PrintArgs) {
    if !print.agent.output.is_for_programs() {
        return;
    }
    let named = print.resume.as_deref().unwrap_or_default();
    let settings = Settings::new(ModelSpec::with_defaults(""));
    let options = MessageOptions::default().to_projection();
    let (lane, nothing) = (LaneId::from(named), Conversation::default());
    let mut projection = MessageProjection::new(&lane, nothing, &settings, options);
    let result = projection.unfinished_result("no_conversation", vec![error.to_string()]);
    // A reader that is gone needs no result.
    let _ = write_result(result);
}
