//! Hooks look at prompts, calls, answers and compactions. This crate has the port; hosts bring hooks.
//!
//! A hook that has nothing to say at a point leaves the method out. At the points before and after a
//! call, and where a run waits for counsel, nobody is asked unless the settings say that somebody
//! listens there.

use std::sync::Arc;

use super::Task;
use windlass_core::Conversation;
use windlass_core::call::Call;
use windlass_core::child::Parent;
use windlass_core::counsel::{Advice, Counsel};
use windlass_core::ids::LaneId;
use windlass_core::input::HookAnswer;
use windlass_core::outcome::Outcome;
use windlass_core::question::Question;

/// Somebody who listens at the hook points.
pub trait Hooks: Send + Sync + 'static {
    /// A conversation begins, or a child begins to work: before its prompt is looked at.
    fn began(&self, _scene: Scene) -> Task<'_, Advice> {
        Box::pin(std::future::ready(Advice::Pass { context: None }))
    }

    /// Before the call is judged. New arguments are assessed again, whatever facts come with them.
    fn before(&self, _scene: Scene, _call: Call) -> Task<'_, Heard> {
        Box::pin(std::future::ready(HookAnswer::Pass {}.into()))
    }

    /// After the call came back.
    fn after(&self, _scene: Scene, _call: Call, _outcome: Outcome) -> Task<'_, Heard> {
        Box::pin(std::future::ready(HookAnswer::Pass {}.into()))
    }

    /// The model ended its turn: before anybody says whether the answer counts.
    fn sampled(&self, _scene: Scene) -> Task<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// A run is about to send its prompt, to end with its answer, or to leave old messages out.
    fn counsel(&self, _scene: Scene, _about: Counsel) -> Task<'_, Advice> {
        Box::pin(std::future::ready(Advice::Pass { context: None }))
    }

    /// A human is asked. Nothing waits for this.
    fn notified(&self, _scene: Scene, _question: Question) -> Task<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// This process is done with a conversation that is not a child. Nothing can be held back any
    /// more; the process waits for it, up to the time that a hook may take.
    fn session_ended(&self, _lane: LaneId, _reason: SessionEndReason) -> Task<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// Why a process is done with a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEndReason {
    /// A new conversation begins in its place.
    Clear,
    /// Its run ended, waits for a person, or was left; or the process is told to stop.
    Other,
}

impl SessionEndReason {
    /// Its name, as hooks are told.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Other => "other",
        }
    }
}

/// What a hook sees of the conversation it is asked about.
#[derive(Debug, Clone)]
pub struct Scene {
    /// The lane it runs under, which is its name for the outside.
    pub lane: LaneId,
    /// The conversation, as it stands.
    pub conversation: Conversation,
}

impl Scene {
    /// Whom it works for, if it is a child.
    #[must_use]
    pub fn parent(&self) -> Option<&Parent> {
        self.conversation.parent.as_ref()
    }

    /// Which registered agent drives it.
    #[must_use]
    pub fn agent(&self) -> Option<&Arc<str>> {
        self.conversation.settings.as_ref().map(|settings| &settings.agent)
    }

    /// Whether no run of it has ended yet.
    #[must_use]
    pub fn is_first_run(&self) -> bool {
        self.conversation.last_end.is_none()
    }

    /// What the model said last, as text.
    #[must_use]
    pub fn answer(&self) -> String {
        self.conversation.run.as_ref().map(|run| run.pieces.concat()).unwrap_or_default()
    }

    /// Whether an answer of this run was sent back already.
    #[must_use]
    pub fn was_sent_back(&self) -> bool {
        self.conversation.run.as_ref().is_some_and(|run| run.counters.rejections > 0)
    }
}

/// What a hook said about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// Its answer.
    pub answer: HookAnswer,
    /// Something the model should know.
    pub context: Option<Arc<str>>,
}

impl From<HookAnswer> for Heard {
    fn from(answer: HookAnswer) -> Self {
        Self { answer, context: None }
    }
}

/// Nobody listens.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {}
