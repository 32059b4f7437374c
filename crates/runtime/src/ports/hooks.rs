//! The hooks port: hooks inspect prompts, tool calls, answers and compactions. This crate has the
//! port; programs bring their hooks.
//!
//! A hook implements only the methods of the points it is interested in, and says which points
//! these are. The methods before and after a tool call, and reviews, are only called if the
//! recorded settings say that hooks are present at that point; the builder of the facade takes that
//! from the hooks.

use std::sync::Arc;

use super::{BoxFuture, HookMessage, HookMessages, HookModel};
use windlass_core::Conversation;
use windlass_core::call::call_state::Call;
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::ids::LaneId;
use windlass_core::log::inbox::HumanAnswer;
use windlass_core::log::input::HookDecision;
use windlass_core::message::content_block::ToolUse;
use windlass_core::message::raw_json::RawJson;
use windlass_core::run::child_runs::ParentLink;
use windlass_core::run::question::Question;
use windlass_core::run::review::{Review, ReviewResult};
use windlass_core::settings::conversation_settings::HookPoints;
use windlass_core::stop::StopCause;

/// Hooks of a program. Every method has a default that does nothing.
pub trait Hooks: Send + Sync + 'static {
    /// Returns the points at which these hooks want to be called. A point costs time even if its
    /// hook does nothing: hooks that use few points should name them.
    fn points(&self) -> HookPoints {
        HookPoints::all()
    }

    /// A conversation or a child run starts: called before its prompt is reviewed.
    fn on_start(&self, _scene: HookContext) -> BoxFuture<'_, ReviewResult> {
        Box::pin(std::future::ready(ReviewResult::Pass { context: None }))
    }

    /// Called before the permission decision about a tool call. Changed arguments are assessed
    /// again, whatever facts come with them.
    fn before_tool_call(&self, _scene: HookContext, _call: Call) -> BoxFuture<'_, HookResponse> {
        Box::pin(std::future::ready(HookDecision::Pass {}.into()))
    }

    /// Called after a tool call returned.
    fn after_tool_call(
        &self,
        _scene: HookContext,
        _call: Call,
        _outcome: ToolOutcome,
    ) -> BoxFuture<'_, HookResponse> {
        Box::pin(std::future::ready(HookDecision::Pass {}.into()))
    }

    /// The model finished its turn: called before the answer is reviewed.
    fn after_sampling(&self, _scene: HookContext) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Reviews what a run is about to do: send its prompt, end with its answer, or compact old
    /// messages.
    fn review(&self, _scene: HookContext, _about: Review) -> BoxFuture<'_, ReviewResult> {
        Box::pin(std::future::ready(ReviewResult::Pass { context: None }))
    }

    /// A human is asked a question. Nothing waits for this hook.
    fn on_question(&self, _scene: HookContext, _question: Question) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Returns whether these hooks may answer the question: the run waits for
    /// [`decide_question`](Self::decide_question) before this process leaves it to a human.
    fn decides(&self, _question: &Question) -> bool {
        false
    }

    /// Answers a question in place of a human; `None` leaves it to one. The first answer counts,
    /// whoever gives it.
    fn decide_question(
        &self,
        _scene: HookContext,
        _question: Question,
    ) -> BoxFuture<'_, Option<HumanAnswer>> {
        Box::pin(std::future::ready(None))
    }

    /// Returns whether [`on_moment`](Self::on_moment) is of use.
    fn wants_moments(&self) -> bool {
        false
    }

    /// Something was recorded that hooks cannot change. Nothing waits for this hook.
    fn on_moment(&self, _scene: HookContext, _moment: RunMoment) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// This process does something in a session beside its runs. What it is about to do can be blocked;
    /// context is for the model.
    fn on_session_event(&self, _lane: LaneId, _event: SessionEvent) -> BoxFuture<'_, ReviewResult> {
        Box::pin(std::future::ready(ReviewResult::Pass { context: None }))
    }

    /// This process is done with a top-level conversation. The hook cannot prevent anything; the
    /// process waits for it, up to the hook timeout.
    fn on_session_end(&self, _lane: LaneId, _reason: SessionEndReason) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }
}

/// A moment of a run that has been recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunMoment {
    /// A call was denied by rules, by the mode, by the classifier or because no one could approve
    /// it.
    CallDenied {
        /// The tool use of the call.
        tool_use: ToolUse,
        /// Reason for the model.
        reason: Arc<str>,
    },
    /// Every call of a reply has a result.
    RoundClosed {
        /// The calls, with the result that the model reads.
        calls: Vec<(ToolUse, Option<RawJson>)>,
    },
    /// Old messages were replaced by a summary.
    Compacted {
        /// What replaced them.
        summary: Arc<str>,
        /// Whether someone asked for it.
        is_requested: bool,
    },
    /// The run ended because the model or its provider failed.
    RunFailed {
        /// Why it ended.
        cause: StopCause,
        /// The last error, if one is known.
        error: Option<Arc<str>>,
    },
    /// A fallback model is called from here on.
    FallbackSelected {
        /// The model before.
        from: Arc<str>,
        /// The fallback model.
        to: Arc<str>,
    },
    /// Instructions of a folder were added for the model, because a call touched the folder.
    InstructionsLoaded {
        /// The file of the instructions.
        path: Arc<str>,
    },
    /// The run ended, whatever the cause.
    RunEnded {
        /// Why it ended.
        cause: StopCause,
    },
}

