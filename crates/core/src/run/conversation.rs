//! State of a conversation, folded from the log of its lane: settings, transcript, queued prompts,
//! active run.

use std::sync::Arc;

use imbl::{OrdSet, Vector};

use crate::budget::spending::{ModelPrice, Spending};
use crate::call::call_state::Call;
use crate::context::{Summariser, TokenMeter, WindowPressure, compaction_trial, count_tokens};
use crate::log::ids::{CallId, Epoch, ModelCallId, QuestionId, RunId, Seq, UnixMillis};
use crate::log::record::TimeLimit;
use crate::message::content_block::{ContentBlock, ToolUse};
use crate::message::loaded_tools::LoadedTools;
use crate::message::raw_json::RawJson;
use crate::message::reply::TokenUsage;
use crate::message::request::ModelRequest;
use crate::message::transcript::Transcript;
use crate::permission::{
    CallSubject, CommandAccess, ContentExposure, Grant, SessionPermissions, command_access,
};
use crate::run::active_run::{ActiveModel, LastReply, Run, StopPoint};
use crate::run::child_runs::{OrphanedChild, ParentLink};
use crate::run::journal::Journal;
use crate::run::review::ReviewId;
use crate::settings::conversation_settings::{ModelSpec, Settings};
use crate::settings::model_change::ModelOverride;
use crate::settings::run_settings::RunSettings;
use crate::stop::{ResultSubtype, StopCause, TextPresence};

/// Maximum number of sources of context that tools may add to a conversation.
const MAX_CONTEXT_SOURCES: usize = 1_000;

/// How late a time limit may be noticed before the machine counts as having slept.
const SLEEP_TOLERANCE_MS: u64 = 60_000;

/// The state of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Conversation {
    /// Sequence number of the last folded entry.
    pub head: Seq,
    /// Time of the last folded entry.
    pub at: UnixMillis,
    /// Settings of the conversation; `None` until configured.
    pub settings: Option<Arc<Settings>>,
    /// Settings of the owner: a run starts from these.
    pub owner_settings: Option<Arc<Settings>>,
    /// Settings of the owner when the active run started: a new owner is compared with them.
    pub run_owner: Option<Arc<Settings>>,
    /// Settings that belong to the active run only.
    pub run_settings: Option<Arc<RunSettings>>,
    /// The user context as it was last shown to the model.
    pub shown_user_context: Arc<str>,
    /// Sources of the context that tools found: each is added once.
    pub context_sources: OrdSet<Arc<str>>,
    /// Deferred tools that were loaded.
    pub loaded_tools: LoadedTools,
    /// Hash of the owner's prompt and tools when the run started.
    pub prompt_hash: Option<Arc<str>>,
    /// The transcript: what the model sees.
    pub transcript: Transcript,
    /// Prompts that wait for the active run.
    pub prompt_queue: Vector<QueuedPrompt>,
    /// The active run.
    pub run: Option<Run>,
    /// How the last run ended.
    pub last_run_end: Option<RunEnd>,
    /// The last reply.
    pub last_reply: Option<LastReply>,
    /// Tokens of all runs; a fork starts at zero.
    pub usage: TokenUsage,
    /// Number of model calls, over all runs.
    pub model_call_count: ModelCallId,
    /// Number of questions.
    pub question_count: QuestionId,
    /// Epoch of the owner as last recorded.
    pub epoch: Epoch,
    /// Time up to which active time is counted: that of the last stored entry.
    pub active_time_counted_to: UnixMillis,
    /// Number of reviews.
    pub review_count: ReviewId,
    /// What all runs and their child runs spent.
    pub spent: Spending,
    /// Token estimate for the bytes of the transcript.
    pub meter: TokenMeter,
    /// The run journal that the model writes.
    pub journal: Journal,
    /// Digest of the journal when the generation started.
    pub journal_digest: Arc<str>,
    /// Version of the journal that was shown to the model.
    pub shown_journal_version: u64,
    /// Rules that humans granted for the rest of the conversation.
    pub grants: Vec<Grant>,
    /// Other permissions that changed for the rest of the conversation.
    pub session_permissions: SessionPermissions,
    /// The model that replaces the one of the settings for the rest of the conversation.
    pub model_override: Option<ModelOverride>,
    /// The parent, if the conversation is a child run.
    pub parent: Option<ParentLink>,
    /// Whether a compaction was requested.
    pub compaction_request: CompactionRequest,
    /// What the summary of the requested compaction must keep.
    pub compaction_instructions: Option<Arc<str>>,
    /// Children that no call waits for: those in the background, and those whose call was given up
    /// and that may still return with what they spent.
    pub orphans: Vector<OrphanedChild>,
    /// The model whose thinking the transcript may contain.
    pub thinking_model: Option<Arc<str>>,
    /// Untrusted content that the conversation contains, and what it takes away.
    pub exposure: ContentExposure,
    /// Spending of all conversations of the profile, as last looked up.
    pub shared_spending: Option<SharedSpending>,
}

