//! One enum for every way a run ends. Each cause has one name, which every surface of ours uses, and
//! one table gives the words that other vocabularies have for it. `docs/stop-reasons.md` prints it.

use serde::{Deserialize, Serialize};

/// Why a run stopped, or why it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopCause {
    /// The model finished.
    EndTurn,
    /// A stop string that means finish.
    StopSequence,
    /// The model declined.
    Refusal,
    /// A stop reason this version does not know.
    Unexpected,
    /// A tool failed in a way that makes going on pointless.
    #[serde(rename = "tool_error_fatal")]
    ToolFatal,
    /// The user cancelled.
    UserCancel,
    /// The money cap.
    BudgetUsd,
    /// The token cap.
    BudgetTokens,
    /// A money cap cannot be kept: the price of the model is unknown.
    PriceUnknown,
    /// The soft time limit; the summary turn's text is the result.
    SoftTime,
    /// The hard time limit.
    HardTime,
    /// The cap on rounds with tool calls.
    #[serde(rename = "max_iters")]
    MaxToolRounds,
    /// The backstop on model calls.
    MaxModelCalls,
    /// The context is full and nothing more can be taken out.
    BlockingLimit,
    /// Replies were cut again and again.
    TruncationExhausted,
    /// The answer never fitted its schema.
    StructuredOutputRetries,
    /// A hook ended it.
    HookStopped,
    /// The provider stayed down, or refused the request.
    ProviderFailed,
    /// Not terminal: it cannot be proved safe to go on.
    ResumeUnsafe,
    /// Not terminal: a human was asked.
    AskedHuman,
}

/// The state of a run as dashboards know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Behind another run of its lane.
    Queued,
    /// Being worked on.
    Running,
    /// Waiting for a human, costing nothing.
    WaitingOnHuman,
    /// Waiting for a provider that is down; its lane is kept, and it goes on by itself.
    WaitingOnProvider,
    /// Ended well.
    Completed,
    /// Ended badly.
    Failed,
    /// Ended by the user.
    Cancelled,
    /// Ended by a clock or a lost worker.
    TimedOut,
}

/// The result subtypes of the SDKs; there are five and no sixth is invented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subtype {
    /// It has a result.
    Success,
    /// The round cap.
    ErrorMaxTurns,
    /// The money cap.
    ErrorMaxBudgetUsd,
    /// Everything else.
    ErrorDuringExecution,
    /// The answer never fitted its schema.
    ErrorMaxStructuredOutputRetries,
}

struct Row {
    cause: StopCause,
    name: &'static str,
    reason: &'static str,
    terminal: &'static str,
    subtype: Subtype,
    state: RunState,
    resumable: bool,
}

macro_rules! table {
    ($($cause:ident $name:literal $reason:literal $terminal:literal $subtype:ident $state:ident $resumable:literal)*) => {
        const TABLE: &[Row] = &[$(Row {
            cause: StopCause::$cause,
            name: $name,
            reason: $reason,
            terminal: $terminal,
            subtype: Subtype::$subtype,
            state: RunState::$state,
            resumable: $resumable,
        }),*];
    };
}

// cause, its name, the word of the trace's last row, terminal reason, SDK subtype, run state, resumable
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
    BlockingLimit           "blocking_limit"            "blocking_limit"            "blocking_limit"            ErrorDuringExecution Failed true
    TruncationExhausted     "truncation_exhausted"      "truncation_exhausted"      "truncation_exhausted"      ErrorDuringExecution Failed false
    StructuredOutputRetries "structured_output_retries" "structured_output_retries" "structured_output_retries" ErrorMaxStructuredOutputRetries Failed false
    HookStopped             "hook_stopped"              "hook_stopped"              "hook_stopped"              ErrorDuringExecution Failed true
    ProviderFailed          "provider_failed"           "provider_failed"           "provider_failed"           ErrorDuringExecution Failed true
    ResumeUnsafe            "resume_unsafe"             "resume_unsafe"             "waiting_on_human"          ErrorDuringExecution WaitingOnHuman true
    AskedHuman              "asked_human"               "asked_human"               "waiting_on_human"          ErrorDuringExecution WaitingOnHuman true
}

impl StopCause {
    /// Every cause, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|row| row.cause)
    }

    fn row(self) -> Option<&'static Row> {
        TABLE.iter().find(|row| row.cause == self)
    }

    /// Its name: in the log, in events, and wherever people or programs read why a run stopped.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    /// The word of the trace's last row, whose readers know fewer causes.
    #[must_use]
    pub fn reason(self) -> &'static str {
        self.row().map_or("", |row| row.reason)
    }

    /// The terminal reason of the loop.
    #[must_use]
    pub fn terminal(self) -> &'static str {
        self.row().map_or("", |row| row.terminal)
    }

    /// The SDKs' result subtype, given whether there is text to show.
    #[must_use]
    pub fn subtype(self, text: Text) -> Subtype {
        match (self, text) {
            (Self::Unexpected, Text::Nothing) => Subtype::ErrorDuringExecution,
            _ => self.row().map_or(Subtype::ErrorDuringExecution, |row| row.subtype),
        }
    }

    /// The run's state, given whether there is text to show.
    #[must_use]
    pub fn state(self, text: Text) -> RunState {
        match (self, text) {
            (Self::Unexpected, Text::Nothing) => RunState::Failed,
            _ => self.row().map_or(RunState::Failed, |row| row.state),
        }
    }

    /// Whether the conversation can be taken up again where it stopped.
    #[must_use]
    pub fn is_resumable(self) -> bool {
        self.row().is_some_and(|row| row.resumable)
    }
}

/// Whether a run left text behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Text {
    /// There is something to show.
    Some,
    /// There is not.
    Nothing,
}

impl Text {
    /// Looks at the text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        if text.trim().is_empty() { Self::Nothing } else { Self::Some }
    }
}
