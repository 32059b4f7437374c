//! Stop causes: one enum for every way a run ends. Each cause has one name, which every surface of
//! ours uses, and one table gives its names in other vocabularies. `docs/stop-reasons.md` prints
//! it.

use serde::{Deserialize, Serialize};

/// Why a run stopped, or why it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// The model finished.
    EndTurn,
    /// A stop string with the meaning "finish" matched.
    StopSequence,
    /// The model declined.
    Refusal,
    /// The stop reason is unknown to this version.
    Unexpected,
    /// A tool failed fatally: continuing is pointless.
    #[serde(rename = "tool_error_fatal")]
    ToolFatal,
    /// The user cancelled.
    UserCancel,
    /// The dollar cap was reached.
    BudgetUsd,
    /// The token cap was reached.
    BudgetTokens,
    /// A dollar cap cannot be enforced: the price of the model is unknown.
    PriceUnknown,
    /// The soft time limit was reached; the text of the wrap-up turn is the result.
    SoftTime,
    /// The hard time limit was reached.
    HardTime,
    /// The cap on rounds with tool calls was reached.
    #[serde(rename = "max_iters")]
    MaxToolRounds,
    /// The backstop on model calls was reached.
    MaxModelCalls,
    /// The cap on replies of the model was reached.
    MaxModelReplies,
    /// The context is full and nothing more can be removed.
    BlockingLimit,
    /// Replies were truncated again and again.
    TruncationExhausted,
    /// The answer never matched its schema.
    StructuredOutputRetries,
    /// A hook ended the run.
    HookStopped,
    /// A hook deferred a call, which ends the run.
    ToolDeferred,
    /// The provider stayed down, or rejected the request.
    ProviderFailed,
    /// Not terminal: it cannot be proved that continuing is safe.
    ResumeUnsafe,
    /// Not terminal: a human was asked.
    AskedHuman,
}

/// The state of a run in dashboards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Queued behind another run of its lane.
    Queued,
    /// In progress.
    Running,
    /// Waiting for a human, using no resources.
    WaitingOnHuman,
    /// Waiting for a provider that is down; its lane is kept, and it continues by itself.
    WaitingOnProvider,
    /// Ended successfully.
    Completed,
    /// Ended with a failure.
    Failed,
    /// Cancelled by the user.
    Cancelled,
    /// Ended by a time limit or a lost worker.
    TimedOut,
}

/// The result subtypes of the SDKs; there are five, and no sixth is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultSubtype {
    /// The run has a result.
    Success,
    /// The round cap was reached.
    ErrorMaxTurns,
    /// The dollar cap was reached.
    ErrorMaxBudgetUsd,
    /// All other failures.
    ErrorDuringExecution,
    /// The answer never matched its schema.
    ErrorMaxStructuredOutputRetries,
}

struct CauseRow {
    cause: StopCause,
    name: &'static str,
    reason: &'static str,
    terminal: &'static str,
    subtype: ResultSubtype,
    state: RunState,
    resumable: bool,
}

macro_rules! table {
    ($($cause:ident $name:literal $reason:literal $terminal:literal $subtype:ident $state:ident $resumable:literal)*) => {
        const TABLE: &[CauseRow] = &[$(CauseRow {
            cause: StopCause::$cause,
            name: $name,
            reason: $reason,
            terminal: $terminal,
            subtype: ResultSubtype::$subtype,
            state: RunState::$state,
            resumable: $resumable,
        }),*];
    };
}