/// Spending under a cap that several conversations share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SharedSpending {
    /// Spending of all conversations, including what is reserved for calls in progress.
    pub total: Spending,
    /// The part that this conversation spent.
    pub own: Spending,
}

impl SharedSpending {
    /// Returns the total with `own` as the current part of this conversation.
    #[must_use]
    pub fn with_own_spending(&self, own: &Spending) -> Spending {
        let now = |total: u64, then: u64, now: u64| {
            total.saturating_add(now.saturating_sub(then)).saturating_sub(then.saturating_sub(now))
        };
        Spending {
            tokens: now(self.total.tokens, self.own.tokens, own.tokens),
            usd_micros: now(self.total.usd_micros, self.own.usd_micros, own.usd_micros),
        }
    }
}

/// Whether a compaction was requested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CompactionRequest {
    /// No request.
    #[default]
    NotRequested,
    /// Requested; done before the next model call.
    Requested,
}

/// A queued prompt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QueuedPrompt {
    /// Id of the run.
    pub run: RunId,
    /// Content of the prompt.
    pub blocks: Arc<[ContentBlock]>,
    /// Settings that belong to the run only.
    pub settings: Option<Arc<RunSettings>>,
    /// The compaction that the run is for; it has no prompt then.
    pub compaction: Option<RequestedCompaction>,
}

/// A compaction that a run is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RequestedCompaction {
    /// What the summary must keep, if given.
    pub instructions: Option<Arc<str>>,
}

impl QueuedPrompt {
    /// Creates a prompt without settings of its own.
    #[must_use]
    pub fn new(run: RunId, blocks: Arc<[ContentBlock]>) -> Self {
        Self { run, blocks, settings: None, compaction: None }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RunEnd {
    /// The run.
    pub run: RunId,
    /// Why the run ended.
    pub cause: StopCause,
    /// Other stop causes that applied.
    pub other_causes: Vec<StopCause>,
    /// Text of the result.
    pub text: Arc<str>,
    /// Counters of the run.
    pub counters: crate::run::active_run::RunCounters,
    /// What the run and its child runs spent.
    pub spent: Spending,
    /// Milliseconds of active time.
    pub active_ms: u64,
    /// Why the answer is suspect.
    pub suspect_reason: Option<Arc<str>>,
    /// The structured answer.
    pub structured_output: Option<RawJson>,
    /// Whether a timer ended the run, because nothing else did in time.
    pub ended_by_timer: bool,
    /// What was in progress when a stop of the run was requested, if one was.
    pub stopped_during: Option<StopPoint>,
    /// The call that a hook deferred, if that ended the run.
    pub deferred_tool_use: Option<ToolUse>,
}

impl RunEnd {
    /// Returns whether the run succeeded, with a result.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.cause.result_subtype(self.text_presence()) == ResultSubtype::Success
    }

    /// Returns whether there is text to show.
    #[must_use]
    pub fn text_presence(&self) -> TextPresence {
        TextPresence::from_text(&self.text)
    }
}

impl Conversation {
    /// Returns the children that work in the background.
    pub fn background_children(&self) -> impl Iterator<Item = &OrphanedChild> {
        self.orphans.iter().filter(|child| child.is_background)
    }

