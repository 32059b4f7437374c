//! Plays one long conversation: every wanted effect is done, badly.

use std::sync::Arc;

use windlass_core::context::Summariser;
use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{Epoch, InboxMessageId, RunId, UnixMillis};
use windlass_core::log::inbox::{HumanAnswer, InboxCommand, InboxMessage};
use windlass_core::log::input::Input;
use windlass_core::log::record::Record;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::permission::Permissions;
use windlass_core::run::active_run::Run;
use windlass_core::run::conversation::Conversation;
use windlass_core::run::question::QuestionKind;
use windlass_core::run::wanted::{Effect, wanted};
use windlass_core::settings::conversation_settings::{ModelSpec, Settings};
use windlass_core::settings::limits::Limits;

use super::check;
use super::figures::HostileFigures;
use super::model::{self, HostileUsage};
use super::tools;
use crate::world::seeded_rng::SeededRng;

/// Rounds of one conversation.
const ROUNDS: u64 = 200;

/// Maximum number of instructions found during the run: they are never removed, so they must fit.
const MOST_MEMORIES: u32 = 5;

/// Number of inputs after which a conversation counts as an endless loop.
const MOST_INPUTS: u32 = 20_000;

pub(super) struct HostileRun {
    rng: SeededRng,
    now: UnixMillis,
    state: Conversation,
    bill: HostileUsage,
    mails: InboxMessageId,
    runs: u32,
    memories: u32,
    epoch: Epoch,
    figures: HostileFigures,
}

impl HostileRun {
    pub(super) fn new(mut rng: SeededRng) -> Self {
        let honest = rng.chance(60);
        let bill =
            if honest { HostileUsage::Honest(rng.within(150, 350)) } else { HostileUsage::Absurd };
        let settings = settings(&mut rng);
        let mut play = Self {
            rng,
            now: UnixMillis(1_000),
            state: Conversation::default(),
            bill,
            mails: 0,
            runs: 0,
            memories: 0,
            epoch: 0,
            figures: HostileFigures { runs: 1, ..HostileFigures::default() },
        };
        play.feed(Input::Configured { settings: Arc::new(settings) });
        play
    }

    pub(super) fn run_hostile(mut self) -> HostileFigures {
        for _ in 0..MOST_INPUTS {
            if self.figures.rounds >= ROUNDS || !self.figures.failures.is_empty() {
                return self.figures;
            }
            let input = self.next();
            self.feed(input);
        }
        let phase = self.state.phase_name();
        let cause = self.state.last_run_end.as_ref().map(|end| end.cause);
        let what = format!("{phase} after {MOST_INPUTS} inputs, last end {cause:?}");
        self.figures.failures.push(what);
        self.figures
    }

    fn feed(&mut self, input: Input) {
        let Some(entry) = Entry::decide(&self.state, self.now, input) else { return };
        check::entry(&self.state, &entry, self.bill, &mut self.figures);
        let closed = entry.records.iter().filter(|r| **r == Record::RoundClosed {}).count();
        self.figures.rounds += closed as u64;
        let stored = entry.to_durable().is_some();
        if !stored {
            self.state.apply_volatile(&entry);
        } else if let Err(error) = self.state.fold(&entry) {
            self.figures.failures.push(error.to_string());
        }
    }

    /// Returns the next input: a wanted effect returns, or a user sends a command.
    fn next(&mut self) -> Input {
        self.now = self.now.plus_ms(self.rng.below(50));
        if self.state.run.is_none() {
            return self.prompt();
        }
        match self.rng.below(60) {
            0 => self.command_input(InboxCommand::Compact { instructions: None, run: None }),
            1 if self.memories < MOST_MEMORIES => self.memory(),
            2 => self.steer(),
            3 => self.die(),
            _ => self.come_back(),
        }
    }

    fn come_back(&mut self) -> Input {
        let wanted = wanted(&self.state);
        let place = usize::try_from(self.rng.below(wanted.effects.len() as u64)).unwrap_or(0);
        match wanted.effects.get(place) {
            Some(effect) => self.of_effect(*effect),
            None => self.wait(wanted.wake_at),
        }
    }

    /// Answers a question, or fires the timer.
    fn wait(&mut self, wake_at: Option<UnixMillis>) -> Input {
        let question = self.state.run.as_ref().and_then(|run| run.open_questions().next().cloned());
        if let Some(question) = question {
            let answer = self.answer(&question.kind);
            return self.command_input(InboxCommand::answer(question.id, answer));
        }
        self.now = self.now.max(wake_at.unwrap_or(self.now));
        Input::TimerFired {}
    }

