//! What was settled. Records are past tense, carry everything that was judged, and mean the same
//! for ever: a change of meaning is a new version of the tag, never an edit.
//!
//! Bytes that are already in the entry's input (a reply, a tool's result, a mail) are not repeated
//! in its records; applying a record looks them up there.

mod durability;
mod parts;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::budget::{Caps, Spent};
use crate::counsel::{Counsel, CounselId};
use crate::ids::{AskId, CallId, Epoch, LaneId, MailId, Millis, RunId, Seq};
use crate::journal::Change;
use crate::permission::{Mode, Rule, Verdict};
use crate::question::Question;
use crate::reply::Usage;
use crate::stop::{Anomaly, Decision, StopCause};
use crate::thrash::Level;
use crate::window::{CompactionTrigger, Rewrite, Rung, Stage};

pub use durability::{Durability, durability};
pub use parts::{
    Found, Launch, OutputBound, Rejection, Settlement, Stop, TimeLimit, ToolChoice, Transition,
    Truncation,
};

/// A settled fact.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Record {
    /// The settings of the input are in force.
    #[serde(rename = "configured/1")]
    Configured {},
    /// The prompt in this mail waits for its turn.
    #[serde(rename = "queued/1")]
    Queued {
        /// The mail.
        mail: MailId,
    },
    /// The mail changes nothing.
    #[serde(rename = "mail_refused/1")]
    MailRefused {
        /// The mail.
        mail: MailId,
        /// Why, for whoever sent it.
        why: Arc<str>,
    },
    /// The words of this mail go to the active run after its round.
    #[serde(rename = "steered/1")]
    Steered {
        /// The mail.
        mail: MailId,
    },
    /// The first waiting prompt became the active run.
    #[serde(rename = "run_started/1")]
    RunStarted {
        /// Which run.
        run: RunId,
    },
    /// The model was asked.
    #[serde(rename = "asked/1")]
    Asked {
        /// Which model call.
        ask: AskId,
        /// Output tokens it may use.
        max_tokens: u64,
        /// What bounds the output.
        bound: OutputBound,
        /// Tokens set aside for it.
        reserved_tokens: u64,
        /// Why this iteration exists.
        transition: Transition,
        /// Which tools it may call.
        #[serde(default, skip_serializing_if = "ToolChoice::is_open")]
        choice: ToolChoice,
    },
    /// A call of a reply that still streams was looked at, and perhaps let go ahead.
    #[serde(rename = "early_judged/1")]
    EarlyJudged {
        /// The call.
        call: CallId,
        /// Whether it runs.
        launch: Launch,
    },
    /// The model answered; its usage counts.
    #[serde(rename = "replied/1")]
    Replied {
        /// Which model call.
        ask: AskId,
        /// Whether the output limit cut it.
        truncation: Truncation,
        /// What its stop reason leads to.
        decision: Decision,
    },
    /// A model call will bring nothing any more.
    #[serde(rename = "attempt_abandoned/1")]
    AttemptAbandoned {
        /// Which model call.
        ask: AskId,
        /// Why.
        why: Arc<str>,
        /// What it is charged with.
        charged: Usage,
    },
    /// The model will be asked again later.
    #[serde(rename = "deferred/1")]
    Deferred {
        /// Not before.
        until: Millis,
        /// Failures in a row.
        failures: u32,
    },
    /// Something odd about the reply, counted.
    #[serde(rename = "anomaly/1")]
    Anomaly {
        /// What.
        what: Anomaly,
    },
    /// The reply's text was kept, without calls.
    #[serde(rename = "reply_kept/1")]
    ReplyKept {},
    /// The reply was thrown away: it is in the log and not in the transcript.
    #[serde(rename = "reply_dropped/1")]
    ReplyDropped {
        /// Which guard wanted it, if one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<Arc<str>>,
    },
    /// The runtime said something on the user's side.
    #[serde(rename = "noted/1")]
    Noted {
        /// What.
        text: Arc<str>,
    },
    /// The calls of the reply are being worked.
    #[serde(rename = "round_opened/1")]
    RoundOpened {
        /// Blocks left out because their id stands in the reply already.
        dropped: Vec<u16>,
        /// What is said after the results.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Arc<str>>,
    },
    /// A hook changed the arguments of a call.
    #[serde(rename = "input_changed/1")]
    InputChanged {
        /// The call.
        call: CallId,
    },
    /// A call was judged.
    #[serde(rename = "judged/1")]
    Judged {
        /// The call.
        call: CallId,
        /// The verdict.
        verdict: Verdict,
    },
    /// The permission mode is another from here on, for the rest of the run.
    #[serde(rename = "mode_changed/1")]
    ModeChanged {
        /// The mode.
        mode: Mode,
    },
    /// The model must ask a person now; if it does not, the runtime asks this question.
    #[serde(rename = "question_due/1")]
    QuestionDue {
        /// The question.
        question: Arc<str>,
    },
    /// A human was asked.
    #[serde(rename = "questioned/1")]
    Questioned {
        /// The question.
        question: Question,
    },
    /// A human answered.
    #[serde(rename = "answered/1")]
    Answered {
        /// With this mail.
        mail: MailId,
    },
    /// A repeatable call was let go. Forgotten by a crash, which does no harm.
    #[serde(rename = "launched/1")]
    Launched {
        /// The call.
        call: CallId,
    },
    /// A once-only call was let go. Durable before its effect.
    #[serde(rename = "started/1")]
    Started {
        /// The call.
        call: CallId,
    },
    /// A repeatable call failed in passing and will be tried again.
    #[serde(rename = "retried/1")]
    Retried {
        /// The call.
        call: CallId,
        /// Not before.
        until: Millis,
    },
    /// A call came back; the input has what it brought.
    #[serde(rename = "completed/1")]
    Completed {
        /// The call.
        call: CallId,
    },
    /// A call's result is final.
    #[serde(rename = "settled/1")]
    Settled {
        /// The call.
        call: CallId,
        /// What the model sees of it.
        shown: Settlement,
    },
    /// A call was in the air when its process died.
    #[serde(rename = "call_lost/1")]
    CallLost {
        /// The call.
        call: CallId,
    },
    /// A call may be let go again: it is known that it did not happen, or its pause is over.
    #[serde(rename = "call_cleared/1")]
    CallCleared {
        /// The call.
        call: CallId,
    },
    /// Every call has a result; the round is in the transcript.
    #[serde(rename = "round_closed/1")]
    RoundClosed {},
    /// A tool failed in a way that ends the run.
    #[serde(rename = "turned_fatal/1")]
    TurnedFatal {
        /// The call.
        call: CallId,
    },
    /// The user wants the run to end.
    #[serde(rename = "cancel_requested/1")]
    CancelRequested {
        /// With this mail.
        mail: MailId,
        /// How.
        how: Stop,
    },
    /// Old messages were replaced by a note.
    #[serde(rename = "compacted/1")]
    Compacted {
        /// First segment kept.
        keep_from: u64,
        /// What stands in place of the rest.
        note: Arc<str>,
        /// Which rung of the ladder it was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rung: Option<Rung>,
        /// Why it was made.
        #[serde(default, skip_serializing_if = "CompactionTrigger::is_threshold")]
        trigger: CompactionTrigger,
        /// Segments of the rest that stay word for word.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attached: Vec<u64>,
        /// Their hash.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<Arc<str>>,
    },
    /// Somebody wants room to be made before the next model call.
    #[serde(rename = "compaction_asked/1")]
    CompactionAsked {
        /// With this mail.
        mail: MailId,
    },
    /// Old blocks were cut or taken out.
    #[serde(rename = "pruned/1")]
    Pruned {
        /// By which stage.
        stage: Stage,
        /// What changed, in order.
        rewrites: Vec<Rewrite>,
    },
    /// A rung of the ladder was used that made no room by itself.
    #[serde(rename = "climbed/1")]
    Climbed {
        /// Which.
        rung: Rung,
    },
    /// Somebody is asked who is neither the model nor a call.
    #[serde(rename = "counsel_sought/1")]
    CounselSought {
        /// Which counsel.
        counsel: CounselId,
        /// About what.
        about: Counsel,
    },
    /// The counsel of the input was heard.
    #[serde(rename = "counsel_heard/1")]
    CounselHeard {
        /// Which counsel.
        counsel: CounselId,
        /// What it cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        charged: Option<Usage>,
    },
    /// The prompt that began the run is taken back.
    #[serde(rename = "prompt_withdrawn/1")]
    PromptWithdrawn {},
    /// An answer does not count yet.
    #[serde(rename = "rejected/1")]
    Rejected {
        /// By what.
        by: Rejection,
        /// Why, for the model.
        reason: Arc<str>,
        /// The escalation step that this is.
        #[serde(default)]
        level: Level,
    },
    /// The answer counts although something speaks against it.
    #[serde(rename = "suspected/1")]
    Suspected {
        /// What.
        why: Arc<str>,
    },
    /// The answer that fits its schema was given.
    #[serde(rename = "structured/1")]
    Structured {
        /// By which call.
        call: CallId,
    },
    /// The watch for circles looked at a round.
    #[serde(rename = "watched/1")]
    Watched {
        /// How far it has risen.
        level: Level,
        /// What it found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        found: Option<Found>,
    },
    /// A time is up.
    #[serde(rename = "time_up/1")]
    TimeUp {
        /// Which.
        limit: TimeLimit,
    },
    /// Nobody was there when a time limit came; the time since the last entry does not count.
    #[serde(rename = "slept/1")]
    Slept {},
    /// Most of a budget is spent.
    #[serde(rename = "budget_warned/1")]
    BudgetWarned {
        /// How much of it, in per cent.
        percent: u64,
    },
    /// What all conversations of the profile spent was looked up.
    #[serde(rename = "spending_seen/1")]
    SpendingSeen {
        /// All of them together, with what is set aside for calls in progress.
        total: Spent,
    },
    /// A human let the run spend as much again.
    #[serde(rename = "budget_extended/1")]
    BudgetExtended {},
    /// A human said how to go on.
    #[serde(rename = "guided/1")]
    Guided {
        /// With this mail.
        mail: MailId,
    },
    /// The other model is asked from here on.
    #[serde(rename = "fell_back/1")]
    FellBack {
        /// Why.
        why: Arc<str>,
    },
    /// A rule is kept for the rest of the conversation.
    #[serde(rename = "granted/1")]
    Granted {
        /// The rule.
        rule: Rule,
        /// The folder it holds in, if it is about commands; empty for the workspace's own.
        #[serde(default, skip_serializing_if = "str::is_empty")]
        folder: Arc<str>,
    },
    /// A classifier was asked about a call and has answered.
    #[serde(rename = "classified/1")]
    Classified {
        /// The call.
        call: CallId,
    },
    /// The journal changed.
    #[serde(rename = "journal_changed/1")]
    JournalChanged {
        /// By which call.
        call: CallId,
        /// How.
        change: Change,
    },
    /// The journal was put before the model.
    #[serde(rename = "journal_shown/1")]
    JournalShown {},
    /// Instructions entered the conversation.
    #[serde(rename = "remembered/1")]
    Remembered {
        /// With this mail.
        mail: MailId,
    },
    /// Children began to work for a call. Their tasks are mailed with this entry.
    #[serde(rename = "spawned/1")]
    Spawned {
        /// The call.
        call: CallId,
        /// The first of its tasks that is handed out now.
        from: u16,
        /// The first that is not.
        to: u16,
        /// What each may spend.
        granted: Caps,
    },
    /// A child came back.
    #[serde(rename = "child_back/1")]
    ChildBack {
        /// With this mail.
        mail: MailId,
    },
    /// The children of a call are told to stop, by mail with this entry.
    #[serde(rename = "children_recalled/1")]
    ChildrenRecalled {
        /// The call.
        call: CallId,
    },
    /// The conversation works for another.
    #[serde(rename = "employed/1")]
    Employed {
        /// With this mail.
        mail: MailId,
    },
    /// A hook said something the model should know after the round.
    #[serde(rename = "context_added/1")]
    ContextAdded {},
    /// The run ended. There is exactly one of these per run.
    #[serde(rename = "finished/1")]
    Finished {
        /// Which run.
        run: RunId,
        /// Why.
        cause: StopCause,
        /// What else applied.
        also: Vec<StopCause>,
        /// What is said instead of the reply's own text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        said: Option<Arc<str>>,
    },
    /// A new owner took the lane in the middle of a run.
    #[serde(rename = "adopted/1")]
    Adopted {
        /// Its epoch.
        epoch: Epoch,
    },
    /// A human accepted that prompt or tools changed.
    #[serde(rename = "drift_accepted/1")]
    DriftAccepted {},
    /// The lane is a copy of another up to here; nothing of its runs goes on.
    #[serde(rename = "forked/1")]
    Forked {
        /// The lane it comes from.
        parent: LaneId,
        /// The last entry they share.
        at: Seq,
    },
}
