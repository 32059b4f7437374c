//! One message per record and style: the only place that says what a record means to people. The
//! match has an arm for every record, so that the compiler finds a new one; "says nothing" is
//! written out. What a person or a model wrote (prompts, replies, calls, results) has items of its
//! own in the timeline and is not here.
#![deny(clippy::wildcard_enum_match_arm, clippy::match_wildcard_for_single_variants)]

mod call_records;
mod context_records;
mod model_records;
mod run_records;

use std::collections::BTreeMap;

use serde::Serialize;
use windlass::core::log::entry::Entry;
use windlass::core::log::ids::CallId;
use windlass::core::log::record::Record;
use windlass::core::run::conversation::Conversation;

use super::{call_text, stored_name};

#[cfg(test)]
#[path = "record_tests.rs"]
mod record_tests;

/// Maximum characters of a quoted text.
const MAX_QUOTE_CHARS: usize = 300;

/// Where a message is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageStyle {
    /// A line on standard error while a run is followed: indented, with a symbol, no full stop.
    Live,
    /// A line of `windlass show`: lower case, no full stop.
    Timeline,
    /// A sentence of `windlass explain`, with a full stop.
    Explain,
}

/// The section of `windlass explain` to which a message belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum SectionTopic {
    Ending,
    Limits,
    Calls,
    Context,
    Recoveries,
    Guards,
    Journal,
}

/// What a record says in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RecordMessage {
    /// The section of `windlass explain`; `None` in the other styles.
    pub(crate) topic: Option<SectionTopic>,
    /// The line or sentence.
    pub(crate) text: String,
}

/// When a failed model call is retried, for the line about the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RetryNote {
    /// Time until the next attempt.
    pub(crate) in_ms: u64,
    /// Failures in a row.
    pub(crate) failures: u32,
    /// Time until this process stops waiting.
    pub(crate) gives_up_in_ms: Option<u64>,
}

/// What a message may look at. While a run is followed there is no state of the conversation:
/// following a run must not fold its log.
#[derive(Clone, Copy)]
pub(crate) enum RecordSource<'a> {
    /// The record was just written.
    Live {
        /// The known calls, on one line each.
        names: &'a BTreeMap<CallId, String>,
        /// The next attempt, if the entry schedules one.
        retry: Option<RetryNote>,
    },
    /// The record was read from the log.
    History {
        /// State before the record.
        before: &'a Conversation,
        /// State after the record.
        after: &'a Conversation,
    },
}

/// A record in its entry, with what is known around it.
#[derive(Clone, Copy)]
pub(crate) struct MessageContext<'a> {
    /// Entry of the record.
    pub(crate) entry: &'a Entry,
    /// The record itself.
    pub(crate) record: &'a Record,
    /// What else is known.
    pub(crate) source: RecordSource<'a>,
}

impl<'a> MessageContext<'a> {
    /// The name of a call on one line.
    fn call_name(&self, call: CallId) -> String {
        match self.source {
            RecordSource::Live { names, .. } => {
                names.get(&call).cloned().unwrap_or_else(|| format!("call {call}"))
            }
            RecordSource::History { after, .. } => call_text(call, after),
        }
    }

    /// The state after the record, if it is known.
    fn after(&self) -> Option<&'a Conversation> {
        match self.source {
            RecordSource::Live { .. } => None,
            RecordSource::History { after, .. } => Some(after),
        }
    }

    /// The state before the record, if it is known.
    fn before(&self) -> Option<&'a Conversation> {
        match self.source {
            RecordSource::Live { .. } => None,
            RecordSource::History { before, .. } => Some(before),
        }
    }

    /// The next attempt after a failed model call.
    fn retry(&self) -> Option<RetryNote> {
        match self.source {
            RecordSource::Live { retry, .. } => retry,
            RecordSource::History { .. } => None,
        }
    }
}

/// The texts of one record. Only the text of the wanted style is built.
struct RecordTexts {
    style: MessageStyle,
    message: Option<RecordMessage>,
}

impl RecordTexts {
    fn live<T: IntoText>(self, text: impl FnOnce() -> T) -> Self {
        self.with(MessageStyle::Live, None, text)
    }

    fn timeline<T: IntoText>(self, text: impl FnOnce() -> T) -> Self {
        self.with(MessageStyle::Timeline, None, text)
    }

    fn explain<T: IntoText>(self, topic: SectionTopic, text: impl FnOnce() -> T) -> Self {
        self.with(MessageStyle::Explain, Some(topic), text)
    }

    fn with<T: IntoText>(
        self,
        style: MessageStyle,
        topic: Option<SectionTopic>,
        text: impl FnOnce() -> T,
    ) -> Self {
        if self.style != style {
            return self;
        }
        let message = text().into_text().map(|text| RecordMessage { topic, text });
        Self { style: self.style, message }
    }
}

/// A text that may be missing.
trait IntoText {
    fn into_text(self) -> Option<String>;
}

impl IntoText for String {
    fn into_text(self) -> Option<String> {
        Some(self)
    }
}

impl IntoText for &'static str {
    fn into_text(self) -> Option<String> {
        Some(self.to_owned())
    }
}

impl IntoText for Option<String> {
    fn into_text(self) -> Option<String> {
        self
    }
}

