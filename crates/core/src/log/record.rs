//! Records: facts that were decided. They are past tense, contain everything that was decided, and
//! never change their meaning: a change of meaning is a new version of the tag, never an edit.
//!
//! Bytes that are already in the entry's input (a reply, a tool's result, an inbox message) are not
//! repeated in its records; applying a record looks them up there.

mod durability;
mod parts;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::spending::{Spending, SpendingCaps};
use crate::context::{BlockRewrite, CompactionTrigger, PruneStage, RecoveryStep};
use crate::guard::loop_detection::EscalationLevel;
use crate::log::command_rejection::CommandRejection;
use crate::log::ids::{CallId, Epoch, InboxMessageId, LaneId, ModelCallId, RunId, Seq, UnixMillis};
use crate::message::reply::TokenUsage;
use crate::permission::{
    AddedAccess, ContentSource, PermissionDecision, PermissionMode, PermissionRule,
    PermissionUpdate,
};
use crate::run::journal::JournalChange;
use crate::run::question::Question;
use crate::run::review::{Review, ReviewId};
use crate::stop::{ReplyAnomaly, StopCause, StopDecision};

pub use durability::{Durability, entry_durability};
pub use parts::{
    AbandonCause, EarlyStart, LoopFinding, OutputBound, RecordedResult, RejectionSource, StopMode,
    TimeLimit, ToolChoice, Transition, Truncation,
};

