//! The active run: its phase, its counters, and everything else that must survive a crash.

use std::sync::Arc;

use crate::budget::spending::Spending;
use crate::budget::task_budget::TaskBudgetLedger;
use crate::call::call_facts::CallFacts;
use crate::call::call_state::Call;
use crate::context::RecoveryHistory;
use crate::guard::completion_gate::ChecklistProgress;
use crate::guard::loop_detection::LoopGuard;
use crate::log::ids::{CallId, ModelCallId, RunId, UnixMillis};
use crate::log::record::{
    EarlyStart, OutputBound, StopMode, TimeLimit, ToolChoice, Transition, Truncation,
};
use crate::message::content_block::{ContentBlock, ToolUse};
use crate::message::raw_json::RawJson;
use crate::message::reply::{ModelReply, TokenUsage};
use crate::permission::PermissionMode;
use crate::run::question::{Question, QuestionKind, SuspectAnswer};
use crate::run::review::{Review, ReviewId};

pub use crate::run::active_model::ActiveModel;

/// A run: one supervised execution, from its prompt to its one terminal record.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Run {
    /// Id of the run.
    pub id: RunId,
    /// Phase of the run.
    pub phase: RunPhase,
    /// What the run has used.
    pub counters: RunCounters,
    /// Whether and how a stop of the run was requested.
    pub stop_request: Option<StopRequest>,
    /// Text of truncated replies that continue.
    pub answer_parts: Vec<Arc<str>>,
    /// Steering messages that wait for the end of the round.
    pub steers: Vec<Arc<[ContentBlock]>>,
    /// Instructions that wait for the end of the round.
    pub memories: Vec<Arc<str>>,
    /// Output cap in force, after the truncation ladder raised it.
    pub output_cap_tokens: u64,
    /// Milliseconds of active time; waiting does not count.
    pub active_ms: u64,
    /// What the run and its child runs spent.
    pub spent: Spending,
    /// How often a human extended the budget.
    pub budget_extensions: u32,
    /// Whether the warning was given that most of the budget is spent.
    pub is_budget_warning_given: bool,
    /// What the run used of the recovery ladder.
    pub recoveries: RecoveryHistory,
    /// State of loop detection.
    pub loop_guard: LoopGuard,
    /// How often the tools of the checklist succeeded.
    pub checklist_progress: ChecklistProgress,
    /// The structured answer, once it was given.
    pub structured_output: Option<RawJson>,
    /// Why the answer is suspect.
    pub suspect_reason: Option<Arc<str>>,
    /// The time limit that was reached.
    pub reached_time_limit: Option<ReachedTimeLimit>,
    /// The question that the runtime asks unless the model asks one of its own.
    pub required_question: Option<Arc<str>>,
    /// The permission mode at the start, if an approved plan changed it.
    pub original_mode: Option<PermissionMode>,
    /// Number of user messages in the run.
    pub user_message_count: u32,
    /// The model that the run calls.
    pub active_model: ActiveModel,
    /// Since when the provider is down.
    pub provider_down_since: Option<UnixMillis>,
    /// What the run used of its task budget, if it has one.
    pub task_budget: TaskBudgetLedger,
    /// The last error in full, with its causes. The model does not see it.
    pub last_error: Option<Arc<str>>,
    /// Whether the current iteration still has no reply: a retry of the model call belongs to it.
    pub awaits_reply: bool,
    /// Whether another model is called from the next model call on.
    pub is_model_change_due: bool,
    /// Why a hook ends the run after the round, if one does.
    pub hook_stop: Option<Arc<str>>,
    /// The call that a hook deferred: the run ends after the round.
    pub deferred_tool_use: Option<ToolUse>,
    /// Whether the run has no prompt: it compacts the context and ends.
    pub only_compacts: bool,
}

/// A time limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ReachedTimeLimit {
    /// The time limit.
    pub limit: TimeLimit,
    /// When the limit was reached.
    pub at: UnixMillis,
}

