//! What was settled. Records are past tense, carry everything that was judged, and mean the same
//! for ever: a change of meaning is a new version of the tag, never an edit.
//!
//! Bytes that are already in the entry's input (a reply, a tool's result, a mail) are not repeated
//! in its records; applying a record looks them up there.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{AskId, CallId, Epoch, LaneId, MailId, Millis, RunId, Seq};
use crate::outcome::{OutcomeKind, Shown};
use crate::policy::Verdict;
use crate::question::Question;
use crate::reply::Usage;
use crate::settings::DurabilityMode;
use crate::stop::{Anomaly, StopCause};

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
    ReplyDropped {},
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
    /// Old messages were replaced by a sentence.
    #[serde(rename = "compacted/1")]
    Compacted {
        /// First segment kept.
        keep_from: u64,
        /// What stands in place of the rest.
        note: Arc<str>,
    },
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

/// Whether a call of a reply that still streams was let go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Launch {
    /// It runs.
    Launched,
    /// It waits for the whole reply, and calls that conflict with it wait too.
    Held,
}

/// Why an iteration exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transition {
    /// A prompt began it.
    Prompt,
    /// Tool results are to be read.
    ToolResults,
    /// Text was cut and goes on.
    ContinueText,
    /// A call was cut and is to be issued again.
    ReissueToolUse,
    /// The reply was cut; asked again with a larger cap.
    RaiseCap,
    /// A server turn is resumed.
    Resume,
    /// The output was thrown away.
    Reprompt,
    /// A person said something more.
    Steer,
    /// The last call failed in passing.
    Retry,
    /// Room was made.
    Compacted,
    /// The last owner died while the model was asked.
    Adopted,
}

/// What bounds the output of a model call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputBound {
    /// The cap asked for.
    Cap,
    /// What the budget can still pay for.
    Budget,
}

/// Whether a reply was cut by the output limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Truncation {
    /// It is whole.
    Whole,
    /// It was cut.
    Cut,
}

/// What the model sees of a settled call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// What the tool brought back, unchanged.
    AsCompleted {},
    /// This.
    Shown(Shown),
}

impl Settlement {
    /// The outcome's name.
    #[must_use]
    pub fn name(&self) -> String {
        let kind = match self {
            Self::AsCompleted {} => OutcomeKind::Done,
            Self::Shown(shown) => shown.kind,
        };
        kind.as_str().to_owned()
    }
}

/// How a run is asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// At the next safe boundary; nothing is interrupted.
    Cancel,
    /// Now; what may be interrupted is.
    Abort,
}

/// What a record must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// Nothing: it is applied and never stored.
    Volatile,
    /// The death of the process.
    Commit,
    /// Power loss.
    Barrier,
}

impl Record {
    /// What this record must survive.
    #[must_use]
    pub fn durability(&self) -> Durability {
        match self {
            Self::EarlyJudged { .. } | Self::Launched { .. } => Durability::Volatile,
            Self::Started { .. }
            | Self::Answered { .. }
            | Self::CancelRequested { .. }
            | Self::Finished { .. } => Durability::Barrier,
            Self::Configured { .. }
            | Self::Queued { .. }
            | Self::MailRefused { .. }
            | Self::Steered { .. }
            | Self::RunStarted { .. }
            | Self::Asked { .. }
            | Self::Replied { .. }
            | Self::AttemptAbandoned { .. }
            | Self::Deferred { .. }
            | Self::Anomaly { .. }
            | Self::ReplyKept { .. }
            | Self::ReplyDropped { .. }
            | Self::Noted { .. }
            | Self::RoundOpened { .. }
            | Self::InputChanged { .. }
            | Self::Judged { .. }
            | Self::Questioned { .. }
            | Self::Retried { .. }
            | Self::Completed { .. }
            | Self::Settled { .. }
            | Self::CallLost { .. }
            | Self::CallCleared { .. }
            | Self::RoundClosed { .. }
            | Self::TurnedFatal { .. }
            | Self::Compacted { .. }
            | Self::Adopted { .. }
            | Self::DriftAccepted { .. }
            | Self::Forked { .. } => Durability::Commit,
        }
    }
}

/// What a whole entry must survive: the most any of its records does.
#[must_use]
pub fn durability(records: &[Record], mode: DurabilityMode) -> Durability {
    let most = records.iter().map(Record::durability).max().unwrap_or(Durability::Volatile);
    match (mode, most) {
        (DurabilityMode::Strict, Durability::Commit) => Durability::Barrier,
        (DurabilityMode::Strict | DurabilityMode::Scheduled, most) => most,
    }
}