/// A fact that was decided.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Record {
    /// The settings of the input apply from here on.
    #[serde(rename = "configured/1")]
    Configured {},
    /// The tools of servers changed; the next model call is offered those of the input.
    #[serde(rename = "server_tools_changed/1")]
    ServerToolsChanged {
        /// Names of new tools.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        added: Vec<Arc<str>>,
        /// Names of tools whose definitions changed.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changed: Vec<Arc<str>>,
        /// Names of tools that are no longer offered.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        removed: Vec<Arc<str>>,
    },
    /// The prompt of this inbox message was queued.
    #[serde(rename = "prompt_queued/1")]
    PromptQueued {
        /// The inbox message.
        message: InboxMessageId,
    },
    /// The command changes nothing.
    #[serde(rename = "command_rejected/1")]
    CommandRejected {
        /// The inbox message.
        message: InboxMessageId,
        /// Why the command was rejected.
        reason: CommandRejection,
    },
    /// The steering message goes to the active run after its round.
    #[serde(rename = "steering_queued/1")]
    SteeringQueued {
        /// The inbox message.
        message: InboxMessageId,
    },
    /// The first queued prompt became the active run.
    #[serde(rename = "run_started/1")]
    RunStarted {
        /// The run.
        run: RunId,
    },
    /// A model call was started.
    #[serde(rename = "model_call_started/1")]
    ModelCallStarted {
        /// The model call.
        model_call: ModelCallId,
        /// Output tokens it may use.
        max_tokens: u64,
        /// What bounds the output.
        bound: OutputBound,
        /// Tokens reserved for the call.
        reserved_tokens: u64,
        /// Why this iteration exists.
        transition: Transition,
        /// Which tools it may call.
        #[serde(default, skip_serializing_if = "ToolChoice::is_auto")]
        choice: ToolChoice,
    },
    /// A call of a reply that still streams was assessed, and possibly started early.
    #[serde(rename = "early_call_decided/1")]
    EarlyCallDecided {
        /// The call.
        call: CallId,
        /// Whether the call was started.
        start: EarlyStart,
    },
    /// The model replied; its usage counts.
    #[serde(rename = "model_replied/1")]
    ModelReplied {
        /// The model call.
        model_call: ModelCallId,
        /// Whether the output limit truncated the reply.
        truncation: Truncation,
        /// What the stop table decided for its stop reason.
        decision: StopDecision,
    },
    /// A model call was abandoned: it will return nothing.
    #[serde(rename = "model_call_abandoned/1")]
    ModelCallAbandoned {
        /// The model call.
        model_call: ModelCallId,
        /// Why the model call was abandoned.
        cause: AbandonCause,
        /// Tokens that the call is charged with.
        charged: TokenUsage,
    },
    /// A retry of the model call was scheduled.
    #[serde(rename = "model_retry_scheduled/1")]
    ModelRetryScheduled {
        /// Earliest time of the retry.
        until: UnixMillis,
        /// Number of failures in a row.
        failures: u32,
    },
    /// An anomaly of the reply was counted.
    #[serde(rename = "anomaly_detected/1")]
    AnomalyDetected {
        /// The anomaly.
        what: ReplyAnomaly,
    },
    /// The reply's text was kept, without calls.
    #[serde(rename = "reply_kept/1")]
    ReplyKept {},
    /// The reply was dropped: it is in the log and not in the transcript.
    #[serde(rename = "reply_dropped/1")]
    ReplyDropped {
        /// The guard that dropped it, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<Arc<str>>,
    },
    /// The runtime added a note on the user's side.
    #[serde(rename = "note_added/1")]
    NoteAdded {
        /// Text of the note.
        text: Arc<str>,
    },
    /// A round was opened: the calls of the reply are being run.
    #[serde(rename = "round_opened/1")]
    RoundOpened {
        /// Blocks that were dropped because their id is already used in the reply.
        dropped: Vec<u16>,
        /// A note after the results.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Arc<str>>,
    },
    /// A hook, or a human who approved the call, changed its arguments.
    #[serde(rename = "call_input_changed/1")]
    CallInputChanged {
        /// The call.
        call: CallId,
        /// The inbox message with the answer that changed them; without one a hook did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<InboxMessageId>,
    },
    /// The permission decision of a call was made.
    #[serde(rename = "permission_decided/1")]
    PermissionDecided {
        /// The call.
        call: CallId,
        /// The permission decision.
        verdict: PermissionDecision,
    },
    /// The permission mode changed for the rest of the run.
    #[serde(rename = "mode_changed/1")]
    ModeChanged {
        /// The new mode.
        mode: PermissionMode,
    },
    /// The model must ask a human now; if it does not, the runtime asks this question.
    #[serde(rename = "question_required/1")]
    QuestionRequired {
        /// The question.
        question: Arc<str>,
    },
    /// A human was asked.
    #[serde(rename = "question_asked/1")]
    QuestionAsked {
        /// The question.
        question: Question,
    },
    /// A human answered.
    #[serde(rename = "question_answered/1")]
    QuestionAnswered {
        /// The inbox message with the answer.
        message: InboxMessageId,
    },
    /// A repeatable call was started. A crash forgets it, which does no harm.
    #[serde(rename = "repeatable_call_started/1")]
    RepeatableCallStarted {
        /// The call.
        call: CallId,
    },
    /// A once-only call was started. Durable before its effect.
    #[serde(rename = "call_started/1")]
    CallStarted {
        /// The call.
        call: CallId,
    },
    /// A repeatable call failed with a transient error and will be retried.
    #[serde(rename = "call_retry_scheduled/1")]
    CallRetryScheduled {
        /// The call.
        call: CallId,
        /// Earliest time of the retry.
        until: UnixMillis,
    },
    /// A call returned; its outcome is in the input.
    #[serde(rename = "call_returned/1")]
    CallReturned {
        /// The call.
        call: CallId,
    },
    /// The sandbox kept a call from something; it runs again with exactly that added if a person
    /// or a rule of a person allows it.
    #[serde(rename = "access_requested/1")]
    AccessRequested {
        /// The call.
        call: CallId,
        /// What would be added.
        access: AddedAccess,
    },
    /// The result of a call contains untrusted content.
    #[serde(rename = "untrusted_content_added/1")]
    UntrustedContentAdded {
        /// The call.
        call: CallId,
        /// Where the content came from.
        sources: Vec<ContentSource>,
    },
    /// The result of a call is final.
    #[serde(rename = "result_finalized/1")]
    ResultFinalized {
        /// The call.
        call: CallId,
        /// What the model sees of the result.
        result: RecordedResult,
    },
    /// A call was in flight when its process died.
    #[serde(rename = "call_lost/1")]
    CallLost {
        /// The call.
        call: CallId,
    },
    /// A call may be started again: it is known that it did not happen, or its pause is over.
    #[serde(rename = "call_requeued/1")]
    CallRequeued {
        /// The call.
        call: CallId,
    },
    /// Every call has a result; the round is in the transcript.
    #[serde(rename = "round_closed/1")]
    RoundClosed {},
    /// A tool failed in a way that ends the run.
    #[serde(rename = "fatal_tool_error/1")]
    FatalToolError {
        /// The call.
        call: CallId,
    },
    /// A stop of the run was requested.
    #[serde(rename = "cancel_requested/1")]
    CancelRequested {
        /// The inbox message with the request.
        message: InboxMessageId,
        /// Whether the run is cancelled or aborted.
        mode: StopMode,
    },
    /// Old messages were replaced by a note.
    #[serde(rename = "compacted/1")]
    Compacted {
        /// First segment that is kept.
        keep_from: u64,
        /// The note that replaces the removed messages.
        note: Arc<str>,
        /// The step of the recovery ladder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<RecoveryStep>,
        /// Why the compaction was made.
        #[serde(default, skip_serializing_if = "CompactionTrigger::is_threshold")]
        trigger: CompactionTrigger,
        /// Removed segments that stay word for word.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        kept_segments: Vec<u64>,
        /// Hash of the kept segments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept_hash: Option<Arc<str>>,
    },
    /// A compaction was requested before the next model call.
    #[serde(rename = "compaction_requested/1")]
    CompactionRequested {
        /// The inbox message with the request.
        message: InboxMessageId,
    },
    /// Old blocks were shortened or removed.
    #[serde(rename = "pruned/1")]
    Pruned {
        /// The pruning stage.
        stage: PruneStage,
        /// The changed blocks, in order.
        rewrites: Vec<BlockRewrite>,
    },
    /// A step of the recovery ladder was used that removed nothing by itself.
    #[serde(rename = "recovery_step_used/1")]
    RecoveryStepUsed {
        /// The step.
        step: RecoveryStep,
    },
    /// A review was requested.
    #[serde(rename = "review_requested/1")]
    ReviewRequested {
        /// Id of the review.
        id: ReviewId,
        /// The review.
        review: Review,
    },
    /// The review of the input is complete.
    #[serde(rename = "review_completed/1")]
    ReviewCompleted {
        /// Id of the review.
        id: ReviewId,
        /// Tokens that the review is charged with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        charged: Option<TokenUsage>,
    },
    /// The prompt that started the run was withdrawn.
    #[serde(rename = "prompt_withdrawn/1")]
    PromptWithdrawn {},
    /// An answer was rejected.
    #[serde(rename = "answer_rejected/1")]
    AnswerRejected {
        /// What rejected the answer.
        by: RejectionSource,
        /// Reason for the model.
        reason: Arc<str>,
        /// The escalation level of this rejection.
        #[serde(default)]
        level: EscalationLevel,
    },
    /// The answer counts but is marked as suspect.
    #[serde(rename = "answer_marked_suspect/1")]
    AnswerMarkedSuspect {
        /// Why the answer is suspect.
        why: Arc<str>,
    },
    /// The structured answer was given.
    #[serde(rename = "structured_output_given/1")]
    StructuredOutputGiven {
        /// The call that gave it.
        call: CallId,
    },
    /// Loop detection examined a round.
    #[serde(rename = "loop_detection_updated/1")]
    LoopDetectionUpdated {
        /// The escalation level.
        level: EscalationLevel,
        /// The detected loop, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finding: Option<LoopFinding>,
    },
    /// A time limit was reached.
    #[serde(rename = "time_limit_reached/1")]
    TimeLimitReached {
        /// The time limit.
        limit: TimeLimit,
    },
    /// The machine slept past a time limit; the time since the last entry does not count.
    #[serde(rename = "sleep_detected/1")]
    SleepDetected {},
    /// Most of a budget is spent; a warning was given.
    #[serde(rename = "budget_warned/1")]
    BudgetWarned {
        /// Spent share of the budget, in per cent.
        percent: u64,
    },
    /// The spending of all conversations of the profile was looked up.
    #[serde(rename = "shared_spending_updated/1")]
    SharedSpendingUpdated {
        /// Their total spending, including what is reserved for calls in progress.
        total: Spending,
    },
    /// A human extended the budget of the run: its cap may be spent once more.
    #[serde(rename = "budget_extended/1")]
    BudgetExtended {},
    /// A human gave guidance on how to continue.
    #[serde(rename = "guidance_given/1")]
    GuidanceGiven {
        /// The inbox message with the guidance.
        message: InboxMessageId,
    },
    /// The fallback model is called from here on.
    #[serde(rename = "fallback_model_selected/1")]
    FallbackModelSelected {
        /// Why the fallback model is used.
        why: Arc<str>,
    },
    /// A rule was granted for the rest of the conversation.
    #[serde(rename = "rule_granted/1")]
    RuleGranted {
        /// The rule.
        rule: PermissionRule,
        /// The folder the rule applies in, if it is about commands; empty for the workspace folder.
        #[serde(default, skip_serializing_if = "str::is_empty")]
        folder: Arc<str>,
    },
    /// The permissions changed for the rest of the conversation.
    #[serde(rename = "permissions_updated/1")]
    PermissionsUpdated {
        /// The inbox message with the change: an answer, or a command.
        message: InboxMessageId,
        /// The change.
        update: PermissionUpdate,
        /// The folder that allow rules for commands apply in; empty for the workspace folder.
        #[serde(default, skip_serializing_if = "str::is_empty")]
        folder: Arc<str>,
    },
    /// Another model is to be called from the next model call on.
    #[serde(rename = "model_change_requested/1")]
    ModelChangeRequested {
        /// The inbox message with the change.
        message: InboxMessageId,
    },
    /// The requested model is called from here on.
    #[serde(rename = "model_changed/1")]
    ModelChanged {
        /// Name of the model.
        model: Arc<str>,
    },
    /// The messages of the conversation were replaced.
    #[serde(rename = "history_replaced/1")]
    HistoryReplaced {
        /// The inbox message with the new messages.
        message: InboxMessageId,
    },
    /// A hook requested that the run ends after the round.
    #[serde(rename = "hook_stop_requested/1")]
    HookStopRequested {
        /// The call that the hook was run for.
        call: CallId,
        /// Why the run ends; empty if the hook gave no reason.
        reason: Arc<str>,
    },
    /// A classifier reviewed a call.
    #[serde(rename = "call_classified/1")]
    CallClassified {
        /// The call.
        call: CallId,
    },
    /// The journal changed.
    #[serde(rename = "journal_changed/1")]
    JournalChanged {
        /// The call that changed it.
        call: CallId,
        /// The change.
        change: JournalChange,
    },
    /// The journal was shown to the model.
    #[serde(rename = "journal_shown/1")]
    JournalShown {},
    /// Instructions were added to the conversation.
    #[serde(rename = "instructions_added/1")]
    InstructionsAdded {
        /// The inbox message with the instructions.
        message: InboxMessageId,
    },
    /// Context that a tool returned beside its outcome was added to the conversation.
    #[serde(rename = "tool_context_added/1")]
    ToolContextAdded {
        /// Index of the note in the context of the input.
        index: u16,
    },
    /// Child runs were started for a call. Their tasks are sent as messages with this entry.
    #[serde(rename = "children_spawned/1")]
    ChildrenSpawned {
        /// The call.
        call: CallId,
        /// The first task that is started now.
        from: u16,
        /// The first task that is not started yet.
        to: u16,
        /// What each child run may spend.
        granted: SpendingCaps,
    },
    /// A sub-agent result was received.
    #[serde(rename = "child_result_received/1")]
    ChildResultReceived {
        /// The inbox message with the result.
        message: InboxMessageId,
    },
    /// The child runs of a call were cancelled, by messages with this entry.
    #[serde(rename = "children_cancelled/1")]
    ChildrenCancelled {
        /// The call.
        call: CallId,
    },
    /// The conversation became the child run of a parent.
    #[serde(rename = "parent_assigned/1")]
    ParentAssigned {
        /// The inbox message with the task.
        message: InboxMessageId,
    },
    /// A hook returned context that the model should see after the round.
    #[serde(rename = "hook_context_added/1")]
    HookContextAdded {},
    /// The model calls of a hook are charged; their usage is in the input.
    #[serde(rename = "hook_model_charged/1")]
    HookModelCharged {},
    /// The run ended. There is exactly one of these per run.
    #[serde(rename = "run_finished/1")]
    RunFinished {
        /// The run.
        run: RunId,
        /// Why the run ended.
        cause: StopCause,
        /// Other stop causes that applied.
        other_causes: Vec<StopCause>,
        /// Text that replaces the reply's own text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text_override: Option<Arc<str>>,
    },
    /// A new owner claimed the lane during a run.
    #[serde(rename = "owner_changed/1")]
    OwnerChanged {
        /// Epoch of the new owner.
        epoch: Epoch,
    },
    /// A human accepted that prompt or tools changed.
    #[serde(rename = "prompt_change_accepted/1")]
    PromptChangeAccepted {},
    /// The lane is a copy of another up to here; runs of the other lane do not continue in it.
    #[serde(rename = "forked/1")]
    Forked {
        /// The lane it was copied from.
        parent: LaneId,
        /// The last entry that both share.
        at: Seq,
    },
}