/// The phase of a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RunPhase {
    /// Between two phases: `decide` never leaves a run here.
    Deciding,
    /// A model call is in flight.
    CallingModel(PendingModelCall),
    /// The model call failed with a transient error; it is retried later.
    AwaitingRetry {
        /// Earliest time of the retry.
        until: UnixMillis,
    },
    /// The calls of a reply are being run.
    RunningTools(Round),
    /// A review is pending.
    InReview(PendingReview),
    /// A human decides whether and how to continue.
    Paused(HumanPause),
}

/// A review in flight.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PendingReview {
    /// Id of the review.
    pub id: ReviewId,
    /// The review.
    pub review: Review,
}

/// A run that is paused until a human answers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HumanPause {
    /// The question.
    pub question: Question,
    /// The round that was open.
    pub round: Option<Round>,
    /// Whether the human approved; the new settings are about to be recorded.
    pub approval: Approval,
}

/// Whether a paused run may continue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Approval {
    /// Not answered yet.
    Pending,
    /// The human approved.
    Given,
}

/// A model call in flight.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PendingModelCall {
    /// The model call.
    pub model_call: ModelCallId,
    /// Output tokens that the call may use.
    pub max_tokens: u64,
    /// What bounds the output.
    pub bound: OutputBound,
    /// Tokens reserved for the call.
    pub reserved_tokens: u64,
    /// Why the call was made.
    pub transition: Transition,
    /// Which tools the model may call.
    pub choice: ToolChoice,
    /// Calls that were started early, while the reply streams.
    pub early_calls: Vec<EarlyCall>,
}

/// An early call: it runs before its reply is complete, a read that rules alone allow.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EarlyCall {
    /// The call.
    pub id: CallId,
    /// The tool use as the model requested it.
    pub tool_use: ToolUse,
    /// Whether the call was started; a call that was not still blocks later ones that conflict.
    pub start: EarlyStart,
    /// The assessed facts about the call.
    pub facts: Arc<CallFacts>,
}

/// A reply whose calls are being run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Round {
    /// The model call that returned the reply.
    pub model_call: ModelCallId,
    /// The blocks that go into the transcript.
    pub blocks: Arc<[ContentBlock]>,
    /// The calls, in order.
    pub calls: Vec<Call>,
    /// A note after the results.
    pub note: Option<Arc<str>>,
    /// Whether a call failed in a way that ends the run.
    pub fatality: RoundFatality,
}

/// Whether the run must end after this round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RoundFatality {
    /// The run continues.
    NotFatal,
    /// The run ends.
    Fatal,
}

/// Counters of a run. Reset with each run, kept across crashes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RunCounters {
    /// Rounds with tool calls: what `max_turns` counts.
    pub tool_rounds: u32,
    /// Iterations of the loop, each with one reply: what `iter` counts. A retry because a provider
    /// failed, or because a process died, does not start another.
    pub iterations: u32,
    /// Requests to the model, repeated ones included.
    pub model_calls: u32,
    /// Requests that only repeated one with a transient failure.
    pub retries: u32,
    /// Number of tool calls.
    pub tool_calls: u32,
    /// Truncated replies in a row.
    pub truncations: u32,
    /// Dropped replies that were requested again, since a human was last asked.
    pub reprompts: u32,
    /// Model failures in a row.
    pub failures: u32,
    /// Compactions because the provider reported a full window, or truncated reply after reply.
    pub reactive_compactions: u32,
    /// Answers that a gate rejected, since a human was last asked.
    pub rejections: u32,
    /// Answers that did not match their schema, since a human was last asked.
    pub output_retries: u32,
    /// Tokens used.
    pub usage: TokenUsage,
}

/// A requested stop of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StopRequest {
    /// Whether the run is cancelled or aborted.
    pub mode: StopMode,
    /// When the stop was requested.
    pub at: UnixMillis,
    /// What was in progress then.
    pub during: StopPoint,
}

/// What is in progress when a run is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StopPoint {
    /// A model call, or the wait for its retry.
    ModelCall,
    /// The tool calls of a reply.
    ToolCalls,
    /// Something else: a review, a question.
    Other,
}

