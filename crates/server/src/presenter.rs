//! What the program that serves contributes: it knows models and profiles, and has the sentences.

use std::sync::Arc;

use serde_json::Value;
use windlass::core::log::inbox::AnswerKind;
use windlass::core::settings::run_settings::RunSettings;
use windlass::ports::{BoxFuture, RunInfo};
use windlass::{DriveError, OpenQuestion};

use crate::RunOptions;

/// A report about one run. Its JSON is that of the command of the same name with `--json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunReport {
    /// Why it stopped or what it waits for, and what to do next.
    Explain,
    /// Its iterations: time, reason, calls, tokens, stop.
    Trace,
    /// Its events and retries, newest first.
    Events(EventFilter),
    /// The responses of the provider as they arrived.
    Raw,
    /// The run journal of its conversation.
    Journal,
}

/// Which events are listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFilter {
    /// Events at most.
    pub limit: usize,
    /// Events whose name contains this text.
    pub name: Option<String>,
    /// Events whose fields contain this text.
    pub text: Option<String>,
}

/// Which runs are counted; all if nothing is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatsFilter {
    /// The agent that drives them.
    pub agent: Option<String>,
    /// Their profile.
    pub profile: Option<String>,
    /// The model that they call.
    pub model: Option<String>,
}

/// A report about the whole store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreReport {
    /// How runs ended, and how often tools were called.
    Stats {
        /// The number of days; all if not given.
        days: Option<u32>,
        /// Which runs are counted.
        filter: StatsFilter,
    },
    /// The newest events of the conversations of a tenant, or of all conversations and workers.
    Events(EventFilter, Option<Arc<str>>),
    /// The workers that are registered.
    Workers,
}

/// Presents runs and questions, and resolves the options of prompts. The command line implements it
/// with the code of its own commands, so that both say the same.
pub trait Presenter: Send + Sync + 'static {
    /// Returns the settings for `options`; `None` if nothing was given.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with the options, in a sentence for their sender.
    fn resolve_options(&self, options: &RunOptions) -> Result<Option<RunSettings>, String>;

    /// Returns the question in a sentence.
    fn question_text(&self, open: &OpenQuestion) -> String;

    /// Returns what follows from an answer, in a few words.
    fn answer_consequence(&self, open: &OpenQuestion, answer: AnswerKind) -> String;

    /// Returns a report about a run.
    fn report_run(
        &self,
        report: RunReport,
        run: RunInfo,
    ) -> BoxFuture<'_, Result<Value, DriveError>>;

    /// Returns a report about the store.
    fn report_store(&self, report: StoreReport) -> BoxFuture<'_, Result<Value, DriveError>>;
}