/// The message about a record in a style, if the record says anything there.
pub(crate) fn record_message(
    style: MessageStyle,
    context: &MessageContext<'_>,
) -> Option<RecordMessage> {
    let say = RecordTexts { style, message: None };
    let texts = match context.record {
        Record::CommandRejected { reason, .. } => run_records::command_rejected(say, reason),
        Record::ModelCallStarted { transition, .. } => {
            model_records::model_call_started(say, *transition)
        }
        Record::ModelReplied { truncation, .. } => model_records::model_replied(say, *truncation),
        Record::ModelCallAbandoned { cause, charged, .. } => {
            model_records::model_call_abandoned(say, context, cause, charged)
        }
        Record::ModelRetryScheduled { until, failures } => {
            model_records::model_retry_scheduled(say, context, *until, *failures)
        }
        Record::AnomalyDetected { what } => model_records::anomaly(say, context, *what),
        Record::ReplyDropped { why } => model_records::reply_dropped(say, why.as_deref()),
        Record::FallbackModelSelected { why } => {
            model_records::fallback_model_selected(say, context, why)
        }
        Record::CallInputChanged { call } => call_records::input_changed(say, context, *call),
        Record::PermissionDecided { call, verdict } => {
            call_records::permission_decided(say, context, *call, verdict)
        }
        Record::QuestionAsked { question } => call_records::question_asked(say, context, question),
        Record::CallRetryScheduled { call, until } => {
            call_records::retry_scheduled(say, context, *call, *until)
        }
        Record::CallReturned { call } => call_records::returned(say, context, *call),
        Record::ResultFinalized { call, .. } => call_records::finalized(say, context, *call),
        Record::CallLost { call } => call_records::lost(say, context, *call),
        Record::FatalToolError { call } => call_records::fatal(say, context, *call),
        Record::ChildrenSpawned { call, .. } => call_records::children_spawned(say, context, *call),
        Record::ChildResultReceived { .. } => say.timeline(|| "sub-agent finished"),
        Record::RuleGranted { rule, folder } => call_records::rule_granted(say, rule, folder),
        Record::Compacted { keep_from, step, kept_segments, .. } => {
            context_records::compacted(say, context, (*keep_from, *step, kept_segments.len()))
        }
        Record::CompactionRequested { .. } => context_records::compaction_requested(say),
        Record::Pruned { stage, rewrites } => {
            context_records::pruned(say, context, *stage, rewrites.len())
        }
        Record::RecoveryStepUsed { step } => context_records::recovery_step_used(say, *step),
        Record::InstructionsAdded { .. } | Record::ToolContextAdded { .. } => {
            context_records::instructions_added(say)
        }
        Record::CancelRequested { mode, .. } => run_records::cancel_requested(say, *mode),
        Record::AnswerRejected { by, reason, .. } => {
            run_records::answer_rejected(say, context, *by, reason)
        }
        Record::AnswerMarkedSuspect { why } => run_records::answer_marked_suspect(say, why),
        Record::LoopDetectionUpdated { level, finding } => {
            run_records::loop_detection_updated(say, *level, finding.as_ref())
        }
        Record::TimeLimitReached { limit } => run_records::time_limit_reached(say, *limit),
        Record::SleepDetected {} => run_records::sleep_detected(say),
        Record::BudgetWarned { percent } => run_records::budget_warned(say, *percent),
        Record::BudgetExtended {} => run_records::budget_extended(say),
        Record::GuidanceGiven { .. } => {
            say.explain(SectionTopic::Guards, || "A person gave guidance.")
        }
        Record::ModeChanged { mode } => {
            say.timeline(|| format!("the permission mode is {} from here on", stored_name(mode)))
        }
        Record::OwnerChanged { .. } => run_records::owner_changed(say),
        Record::PromptChangeAccepted {} => say.timeline(|| "the changed prompt was accepted"),
        Record::PromptWithdrawn {} => say.timeline(|| "the prompt was withdrawn"),
        Record::Forked { parent, at } => {
            say.timeline(|| format!("forked from {parent} after entry {at}"))
        }
        // Silent: the message of another record, or an item of the timeline, says it.
        Record::Configured {}
        | Record::PromptQueued { .. }
        | Record::SteeringQueued { .. }
        | Record::RunStarted { .. }
        | Record::EarlyCallDecided { .. }
        | Record::ReplyKept {}
        | Record::NoteAdded { .. }
        | Record::RoundOpened { .. }
        | Record::QuestionRequired { .. }
        | Record::QuestionAnswered { .. }
        | Record::RepeatableCallStarted { .. }
        | Record::CallStarted { .. }
        | Record::CallRequeued { .. }
        | Record::RoundClosed {}
        | Record::ReviewRequested { .. }
        | Record::ReviewCompleted { .. }
        | Record::StructuredOutputGiven { .. }
        | Record::SharedSpendingUpdated { .. }
        | Record::CallClassified { .. }
        | Record::JournalChanged { .. }
        | Record::JournalShown {}
        | Record::ChildrenCancelled { .. }
        | Record::ParentAssigned { .. }
        | Record::HookContextAdded {}
        | Record::RunFinished { .. } => say,
    };
    texts.message
}
