//! The state of a conversation, folded from its lane's log: what belongs to it for ever, the prompts
//! that wait, and the run that is active.

use std::sync::Arc;

use imbl::Vector;

use crate::block::Block;
use crate::ids::{AskId, Epoch, Millis, QuestionId, RunId, Seq};
use crate::reply::Usage;
use crate::request::Request;
use crate::run::{LastReply, Run};
use crate::settings::Settings;
use crate::stop::{StopCause, Text};
use crate::transcript::Transcript;

/// A conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Conversation {
    /// The last entry that was folded.
    pub head: Seq,
    /// Its time.
    pub at: Millis,
    /// What it runs with; `None` until configured.
    pub settings: Option<Arc<Settings>>,
    /// Hash of prompt and tools in force.
    pub prompt_hash: Option<Arc<str>>,
    /// What the model sees.
    pub transcript: Transcript,
    /// Prompts that wait for their turn.
    pub queue: Vector<QueuedPrompt>,
    /// The active run.
    pub run: Option<Run>,
    /// How the last run ended.
    pub last_end: Option<Ended>,
    /// The last reply.
    pub last_reply: Option<LastReply>,
    /// Tokens of all runs; a fork begins at zero.
    pub usage: Usage,
    /// Model calls so far, over all runs.
    pub asks: AskId,
    /// Questions so far.
    pub questions: QuestionId,
    /// The owner's epoch as last recorded.
    pub epoch: Epoch,
}

/// A prompt that waits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QueuedPrompt {
    /// The run it will be.
    pub run: RunId,
    /// What the person said.
    pub blocks: Arc<[Block]>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ended {
    /// Which.
    pub run: RunId,
    /// Why.
    pub cause: StopCause,
    /// What else applied.
    pub also: Vec<StopCause>,
    /// Its text.
    pub text: Arc<str>,
    /// What it used.
    pub counters: crate::run::Counters,
}

impl Ended {
    /// Whether there is text to show.
    #[must_use]
    pub fn has_text(&self) -> Text {
        Text::of(&self.text)
    }
}

impl Conversation {
    /// The next model call, if one is in the air. Costs what is new, not what is old.
    #[must_use]
    pub fn request(&self) -> Option<Request> {
        let run = self.run.as_ref()?;
        let settings = self.settings.clone()?;
        let asking = run.asking()?;
        Some(Request {
            ask: asking.ask,
            settings,
            transcript: self.transcript.clone(),
            max_tokens: asking.max_tokens,
        })
    }

    /// Whether no round is open: where a fork may begin.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.run.as_ref().is_none_or(|run| run.round().is_none())
    }

    /// The phase's name; `idle` without a run.
    #[must_use]
    pub fn phase_name(&self) -> &'static str {
        self.run.as_ref().map_or("idle", Run::phase_name)
    }
}