    /// Returns the call with this id of the open round.
    #[must_use]
    pub fn call(&self, id: CallId) -> Option<&Call> {
        self.run.as_ref().and_then(Run::round)?.call(id)
    }

    /// Returns what a command gets beyond, or beneath, the policy of the sandbox.
    #[must_use]
    pub fn command_access(&self, subject: &CallSubject) -> CommandAccess {
        let Some(settings) = &self.settings else { return CommandAccess::default() };
        command_access(&settings.rules, &self.grants, &self.exposure, subject)
    }

    /// Returns whether context from this source may be added: it was not yet, and there is room.
    #[must_use]
    pub fn can_add_context(&self, source: &str) -> bool {
        self.context_sources.len() < MAX_CONTEXT_SOURCES && !self.context_sources.contains(source)
    }

    /// Returns the request of the model call in flight, if there is one. Costs only what is new.
    #[must_use]
    pub fn model_request(&self) -> Option<ModelRequest> {
        let run = self.run.as_ref()?;
        let settings = self.active_settings()?;
        let asking = run.pending_model_call()?;
        Some(ModelRequest {
            model_call: asking.model_call,
            settings,
            transcript: self.transcript.clone(),
            loaded_tools: self.loaded_tools.clone(),
            max_tokens: asking.max_tokens,
            choice: asking.choice.clone(),
            journal_digest: self.journal_digest.clone(),
            task_remaining_tokens: self.task_remaining_tokens(),
        })
    }

    /// Returns the settings with the model that is called now.
    #[must_use]
    pub fn active_settings(&self) -> Option<Arc<Settings>> {
        let settings = self.settings.clone()?;
        match self.fallback_in_use(&settings).cloned() {
            Some(model) => Some(Arc::new(Settings { model, ..(*settings).clone() })),
            None => Some(settings),
        }
    }

    /// Returns the model that is called now: after a fallback the other one.
    #[must_use]
    pub fn active_model(&self) -> Option<&ModelSpec> {
        let settings = self.settings.as_ref()?;
        Some(self.fallback_in_use(settings).unwrap_or(&settings.model))
    }

