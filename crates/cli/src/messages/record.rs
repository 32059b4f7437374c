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
    Advice,
    Limits,
    Calls,
    SubAgents,
    Context,
    Cache,
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
    at: &MessageContext<'_>,
) -> Option<RecordMessage> {
    use Record as R;
    use {
        call_records as call, context_records as window, model_records as model, run_records as run,
    };
    let say = RecordTexts { style, message: None };
    let texts = match at.record {
        R::CommandRejected { reason, .. } => run::command_rejected(say, reason),
        R::ModelCallStarted { transition, .. } => model::model_call_started(say, *transition),
        R::ModelReplied { truncation, .. } => model::model_replied(say, *truncation),
        R::ModelCallAbandoned { cause, charged, .. } => {
            model::model_call_abandoned(say, at, cause, charged)
        }
        R::ModelRetryScheduled { until, failures } => {
            model::model_retry_scheduled(say, at, *until, *failures)
        }
        R::AnomalyDetected { what } => model::anomaly(say, at, *what),
        R::ReplyDropped { why } => model::reply_dropped(say, why.as_deref()),
        R::FallbackModelSelected { why } => model::fallback_model_selected(say, at, why),
        R::CallInputChanged { call, message } => call::input_changed(say, at, *call, *message),
        R::QuestionAnswered { message } => call::question_answered(say, at, *message),
        R::HookStopRequested { call, reason } => call::hook_stop_requested(say, at, *call, reason),
        R::PermissionsUpdated { update, folder, .. } => {
            call::permissions_updated(say, update, folder)
        }
        R::ModelChanged { model } => model::model_changed(say, model),
        R::PermissionDecided { call, verdict } => call::permission_decided(say, at, *call, verdict),
        R::QuestionAsked { question } => call::question_asked(say, at, question),
        R::CallRetryScheduled { call, until } => call::retry_scheduled(say, at, *call, *until),
        R::CallReturned { call } => call::returned(say, at, *call),
        R::ResultFinalized { call, .. } => call::finalized(say, at, *call),
        R::CallLost { call } => call::lost(say, at, *call),
        R::FatalToolError { call } => call::fatal(say, at, *call),
        R::ChildrenSpawned { call, .. } => call::children_spawned(say, at, *call),
        R::ChildResultReceived { .. } => say.timeline(|| "sub-agent finished"),
        R::AccessRequested { call, access } => call::access_requested(say, at, *call, access),
        R::UntrustedContentAdded { call, sources } => {
            call::untrusted_content(say, at, *call, sources)
        }
        R::RuleGranted { rule, folder } => call::rule_granted(say, rule, folder),
        R::Compacted { keep_from, step, kept_segments, .. } => {
            window::compacted(say, at, (*keep_from, *step, kept_segments.len()))
        }
        R::CompactionRequested { .. } => window::compaction_requested(say),
        R::Pruned { stage, rewrites } => window::pruned(say, at, *stage, rewrites.len()),
        R::RecoveryStepUsed { step } => window::recovery_step_used(say, *step),
        R::InstructionsAdded { .. } | R::ToolContextAdded { .. } => window::instructions_added(say),
        R::CancelRequested { mode, .. } => run::cancel_requested(say, *mode),
        R::AnswerRejected { by, reason, .. } => run::answer_rejected(say, at, *by, reason),
        R::AnswerMarkedSuspect { why } => run::answer_marked_suspect(say, why),
        R::LoopDetectionUpdated { level, finding } => {
            run::loop_detection_updated(say, *level, finding.as_ref())
        }
        R::TimeLimitReached { limit } => run::time_limit_reached(say, *limit),
        R::SleepDetected {} => run::sleep_detected(say),
        R::BudgetWarned { percent } => run::budget_warned(say, *percent),
        R::BudgetExtended {} => run::budget_extended(say),
        R::GuidanceGiven { .. } => say.explain(SectionTopic::Guards, || "A person gave guidance."),
        R::ModeChanged { mode } => {
            say.timeline(|| format!("the permission mode is {} from here on", stored_name(mode)))
        }
        R::ServerToolsChanged { added, changed, removed } => {
            context_records::server_tools_changed(say, [added, changed, removed])
        }
        R::OwnerChanged { .. } => run::owner_changed(say, at),
        R::PromptChangeAccepted {} => say.timeline(|| "the changed prompt was accepted"),
        R::PromptWithdrawn {} => say.timeline(|| "the prompt was withdrawn"),
        R::HistoryReplaced { .. } => {
            say.timeline(|| "the messages of the conversation were replaced")
        }
        R::Forked { parent, at } => {
            say.timeline(|| format!("forked from {parent} after entry {at}"))
        }
        // Silent: the message of another record, or an item of the timeline, says it.
        R::Configured {}
        | R::PromptQueued { .. }
        | R::SteeringQueued { .. }
        | R::RunStarted { .. }
        | R::EarlyCallDecided { .. }
        | R::ReplyKept {}
        | R::NoteAdded { .. }
        | R::RoundOpened { .. }
        | R::QuestionRequired { .. }
        | R::RepeatableCallStarted { .. }
        | R::CallStarted { .. }
        | R::CallRequeued { .. }
        | R::RoundClosed {}
        | R::ReviewRequested { .. }
        | R::ReviewCompleted { .. }
        | R::StructuredOutputGiven { .. }
        | R::ModelChangeRequested { .. }
        | R::SharedSpendingUpdated { .. }
        | R::CallClassified { .. }
        | R::JournalChanged { .. }
        | R::JournalShown {}
        | R::ChildrenCancelled { .. }
        | R::ParentAssigned { .. }
        | R::HookContextAdded {}
        | R::HookModelCharged {}
        | R::RunFinished { .. } => say,
    };
    texts.message
}
