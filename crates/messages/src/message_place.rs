//! Where a message stands in the log of its conversation.

use windlass_core::apply::apply;
use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{LaneId, Seq};
use windlass_core::log::record::Record;
use windlass_core::message::transcript::Transcript;
use windlass_core::run::conversation::Conversation;
use windlass_core::settings::conversation_settings::{ModelSpec, Settings};

use crate::message::{Message, SystemEvent, SystemMessage, UserMessage};
use crate::projection::{MessageProjection, ProjectionOptions};

/// The place of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessagePlace {
    /// The entry that completes it.
    pub end: Seq,
    /// What the model has seen when the message is complete. The entry may go on with the next
    /// prompt, which is not in it.
    pub transcript: Transcript,
    /// Whether the entry leaves exactly this transcript.
    pub is_whole: bool,
    /// The id of the next prompt after the message, if there is one.
    pub next_prompt: Option<String>,
}

/// Finds the message with this id. A call counts together with its result: a history that ends with
/// the first goes on to the second. `None` if the conversation has no such message, or if its calls
/// have no results yet.
#[must_use]
pub fn find_message(lane: &LaneId, log: &[Entry], uuid: &str) -> Option<MessagePlace> {
    let settings = Settings::new(ModelSpec::with_defaults(""));
    let options = ProjectionOptions { prompts: true, ..ProjectionOptions::default() };
    let mut projection = MessageProjection::new(lane, Conversation::default(), &settings, options);
    let mut is_found = false;
    let mut next_prompt = None;
    let mut place: Option<MessagePlace> = None;
    for entry in log {
        let before = projection.conversation().clone();
        for message in projection.on_entry(entry) {
            match rewound_to(&message).or_else(|| turn_uuid(&message)) {
                // What followed the message then does not follow it any more.
                Some(found) if found == uuid => (is_found, next_prompt) = (true, None),
                Some(next) if is_found && is_prompt(&message) => {
                    next_prompt.get_or_insert_with(|| next.to_owned());
                }
                _ => {}
            }
        }
        if is_found && place.is_none() && projection.conversation().has_no_open_round() {
            let transcript = transcript_before_next_prompt(before, entry);
            let is_whole = transcript == projection.conversation().transcript;
            place = Some(MessagePlace { end: entry.seq, transcript, is_whole, next_prompt: None });
        }
    }
    place.map(|place| MessagePlace { next_prompt, ..place })
}

/// The transcript after an entry, or before the run that it starts.
fn transcript_before_next_prompt(mut before: Conversation, entry: &Entry) -> Transcript {
    let is_end = |record: &Record| matches!(record, Record::RunFinished { .. });
    let is_start = |record: &Record| matches!(record, Record::RunStarted { .. });
    let end = entry.records.iter().position(is_end).map_or(0, |end| end + 1);
    let starts_next = end > 0 && entry.records.iter().skip(end).any(is_start);
    let kept = if starts_next { end } else { entry.records.len() };
    for record in entry.records.iter().take(kept) {
        apply(&mut before, entry.at, &entry.input, record);
    }
    before.transcript
}

fn rewound_to(message: &Message) -> Option<&str> {
    match message {
        Message::System(SystemMessage {
            event: SystemEvent::ConversationRewound { last_message },
            ..
        }) => Some(last_message),
        _ => None,
    }
}

fn turn_uuid(message: &Message) -> Option<&str> {
    match message {
        Message::Assistant(message) => Some(&message.uuid),
        Message::User(message) => Some(&message.uuid),
        _ => None,
    }
}

fn is_prompt(message: &Message) -> bool {
    matches!(message, Message::User(UserMessage { is_replay: true, .. }))
}