    fn fallback_in_use<'a>(&self, settings: &'a Settings) -> Option<&'a ModelSpec> {
        let active = self.run.as_ref().map(|run| run.active_model);
        active.filter(|active| *active != ActiveModel::Primary)?.find(settings)
    }

    /// Returns what is left of the task budget, as the model is told.
    fn task_remaining_tokens(&self) -> Option<u64> {
        let total = self.task_tokens()?;
        self.run.as_ref().and_then(|run| run.task_budget.remaining(total))
    }

    fn task_tokens(&self) -> Option<u64> {
        self.settings.as_ref().and_then(|settings| settings.thinking.task_tokens)
    }

    /// Ends the generation: the messages that the model has seen are about to change, so their
    /// tokens are counted. Does nothing without a task budget.
    pub(crate) fn end_generation(&mut self) {
        let context = self.current_meter().estimate(self.request_bytes());
        if self.task_tokens().is_some()
            && let Some(run) = &mut self.run
        {
            run.task_budget.end_generation(context);
        }
    }

    /// Counts a reply for the task budget.
    pub(crate) fn count_task_usage(&mut self, usage: &TokenUsage) {
        if self.task_tokens().is_some()
            && let Some(run) = &mut self.run
        {
            run.task_budget.count_reply(usage);
        }
    }

    /// Returns the price of the model that is called now.
    pub(crate) fn active_price(&self) -> Option<ModelPrice> {
        self.active_model()?.price
    }

    /// Returns the price of the model for side requests.
    pub(crate) fn side_model_price(&self) -> Option<ModelPrice> {
        match &self.settings.as_ref()?.window.summariser {
            Summariser::Model(model) => model.price,
            Summariser::OwnModel | Summariser::Off => self.active_price(),
        }
    }

    /// Returns the journal as a compaction shows it; empty without one.
    #[must_use]
    pub fn journal_for_compaction(&self) -> String {
        if self.journal.is_empty() { String::new() } else { self.journal.render() }
    }

    /// Canonical hash of the input of a call of the open round, shown with its approval question.
    #[must_use]
    pub fn input_hash(&self, call: CallId) -> Option<String> {
        let round = self.run.as_ref().and_then(Run::round)?;
        round.call(call).map(|call| call.tool_use.input.canonical_hash_hex())
    }

    /// Returns the bytes of the next request.
    #[must_use]
    pub fn request_bytes(&self) -> u64 {
        let prompt = self
            .settings
            .as_ref()
            .map_or(0, |settings| settings.prompt_byte_count(&self.loaded_tools));
        self.transcript
            .byte_count()
            .saturating_add(prompt)
            .saturating_add(self.journal_digest.len() as u64)
    }

    /// Returns the meter that estimates the next request. Before a provider has counted anything,
    /// the request is counted here if the number of its bytes leaves open whether it fits: no text
    /// has more tokens than bytes, so most requests fit for certain.
    #[must_use]
    pub fn current_meter(&self) -> TokenMeter {
        let Some(settings) = self.active_settings().filter(|_| self.meter.is_uncalibrated()) else {
            return self.meter;
        };
        let most_tokens = self.request_bytes();
        let usable = compaction_trial::usable_window(&settings);
        match usable.pressure(most_tokens, &settings.window.thresholds) {
            WindowPressure::Fine => self.meter,
            WindowPressure::Tight | WindowPressure::Full => self.meter_from_count(),
        }
    }

    /// Returns a meter that has counted the next request. Images and documents are not text: their
    /// bytes are estimated as always before a provider has counted.
    pub(crate) fn meter_from_count(&self) -> TokenMeter {
        let loaded = &self.loaded_tools;
        let told = self.settings.iter().flat_map(|settings| settings.prompt_texts(loaded));
        let blocks = self.transcript.segments().iter().flat_map(|segment| segment.blocks.iter());
        let (files, texts): (Vec<&ContentBlock>, Vec<&ContentBlock>) =
            blocks.partition(|block| block.is_attachment());
        let said = texts.iter().map(|block| block.raw().text());
        let file_bytes = files.iter().map(|block| block.raw().text().len() as u64).sum();
        match count_tokens(told.chain([&*self.journal_digest]).chain(said)) {
            Some(tokens) => {
                let tokens = tokens.saturating_add(TokenMeter::default().estimate(file_bytes));
                TokenMeter::from_count(self.request_bytes(), tokens)
            }
            None => self.meter,
        }
    }

    /// Active milliseconds of the run at time `at`, if the process was awake throughout.
    #[must_use]
    pub fn active_ms(&self, at: UnixMillis) -> u64 {
        let Some(run) = &self.run else { return 0 };
        let since = if run.is_active() { at.ms_since(self.active_time_counted_to) } else { 0 };
        run.active_ms.saturating_add(since)
    }

    /// Returns whether the process slept past a time limit (suspended machine, clock jump).
    #[must_use]
    pub fn has_overslept(&self, at: UnixMillis) -> bool {
        let Some(run) = self.run.as_ref().filter(|run| run.is_active()) else { return false };
        let Some(limit) = self.next_time_limit_ms() else { return false };
        let remaining = limit.saturating_sub(run.active_ms);
        at.ms_since(self.active_time_counted_to) > remaining.saturating_add(SLEEP_TOLERANCE_MS)
    }

    /// Returns the next limit on the active time of the run.
    pub(crate) fn next_time_limit_ms(&self) -> Option<u64> {
        let times = self.settings.as_ref()?.times?;
        match self.run.as_ref()?.reached_time_limit.map(|up| up.limit) {
            None => Some(times.soft_ms.min(times.hard_ms)),
            Some(TimeLimit::Soft) => Some(times.hard_ms),
            Some(TimeLimit::Hard) => None,
        }
    }

    /// Returns whether no round is open: where a fork may start.
    #[must_use]
    pub fn has_no_open_round(&self) -> bool {
        self.run.as_ref().is_none_or(|run| run.round().is_none())
    }

    /// Returns the name of the phase; `idle` without a run.
    #[must_use]
    pub fn phase_name(&self) -> &'static str {
        self.run.as_ref().map_or("idle", Run::phase_name)
    }
}