/// The last reply, for projections.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LastReply {
    /// The model call.
    pub model_call: ModelCallId,
    /// The reply.
    pub reply: Arc<ModelReply>,
    /// Whether the reply was truncated.
    pub truncation: Truncation,
    /// Why the model was called.
    pub transition: Transition,
}

impl Run {
    /// Creates a run that has just started.
    #[must_use]
    pub fn new(id: RunId, output_cap_tokens: u64) -> Self {
        Self {
            id,
            phase: RunPhase::Deciding,
            counters: RunCounters::default(),
            stop_request: None,
            answer_parts: Vec::new(),
            steers: Vec::new(),
            memories: Vec::new(),
            output_cap_tokens,
            active_ms: 0,
            spent: Spending::default(),
            budget_extensions: 0,
            is_budget_warning_given: false,
            recoveries: RecoveryHistory::default(),
            loop_guard: LoopGuard::default(),
            checklist_progress: ChecklistProgress::default(),
            structured_output: None,
            suspect_reason: None,
            reached_time_limit: None,
            required_question: None,
            original_mode: None,
            user_message_count: 1,
            active_model: ActiveModel::Primary,
            provider_down_since: None,
            task_budget: TaskBudgetLedger::default(),
            last_error: None,
            awaits_reply: false,
            is_model_change_due: false,
            hook_stop: None,
            deferred_tool_use: None,
            only_compacts: false,
        }
    }

    /// Returns the open round.
    #[must_use]
    pub fn round(&self) -> Option<&Round> {
        match &self.phase {
            RunPhase::RunningTools(round) => Some(round),
            RunPhase::Paused(halt) => halt.round.as_ref(),
            RunPhase::Deciding
            | RunPhase::CallingModel(_)
            | RunPhase::AwaitingRetry { .. }
            | RunPhase::InReview(_) => None,
        }
    }

    /// Returns the open round for changes.
    pub fn round_mut(&mut self) -> Option<&mut Round> {
        match &mut self.phase {
            RunPhase::RunningTools(round) => Some(round),
            RunPhase::Paused(halt) => halt.round.as_mut(),
            RunPhase::Deciding
            | RunPhase::CallingModel(_)
            | RunPhase::AwaitingRetry { .. }
            | RunPhase::InReview(_) => None,
        }
    }

    /// Returns what is in progress, for a stop that is requested now.
    pub(crate) fn stop_point(&self) -> StopPoint {
        match &self.phase {
            RunPhase::CallingModel(_) | RunPhase::AwaitingRetry { .. } => StopPoint::ModelCall,
            RunPhase::RunningTools(_) => StopPoint::ToolCalls,
            RunPhase::Paused(halt) if halt.round.is_some() => StopPoint::ToolCalls,
            RunPhase::Deciding | RunPhase::InReview(_) | RunPhase::Paused(_) => StopPoint::Other,
        }
    }

    /// Returns whether a hook ends the run after the round.
    #[must_use]
    pub fn is_ended_by_hook(&self) -> bool {
        self.hook_stop.is_some() || self.deferred_tool_use.is_some()
    }

    /// Returns how many replies the run has received.
    #[must_use]
    pub fn reply_count(&self) -> u32 {
        self.counters.iterations.saturating_sub(u32::from(self.awaits_reply))
    }

    /// Returns the model call in flight.
    #[must_use]
    pub fn pending_model_call(&self) -> Option<&PendingModelCall> {
        match &self.phase {
            RunPhase::CallingModel(asking) => Some(asking),
            RunPhase::Deciding
            | RunPhase::AwaitingRetry { .. }
            | RunPhase::RunningTools(_)
            | RunPhase::InReview(_)
            | RunPhase::Paused(_) => None,
        }
    }

    /// Returns the review in flight.
    #[must_use]
    pub fn pending_review(&self) -> Option<&PendingReview> {
        match &self.phase {
            RunPhase::InReview(consulting) => Some(consulting),
            RunPhase::Deciding
            | RunPhase::CallingModel(_)
            | RunPhase::AwaitingRetry { .. }
            | RunPhase::RunningTools(_)
            | RunPhase::Paused(_) => None,
        }
    }