// cause, its name, name in the trace's last row, terminal reason, SDK subtype, run state, resumable
table! {
    EndTurn                 "end_turn"                  "end_turn"                  "end_turn"                  Success Completed false
    StopSequence            "stop_sequence"             "stop_sequence"             "stop_sequence"             Success Completed false
    Refusal                 "refusal"                   "refusal"                   "refusal"                   Success Completed false
    Unexpected              "unexpected"                "unexpected"                "unexpected"                Success Completed false
    ToolFatal               "tool_error_fatal"          "tool_error_fatal"          "tool_error_fatal"          ErrorDuringExecution Failed false
    UserCancel              "user_cancel"               "user_cancel"               "aborted"                   ErrorDuringExecution Cancelled false
    BudgetUsd               "budget_usd"                "budget"                    "budget_usd"                ErrorMaxBudgetUsd Failed true
    BudgetTokens            "budget_tokens"             "budget"                    "budget_tokens"             ErrorDuringExecution Failed true
    PriceUnknown            "price_unknown"             "price_unknown"             "price_unknown"             ErrorDuringExecution Failed true
    SoftTime                "soft_time"                 "soft_time"                 "soft_time"                 Success Completed false
    HardTime                "hard_time"                 "hard_time"                 "hard_time"                 ErrorDuringExecution TimedOut false
    MaxToolRounds           "max_iters"                 "max_iters"                 "max_turns"                 ErrorMaxTurns Failed true
    MaxModelCalls           "max_model_calls"           "max_iters"                 "max_turns"                 ErrorMaxTurns Failed true
    MaxModelReplies         "max_model_replies"         "max_iters"                 "max_turns"                 ErrorMaxTurns Failed true
    BlockingLimit           "blocking_limit"            "blocking_limit"            "blocking_limit"            ErrorDuringExecution Failed true
    TruncationExhausted     "truncation_exhausted"      "truncation_exhausted"      "truncation_exhausted"      ErrorDuringExecution Failed false
    StructuredOutputRetries "structured_output_retries" "structured_output_retries" "structured_output_retries" ErrorMaxStructuredOutputRetries Failed false
    HookStopped             "hook_stopped"              "hook_stopped"              "hook_stopped"              ErrorDuringExecution Failed true
    ToolDeferred            "tool_deferred"             "tool_deferred"             "tool_deferred"             Success Completed true
    ProviderFailed          "provider_failed"           "provider_failed"           "provider_failed"           ErrorDuringExecution Failed true
    ResumeUnsafe            "resume_unsafe"             "resume_unsafe"             "waiting_on_human"          ErrorDuringExecution WaitingOnHuman true
    AskedHuman              "asked_human"               "asked_human"               "waiting_on_human"          ErrorDuringExecution WaitingOnHuman true
}

impl StopCause {
    /// Returns every cause, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.cause)
    }

    fn row(self) -> Option<&'static CauseRow> {
        TABLE.iter().find(|row| row.cause == self)
    }

    /// Returns the name: in the log, in events, and wherever people or programs read why a run
    /// stopped.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    /// Returns the name in the trace's last row, whose readers know fewer causes.
    #[must_use]
    pub fn trace_reason(self) -> &'static str {
        self.row().map_or("", |row| row.reason)
    }

    /// Returns the terminal reason of the loop.
    #[must_use]
    pub fn terminal_reason(self) -> &'static str {
        self.row().map_or("", |row| row.terminal)
    }

    /// Returns the SDKs' result subtype, given whether there is text to show.
    #[must_use]
    pub fn result_subtype(self, text: TextPresence) -> ResultSubtype {
        match (self, text) {
            (Self::Unexpected, TextPresence::Empty) => ResultSubtype::ErrorDuringExecution,
            _ => self.row().map_or(ResultSubtype::ErrorDuringExecution, |row| row.subtype),
        }
    }

    /// Returns the run's state, given whether there is text to show.
    #[must_use]
    pub fn run_state(self, text: TextPresence) -> RunState {
        match (self, text) {
            (Self::Unexpected, TextPresence::Empty) => RunState::Failed,
            _ => self.row().map_or(RunState::Failed, |row| row.state),
        }
    }

    /// Returns whether the conversation can be resumed where it stopped.
    #[must_use]
    pub fn is_resumable(self) -> bool {
        self.row().is_some_and(|row| row.resumable)
    }
}

/// Whether a run has text to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextPresence {
    /// There is text to show.
    Present,
    /// There is no text to show.
    Empty,
}

impl TextPresence {
    /// Returns whether the text has anything to show.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        if text.trim().is_empty() { Self::Empty } else { Self::Present }
    }
}