    fn answer(&mut self, about: &QuestionKind) -> HumanAnswer {
        match about {
            QuestionKind::Approval { .. } | QuestionKind::Plan { .. } => HumanAnswer::allow(),
            QuestionKind::Uncertain { .. } => HumanAnswer::MarkDone { text: "done".into() },
            QuestionKind::ModelQuestion { .. } => HumanAnswer::Text { text: "yes".into() },
            QuestionKind::Guidance { .. } if self.rng.chance(50) => {
                HumanAnswer::Text { text: format!("try {}", self.rng.next_number()).into() }
            }
            QuestionKind::ToolRequest { .. } if self.rng.chance(30) => HumanAnswer::deny("no"),
            QuestionKind::Guidance { .. }
            | QuestionKind::ToolRequest { .. }
            | QuestionKind::PromptChanged { .. } => HumanAnswer::Continue {},
            QuestionKind::Budget { .. } => {
                if self.rng.chance(50) {
                    HumanAnswer::Continue {}
                } else {
                    HumanAnswer::Abandon {}
                }
            }
        }
    }

    fn of_effect(&mut self, effect: Effect) -> Input {
        let run = self.state.run.as_ref();
        match effect {
            Effect::CallModel(_) => match run.and_then(Run::pending_model_call).cloned() {
                Some(asking) => {
                    let bytes = self.state.request_bytes();
                    model::answer(&mut self.rng, &asking, bytes, self.bill)
                }
                None => Input::TimerFired {},
            },
            Effect::RunTool { call, attempt } => {
                let outcome = tools::outcome(&mut self.rng);
                Input::ToolReturned {
                    call,
                    attempt,
                    started_at: self.now,
                    outcome,
                    context: Vec::new(),
                    untrusted: Vec::new(),
                }
            }
            Effect::RequestReview(id) => match run.and_then(Run::pending_review).cloned() {
                Some(sought) => {
                    let result = model::summary(&mut self.rng, &sought.review, self.bill);
                    Input::ReviewReturned { id, result }
                }
                None => Input::TimerFired {},
            },
            Effect::RunPreHook(_)
            | Effect::RunPostHook(_)
            | Effect::ClassifyCall(_)
            | Effect::ProbeCall(_)
            | Effect::RecordSettings => Input::TimerFired {},
        }
    }

    fn command_input(&mut self, body: InboxCommand) -> Input {
        self.mails += 1;
        Input::CommandsReceived { messages: vec![InboxMessage { id: self.mails, body }] }
    }

    fn prompt(&mut self) -> Input {
        self.runs += 1;
        let run = RunId::from(format!("r{}", self.runs));
        let blocks =
            vec![ContentBlock::text(&format!("do {} and keep to it", self.rng.next_number()))];
        self.command_input(InboxCommand::prompt(run, blocks))
    }

    fn steer(&mut self) -> Input {
        self.runs += 1;
        let run = RunId::from(format!("r{}", self.runs));
        let blocks = vec![ContentBlock::text(&format!("mind {}", self.rng.next_number()))];
        self.command_input(InboxCommand::Steer { run, blocks })
    }

    fn memory(&mut self) -> Input {
        self.memories += 1;
        let text = format!("rule {}: never do it", self.rng.next_number());
        self.command_input(InboxCommand::Memory { text: text.into() })
    }

    /// The process dies and another one claims the lane.
    fn die(&mut self) -> Input {
        self.state = self.state.without_volatile();
        self.epoch += 1;
        let prompt_hash = self.state.prompt_hash.clone().unwrap_or_default();
        Input::OwnerChanged {
            epoch: self.epoch,
            prompt_hash,
            prompt_fingerprint: None,
            settings: None,
        }
    }
}

fn settings(rng: &mut SeededRng) -> Settings {
    let window_tokens = rng.pick(&[20_000, 60_000]);
    let model = ModelSpec {
        max_tokens: 1_000,
        max_output_tokens: 4_000,
        window_tokens,
        ..ModelSpec::with_defaults("hostile")
    };
    let mut settings = Settings::new(model);
    settings.system = "Rules that hold whatever is said later.".into();
    settings.rules = Permissions::allow_all();
    settings.times = None;
    if rng.chance(30) {
        settings.window.summariser = Summariser::Off;
    }
    if rng.chance(50) {
        settings.guards.exempt = tools::NAMES.map(Arc::from).into();
    }
    settings.limits = Limits {
        tool_rounds: 200,
        model_calls: 500,
        // The history must be paid for again in every run.
        run_tokens: rng.chance(60).then(|| rng.within(2 * window_tokens, 20 * window_tokens)),
        recoveries: rng.pick(&[4, 40, 1_000]),
        kept_messages: rng.pick(&[2, 4, 10]),
        summary_tokens: rng.pick(&[200, 1_000]),
        least_output_tokens: 64,
        // The last messages are kept, so they must fit.
        result_chars: window_tokens / 20,
        ..Limits::default()
    };
    settings
}