    /// Returns whether time counts for the run: something is in flight, and it does not wait for a
    /// human, a provider or a child.
    #[must_use]
    pub fn is_active(&self) -> bool {
        match &self.phase {
            RunPhase::CallingModel(_) | RunPhase::InReview(_) => true,
            RunPhase::Deciding | RunPhase::AwaitingRetry { .. } => false,
            RunPhase::RunningTools(round) => round.has_active_call(),
            RunPhase::Paused(halt) => halt.round.as_ref().is_some_and(Round::has_call_in_flight),
        }
    }

    /// Returns the pause of the run, if it waits for a human.
    #[must_use]
    pub fn human_pause(&self) -> Option<&HumanPause> {
        match &self.phase {
            RunPhase::Paused(halt) => Some(halt),
            RunPhase::Deciding
            | RunPhase::CallingModel(_)
            | RunPhase::AwaitingRetry { .. }
            | RunPhase::RunningTools(_)
            | RunPhase::InReview(_) => None,
        }
    }

    /// Undoes volatile records: the start of early calls and of repeatable calls.
    pub(crate) fn discard_volatile(&mut self) {
        if let RunPhase::CallingModel(asking) = &mut self.phase {
            asking.early_calls.clear();
        }
        for call in self.round_mut().into_iter().flat_map(|round| &mut round.calls) {
            call.discard_volatile();
        }
    }

    /// Returns every open question. A paused run that is about to end needs no approval any more.
    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        let halted = self
            .human_pause()
            .filter(|halt| halt.approval == Approval::Pending && self.stop_request.is_none());
        let calls = self.round().into_iter().flat_map(|round| &round.calls);
        halted.map(|halt| &halt.question).into_iter().chain(calls.filter_map(Call::question))
    }

    /// Returns the current answer: the structured one, or the text so far.
    #[must_use]
    pub fn answer_text(&self) -> String {
        let given = self.structured_output.as_ref().map(|given| given.text().to_owned());
        given.unwrap_or_else(|| self.answer_parts.concat())
    }

    /// Returns the name of the phase, as traces and explorers print it.
    #[must_use]
    pub fn phase_name(&self) -> &'static str {
        match &self.phase {
            RunPhase::Deciding => "deciding",
            RunPhase::CallingModel(_) => "calling_model",
            RunPhase::AwaitingRetry { .. } => "awaiting_retry",
            RunPhase::RunningTools(_) => "running_tools",
            RunPhase::InReview(_) => "in_review",
            RunPhase::Paused(_) => "paused",
        }
    }
}

impl HumanPause {
    /// Returns the complete answer that the run ends with if a human stops it here.
    #[must_use]
    pub fn suspect_answer(&self) -> Option<&SuspectAnswer> {
        match &self.question.kind {
            QuestionKind::Guidance { suspect_answer, .. } => suspect_answer.as_ref(),
            QuestionKind::Approval { .. }
            | QuestionKind::Uncertain { .. }
            | QuestionKind::ModelQuestion { .. }
            | QuestionKind::ToolRequest { .. }
            | QuestionKind::Plan { .. }
            | QuestionKind::Budget { .. }
            | QuestionKind::PromptChanged { .. } => None,
        }
    }
}

impl Round {
    /// Returns the call with this id.
    #[must_use]
    pub fn call(&self, id: CallId) -> Option<&Call> {
        self.calls.iter().find(|call| call.id == id)
    }

    /// Returns whether any call is being run. The start of a call is not always stored, so a ready
    /// call that is not blocked counts.
    fn has_active_call(&self) -> bool {
        let free = |(index, call): (usize, &Call)| {
            let waits = |earlier: &Call| earlier.is_awaiting_others() && earlier.must_precede(call);
            let blocked = self.calls.iter().take(index).any(waits);
            !call.is_finished()
                && !call.is_awaiting_others()
                && !call.is_awaiting_child_slot()
                && !blocked
        };
        self.calls.iter().enumerate().any(free)
    }

    fn has_call_in_flight(&self) -> bool {
        self.calls.iter().any(|call| call.is_in_flight() && !call.facts.is_repeatable())
    }

    /// Returns whether every call has its result.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.calls.iter().all(Call::is_finished)
    }
}
