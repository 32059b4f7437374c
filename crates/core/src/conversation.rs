//! The state of a conversation, folded from its lane's log: what belongs to it for ever, the prompts
//! that wait, and the run that is active.

use std::sync::Arc;

use imbl::Vector;

use crate::block::Block;
use crate::budget::{Price, Spent};
use crate::child::{Parent, Stray};
use crate::counsel::CounselId;
use crate::ids::{AskId, CallId, Epoch, Millis, QuestionId, RunId, Seq};
use crate::journal::Journal;
use crate::permission::Grant;
use crate::raw::Raw;
use crate::record::TimeLimit;
use crate::reply::Usage;
use crate::request::Request;
use crate::run::{InUse, LastReply, Run};
use crate::run_settings::RunSettings;
use crate::settings::{Model, Settings};
use crate::stop::{StopCause, Subtype, Text};
use crate::transcript::Transcript;
use crate::window::{Meter, Pressure, Summariser, count_tokens, trial};

/// How late a time limit may be noticed by somebody who was there.
const OVERSLEPT_MS: u64 = 60_000;

/// A conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Conversation {
    /// The last entry that was folded.
    pub head: Seq,
    /// Its time.
    pub at: Millis,
    /// What it runs with; `None` until configured.
    pub settings: Option<Arc<Settings>>,
    /// What its owner has: a run begins from this.
    pub owner_settings: Option<Arc<Settings>>,
    /// What the owner had when the active run began: a new owner is compared with it.
    pub run_owner: Option<Arc<Settings>>,
    /// What the active run has of its own.
    pub run_settings: Option<Arc<RunSettings>>,
    /// The user's context as the model was last told it.
    pub told_context: Arc<str>,
    /// Hash of the prompt and tools that the owner had when the run began.
    pub prompt_hash: Option<Arc<str>>,
    /// What the model sees.
    pub transcript: Transcript,
    /// Prompts that wait for their turn.
    pub queue: Vector<QueuedPrompt>,
    /// The active run.
    pub run: Option<Run>,
    /// How the last run ended.
    pub last_end: Option<Ended>,
    /// The last reply.
    pub last_reply: Option<LastReply>,
    /// Tokens of all runs; a fork begins at zero.
    pub usage: Usage,
    /// Model calls so far, over all runs.
    pub asks: AskId,
    /// Questions so far.
    pub questions: QuestionId,
    /// The owner's epoch as last recorded.
    pub epoch: Epoch,
    /// Up to when its time is counted: its last stored entry.
    pub counted_to: Millis,
    /// Counsels so far.
    pub counsels: CounselId,
    /// What all runs and their children spent.
    pub spent: Spent,
    /// How many tokens its bytes are.
    pub meter: Meter,
    /// What the model wrote down on purpose.
    pub journal: Journal,
    /// A few lines of it, as they stood when the generation began.
    pub digest: Arc<str>,
    /// Which version of it the model was shown.
    pub journal_shown: u64,
    /// What people allowed for the rest of the conversation.
    pub grants: Vec<Grant>,
    /// Whom it works for, if it is a child.
    pub parent: Option<Parent>,
    /// Whether somebody asked for room to be made.
    pub compaction: Asked,
    /// What they want its summary to keep.
    pub compaction_wishes: Option<Arc<str>>,
    /// Children that were given up and may still come back with what they spent.
    pub strays: Vector<Stray>,
    /// The model whose thoughts the transcript may hold.
    pub thinker: Option<Arc<str>>,
    /// What all conversations of the profile spent, as it was last looked up.
    pub shared_spending: Option<SharedSpending>,
}

/// What was spent under a cap that several conversations share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SharedSpending {
    /// All conversations together, with what is set aside for calls in progress.
    pub total: Spent,
    /// The part of it that is this conversation's.
    pub own: Spent,
}

impl SharedSpending {
    /// The total, now that `own` is this conversation's part of it.
    #[must_use]
    pub fn with_own(&self, own: &Spent) -> Spent {
        let now = |total: u64, then: u64, now: u64| {
            total.saturating_add(now.saturating_sub(then)).saturating_sub(then.saturating_sub(now))
        };
        Spent {
            tokens: now(self.total.tokens, self.own.tokens, own.tokens),
            usd_micros: now(self.total.usd_micros, self.own.usd_micros, own.usd_micros),
        }
    }
}