/// What a process does in a session beside its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEvent {
    /// A command that a person typed becomes a prompt.
    PromptExpanded {
        /// Whether it is a command of ours or a prompt of an MCP server.
        kind: ExpansionKind,
        /// The name of the command.
        command: Arc<str>,
        /// What was typed behind it.
        arguments: Arc<str>,
        /// The prompt that it becomes.
        prompt: Arc<str>,
    },
    /// The model of the session is about to change.
    ModelSwitching(ModelSwitch),
    /// The model of the session has changed.
    ModelSwitched(ModelSwitch),
    /// A git worktree was made for a sub-agent.
    WorktreeCreated {
        /// The id of the sub-agent.
        name: Arc<str>,
        /// Its folder.
        path: Arc<str>,
    },
    /// The git worktree of a sub-agent is about to be removed; this cannot be blocked.
    WorktreeRemoved {
        /// Its folder.
        path: Arc<str>,
    },
}

/// What a typed command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpansionKind {
    /// A custom command or a skill.
    SlashCommand,
    /// A prompt of an MCP server.
    McpPrompt,
}

/// A change of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSwitch {
    /// The model before.
    pub from: Arc<str>,
    /// The model from here on.
    pub to: Arc<str>,
    /// What was asked for; `None` for the model of the settings.
    pub requested: Option<Arc<str>>,
}

/// Why a process is done with a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionEndReason {
    /// A new conversation is started in its place.
    Clear,
    /// Its run ended, waits for a human or was released; or the process was told to stop.
    Other,
}

impl SessionEndReason {
    /// Returns the name of the reason, as hooks receive it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Other => "other",
        }
    }
}

/// The conversation that a hook is called for.
#[derive(Debug, Clone)]
pub struct HookContext {
    /// The lane of the conversation, which is its name in the store.
    pub lane: LaneId,
    /// The current state of the conversation.
    pub conversation: Conversation,
    /// Messages of the hook to the user; readers of the run receive them when the hook has
    /// returned.
    pub messages: HookMessages,
    /// The model that hooks may ask.
    pub model: HookModel,
}

impl HookContext {
    /// Returns the context of a hook that is called for the conversation on `lane`.
    #[must_use]
    pub fn new(lane: LaneId, conversation: Conversation) -> Self {
        let (messages, model) = (HookMessages::default(), HookModel::default());
        Self { lane, conversation, messages, model }
    }

    /// Returns the context with a model that hooks may ask.
    #[must_use]
    pub fn with_model(mut self, model: HookModel) -> Self {
        self.model = model;
        self
    }

    /// Sends a message to the user. The model does not see it.
    pub fn tell_user(&self, message: HookMessage) {
        self.messages.push(message);
    }

    /// Returns the parent's lane and call, if this is a child run.
    #[must_use]
    pub fn parent(&self) -> Option<&ParentLink> {
        self.conversation.parent.as_ref()
    }

    /// Returns the registered agent that drives the conversation.
    #[must_use]
    pub fn agent(&self) -> Option<&Arc<str>> {
        self.conversation.settings.as_ref().map(|settings| &settings.agent)
    }

    /// Returns whether no run of the conversation has ended yet.
    #[must_use]
    pub fn is_first_run(&self) -> bool {
        self.conversation.last_run_end.is_none()
    }

    /// Returns the text of the current answer of the run.
    #[must_use]
    pub fn answer_text(&self) -> String {
        self.conversation.run.as_ref().map(|run| run.answer_parts.concat()).unwrap_or_default()
    }

    /// Returns whether a review has already rejected an answer of this run.
    #[must_use]
    pub fn has_rejected_answer(&self) -> bool {
        self.conversation.run.as_ref().is_some_and(|run| run.counters.rejections > 0)
    }
}

/// The response of a hook about a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookResponse {
    /// The hook's decision.
    pub decision: HookDecision,
    /// Text that is added for the model.
    pub context: Option<Arc<str>>,
    /// Why the run must end after the results of the round, if the hook says so. Before a call,
    /// the call does not run.
    pub stop: Option<Arc<str>>,
}

impl From<HookDecision> for HookResponse {
    fn from(decision: HookDecision) -> Self {
        Self { decision, context: None, stop: None }
    }
}

impl HookResponse {
    /// Returns the response with text for the model.
    #[must_use]
    pub fn with_context(mut self, text: impl Into<Arc<str>>) -> Self {
        self.context = Some(text.into());
        self
    }

    /// Returns the response with the end of the run, after the results of the round.
    #[must_use]
    pub fn ending_run(mut self, reason: impl Into<Arc<str>>) -> Self {
        self.stop = Some(reason.into());
        self
    }
}

/// No hooks: every method has its default.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHooks;

impl Hooks for NoHooks {
    fn points(&self) -> HookPoints {
        HookPoints::default()
    }
}
