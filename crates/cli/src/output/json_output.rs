//! JSON output: one message per line, in the format of the SDKs. What is in the messages is decided
//! by their projection; this file writes them.

use std::io::{self, Write};

use windlass::core::log::ids::{LaneId, RunId};
use windlass::core::run::conversation::Conversation;
use windlass::core::settings::conversation_settings::Settings;
use windlass::messages::{
    ConversationResetMessage, Message, MessageOptions, MessageReader, ResultMessage,
    format_iso_time,
};
use windlass::ports::Clock;
use windlass::{RunOutcome, Session, StreamItem, SystemClock};

use super::init_message;
use super::parked_run::ParkedRun;
use crate::args::{OutputArgs, OutputFormat};
use crate::messages;
use crate::sdk;
use crate::setup::RunSetup;
use crate::transcript::TranscriptRecorder;

/// Writes the messages of a conversation.
pub(super) struct JsonOutput {
    lane: LaneId,
    reader: MessageReader,
    /// Whether every message is written, or only the result.
    streams: bool,
}

impl JsonOutput {
    /// Creates the output; `before` is the conversation before the first entry that will be shown.
    pub(super) fn new(
        session: &Session,
        before: Conversation,
        settings: &Settings,
        output: &OutputArgs,
    ) -> Self {
        let streams = output.format() == OutputFormat::StreamJson;
        let options = MessageOptions {
            audience: sdk::result_audience(),
            partial_messages: streams && output.include_partial_messages,
            tool_progress: streams && output.include_partial_messages,
            tool_use_summaries: output.wants_tool_use_summaries(),
            ..MessageOptions::default()
        };
        let reader = MessageReader::new(session, before, settings, options);
        Self { lane: session.lane().clone(), reader, streams }
    }

    /// Writes the transcript of the conversation too.
    pub(super) fn with_transcript(mut self, transcript: Option<&TranscriptRecorder>) -> Self {
        if let Some(transcript) = transcript {
            self.reader = self.reader.with_observer(transcript.observer());
        }
        self
    }

    /// Makes this the output of one run: messages of the run before it are not written.
    pub(super) fn for_run(mut self, run: Option<&RunId>) -> Self {
        self.reader = self.reader.for_run(run);
        self
    }

    /// Writes the init message.
    pub(super) fn write_init(&mut self, setup: &RunSetup) -> io::Result<()> {
        let message = self.reader.projection().init_message(init_message::init_info(setup));
        self.write(&message)
    }

    /// Writes that another conversation ends here, and this one starts.
    pub(super) fn write_reset(&mut self, old: &LaneId) -> io::Result<()> {
        let message = Message::ConversationReset(ConversationResetMessage {
            new_conversation_id: self.lane.session_id().to_owned(),
            session_id: old.session_id().to_owned(),
            uuid: self.reader.projection().live_uuid(),
        });
        self.write(&message)
    }

    fn write(&self, message: &Message) -> io::Result<()> {
        if self.streams { write_line(message) } else { Ok(()) }
    }

    fn write_all(&self, messages: &[Message]) -> io::Result<()> {
        messages.iter().try_for_each(|message| self.write(message))
    }

    pub(super) async fn on_item(&mut self, item: &StreamItem) -> anyhow::Result<()> {
        let messages = self.reader.read(item).await?;
        Ok(self.write_all(&messages)?)
    }

    /// Waits for messages of sub-agents and writes them.
    pub(super) async fn write_next_of_sub_agents(&mut self) -> anyhow::Result<()> {
        let messages = self.reader.next_of_sub_agents().await?;
        Ok(self.write_all(&messages)?)
    }

    /// Writes a text that is not from the model.
    pub(super) fn write_synthetic_text(&mut self, text: &str) -> io::Result<()> {
        let now = format_iso_time(SystemClock::start().now());
        let message = self.reader.projection().synthetic_text(text, now);
        self.write(&message)
    }

    /// Writes the result message, of which there is one.
    pub(super) fn finish(&mut self, end: &RunOutcome, parked: &ParkedRun) -> anyhow::Result<()> {
        let result = self.result(end, parked)?;
        write_result(result)
    }

    fn result(&mut self, end: &RunOutcome, parked: &ParkedRun) -> anyhow::Result<ResultMessage> {
        let describe = |_: &Conversation, _: &LaneId| describe_outcome(end, parked);
        let mut result = self.reader.result(end, describe, &self.lane);
        if matches!(end, RunOutcome::Parked(_)) {
            result.more.insert("questions".to_owned(), parked.views(&self.lane)?);
        }
        Ok(result)
    }

    /// Writes the result of a run whose model stayed unreachable.
    pub(super) fn finish_unreachable(&mut self, text: &str) -> anyhow::Result<()> {
        let errors = vec![text.to_owned()];
        write_result(self.reader.projection().unfinished_result("waiting_on_provider", errors))
    }

    /// Writes the result of a command that needs no model.
    pub(super) fn finish_local(&mut self, command: &str, text: &str) -> anyhow::Result<()> {
        write_result(self.reader.projection().local_result(command, text))
    }
}

/// What a run waits for, or why its prompt was rejected, in sentences.
fn describe_outcome(end: &RunOutcome, parked: &ParkedRun) -> Vec<String> {
    match end {
        RunOutcome::Parked(_) => parked.texts(),
        RunOutcome::Rejected(reason) => vec![messages::command_rejection(reason)],
        RunOutcome::Finished(_) | RunOutcome::HandedOver => Vec::new(),
    }
}

fn write_line(message: &Message) -> io::Result<()> {
    // By way of a value, because that sorts the fields: their order is the same everywhere.
    let mut line = serde_json::to_value(message)?.to_string().into_bytes();
    line.push(b'\n');
    let mut out = io::stdout();
    out.write_all(&line).and_then(|()| out.flush())
}

/// Writes any result.
pub(super) fn write_result(result: ResultMessage) -> anyhow::Result<()> {
    let written = write_line(&Message::Result(Box::new(result)));
    written.map_err(|error| anyhow::anyhow!("cannot write the result ({error})"))
}

#[cfg(test)]
#[path = "json_output_tests.rs"]
mod json_output_tests;