/// Whether something was asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Asked {
    /// Nobody did.
    #[default]
    No,
    /// Somebody did.
    Yes,
}

/// A prompt that waits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct QueuedPrompt {
    /// The run it will be.
    pub run: RunId,
    /// What the person said.
    pub blocks: Arc<[Block]>,
    /// What the run has of its own.
    pub settings: Option<Arc<RunSettings>>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Ended {
    /// Which.
    pub run: RunId,
    /// Why.
    pub cause: StopCause,
    /// What else applied.
    pub also: Vec<StopCause>,
    /// Its text.
    pub text: Arc<str>,
    /// What it used.
    pub counters: crate::run::Counters,
    /// What it and its children spent.
    pub spent: Spent,
    /// Milliseconds it was at work.
    pub active_ms: u64,
    /// Why its answer is doubtful.
    pub suspect: Option<Arc<str>>,
    /// The answer that fits its schema.
    pub structured: Option<Raw>,
    /// Whether the clock ended it, because nothing else did in time.
    pub by_clock: bool,
}

impl Ended {
    /// Whether the run ended well, with a result.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.cause.subtype(self.has_text()) == Subtype::Success
    }

    /// Whether there is text to show.
    #[must_use]
    pub fn has_text(&self) -> Text {
        Text::of(&self.text)
    }
}

impl Conversation {
    /// The next model call, if one is in the air. Costs what is new, not what is old.
    #[must_use]
    pub fn request(&self) -> Option<Request> {
        let run = self.run.as_ref()?;
        let settings = self.settings_in_use()?;
        let asking = run.asking()?;
        Some(Request {
            ask: asking.ask,
            settings,
            transcript: self.transcript.clone(),
            max_tokens: asking.max_tokens,
            choice: asking.choice.clone(),
            digest: self.digest.clone(),
            task_left_tokens: self.task_left_tokens(),
        })
    }

    /// The settings with the model that is asked now.
    #[must_use]
    pub fn settings_in_use(&self) -> Option<Arc<Settings>> {
        let settings = self.settings.clone()?;
        match settings.fallback.clone().filter(|_| self.has_fallen_back()) {
            Some(model) => Some(Arc::new(Settings { model, ..(*settings).clone() })),
            None => Some(settings),
        }
    }

    /// The model that is asked now: after a fallback the other one.
    #[must_use]
    pub fn model_in_use(&self) -> Option<&Model> {
        let settings = self.settings.as_ref()?;
        let fallback = settings.fallback.as_ref().filter(|_| self.has_fallen_back());
        Some(fallback.unwrap_or(&settings.model))
    }

    fn has_fallen_back(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.model == InUse::Fallback)
    }

    /// What the model is told to be left of its task's budget.
    fn task_left_tokens(&self) -> Option<u64> {
        let total = self.task_tokens()?;
        self.run.as_ref().and_then(|run| run.task.left(total))
    }

    fn task_tokens(&self) -> Option<u64> {
        self.settings.as_ref().and_then(|settings| settings.thinking.task_tokens)
    }

    /// The messages the model has seen are about to change: what they were is counted. Without a
    /// budget nothing is.
    pub(crate) fn end_generation(&mut self) {
        let context = self.meter_in_use().estimate(self.request_bytes());
        if self.task_tokens().is_some()
            && let Some(run) = &mut self.run
        {
            run.task.generation_over(context);
        }
    }

    /// Counts a reply for the task's budget.
    pub(crate) fn count_for_task(&mut self, usage: &Usage) {
        if self.task_tokens().is_some()
            && let Some(run) = &mut self.run
        {
            run.task.replied(usage);
        }
    }

    /// The price of the model that is asked now.
    pub(crate) fn price_in_use(&self) -> Option<Price> {
        self.model_in_use()?.price
    }

    /// The price of the model that is asked beside the conversation.
    pub(crate) fn price_beside(&self) -> Option<Price> {
        match &self.settings.as_ref()?.window.summariser {
            Summariser::Model(model) => model.price,
            Summariser::Own | Summariser::Nobody => self.price_in_use(),
        }
    }

    /// The journal as a compaction shows it; empty without one.
    #[must_use]
    pub fn journal_to_show(&self) -> String {
        if self.journal.is_empty() { String::new() } else { self.journal.render() }
    }

    /// Hash of the input of a call of the open round, for whoever approves it.
    #[must_use]
    pub fn input_hash(&self, call: CallId) -> Option<String> {
        let round = self.run.as_ref().and_then(Run::round)?;
        round.call(call).map(|call| call.tool_use.input.hash_hex())
    }

    /// Bytes of the next request.
    #[must_use]
    pub fn request_bytes(&self) -> u64 {
        let prompt = self.settings.as_ref().map_or(0, |settings| settings.prompt_bytes());
        self.transcript.bytes().saturating_add(prompt).saturating_add(self.digest.len() as u64)
    }

    /// The meter to estimate the next request with. Before a provider has counted anything, the
    /// request is counted here if the number of its bytes leaves open whether it fits: no text has
    /// more tokens than bytes, so most requests fit for certain.
    #[must_use]
    pub fn meter_in_use(&self) -> Meter {
        let Some(settings) = self.settings_in_use().filter(|_| self.meter.is_cold()) else {
            return self.meter;
        };
        let most_tokens = self.request_bytes();
        let usable = trial::usable(&settings);
        match usable.pressure(most_tokens, &settings.window.thresholds) {
            Pressure::Fine => self.meter,
            Pressure::Tight | Pressure::Full => self.counted_meter(),
        }
    }

    /// A meter that has counted the next request. Pictures and documents are no text: their bytes are
    /// taken as they always are before a provider has counted.
    pub(crate) fn counted_meter(&self) -> Meter {
        let told = self.settings.iter().flat_map(|settings| settings.prompt_texts());
        let blocks = self.transcript.segments().iter().flat_map(|segment| segment.blocks.iter());
        let (files, texts): (Vec<&Block>, Vec<&Block>) = blocks.partition(|block| block.is_file());
        let said = texts.iter().map(|block| block.raw().text());
        let file_bytes = files.iter().map(|block| block.raw().text().len() as u64).sum();
        match count_tokens(told.chain([&*self.digest]).chain(said)) {
            Some(tokens) => {
                let tokens = tokens.saturating_add(Meter::default().estimate(file_bytes));
                Meter::counted(self.request_bytes(), tokens)
            }
            None => self.meter,
        }
    }

    /// Milliseconds the active run was at work by `at`, if somebody was there all the time.
    #[must_use]
    pub fn active_ms(&self, at: Millis) -> u64 {
        let Some(run) = &self.run else { return 0 };
        let since = if run.is_active() { at.since(self.counted_to) } else { 0 };
        run.active_ms.saturating_add(since)
    }

    /// Whether nobody was there when a time limit came: the machine slept, or its clock jumped.
    #[must_use]
    pub fn slept(&self, at: Millis) -> bool {
        let Some(run) = self.run.as_ref().filter(|run| run.is_active()) else { return false };
        let Some(limit) = self.time_limit() else { return false };
        let left = limit.saturating_sub(run.active_ms);
        at.since(self.counted_to) > left.saturating_add(OVERSLEPT_MS)
    }

    /// The next limit on the active time of the run.
    pub(crate) fn time_limit(&self) -> Option<u64> {
        let times = self.settings.as_ref()?.times?;
        match self.run.as_ref()?.time_up.map(|up| up.limit) {
            None => Some(times.soft_ms.min(times.hard_ms)),
            Some(TimeLimit::Soft) => Some(times.hard_ms),
            Some(TimeLimit::Hard) => None,
        }
    }

    /// Whether no round is open: where a fork may begin.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.run.as_ref().is_none_or(|run| run.round().is_none())
    }

    /// The phase's name; `idle` without a run.
    #[must_use]
    pub fn phase_name(&self) -> &'static str {
        self.run.as_ref().map_or("idle", Run::phase_name)
    }
}
