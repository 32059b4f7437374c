//! One long conversation: what is wanted is done, badly.

use std::sync::Arc;

use windlass_core::block::Block;
use windlass_core::conversation::Conversation;
use windlass_core::ids::{Epoch, MailId, Millis, RunId};
use windlass_core::input::Input;
use windlass_core::limits::Limits;
use windlass_core::log::Entry;
use windlass_core::mail::{Answer, Mail, MailBody};
use windlass_core::permission::Permissions;
use windlass_core::question::About;
use windlass_core::record::Record;
use windlass_core::run::Run;
use windlass_core::settings::{Model, Settings};
use windlass_core::wanted::{Effect, wanted};
use windlass_core::window::Summariser;

use super::check;
use super::figures::Figures;
use super::model::{self, Bill};
use super::tools;
use crate::world::dice::Dice;

/// Rounds of one conversation.
const ROUNDS: u64 = 200;

/// Instructions found on the way: they are never left out, so they must fit.
const MOST_MEMORIES: u32 = 5;

/// Inputs after which a conversation goes round.
const MOST_INPUTS: u32 = 20_000;

pub(super) struct Play {
    dice: Dice,
    now: Millis,
    state: Conversation,
    bill: Bill,
    mails: MailId,
    runs: u32,
    memories: u32,
    epoch: Epoch,
    figures: Figures,
}

impl Play {
    pub(super) fn new(mut dice: Dice) -> Self {
        let honest = dice.chance(60);
        let bill = if honest { Bill::Honest(dice.within(150, 350)) } else { Bill::Absurd };
        let settings = settings(&mut dice);
        let mut play = Self {
            dice,
            now: Millis(1_000),
            state: Conversation::default(),
            bill,
            mails: 0,
            runs: 0,
            memories: 0,
            epoch: 0,
            figures: Figures { runs: 1, ..Figures::default() },
        };
        play.feed(Input::Configured { settings: Arc::new(settings) });
        play
    }

    pub(super) fn played(mut self) -> Figures {
        for _ in 0..MOST_INPUTS {
            if self.figures.rounds >= ROUNDS || !self.figures.failures.is_empty() {
                return self.figures;
            }
            let input = self.next();
            self.feed(input);
        }
        let phase = self.state.phase_name();
        let cause = self.state.last_end.as_ref().map(|end| end.cause);
        let what = format!("{phase} after {MOST_INPUTS} inputs, last end {cause:?}");
        self.figures.failures.push(what);
        self.figures
    }

    fn feed(&mut self, input: Input) {
        let Some(entry) = Entry::decide(&self.state, self.now, input) else { return };
        check::entry(&self.state, &entry, self.bill, &mut self.figures);
        let closed = entry.records.iter().filter(|r| **r == Record::RoundClosed {}).count();
        self.figures.rounds += closed as u64;
        let stored = entry.durable().is_some();
        if !stored {
            self.state.take(&entry);
        } else if let Err(error) = self.state.fold(&entry) {
            self.figures.failures.push(error.to_string());
        }
    }

    /// What happens next: something that is wanted comes back, or somebody speaks.
    fn next(&mut self) -> Input {
        self.now = self.now.plus(self.dice.below(50));
        if self.state.run.is_none() {
            return self.prompt();
        }
        match self.dice.below(60) {
            0 => self.mail(MailBody::Compact { wishes: None }),
            1 if self.memories < MOST_MEMORIES => self.memory(),
            2 => self.steer(),
            3 => self.die(),
            _ => self.come_back(),
        }
    }

    fn come_back(&mut self) -> Input {
        let wanted = wanted(&self.state);
        let place = usize::try_from(self.dice.below(wanted.effects.len() as u64)).unwrap_or(0);
        match wanted.effects.get(place) {
            Some(effect) => self.of_effect(*effect),
            None => self.wait(wanted.wake_at),
        }
    }

    /// A question is answered, or the awaited time comes.
    fn wait(&mut self, wake_at: Option<Millis>) -> Input {
        let question = self.state.run.as_ref().and_then(|run| run.questions().next().cloned());
        if let Some(question) = question {
            let answer = self.answer(&question.about);
            return self.mail(MailBody::Answer { question: question.id, answer });
        }
        self.now = self.now.max(wake_at.unwrap_or(self.now));
        Input::Ticked {}
    }

    fn answer(&mut self, about: &About) -> Answer {
        match about {
            About::Approval { .. } | About::Plan { .. } => Answer::allow(),
            About::Uncertain { .. } => Answer::MarkDone { text: "done".into() },
            About::Asking { .. } => Answer::Text { text: "yes".into() },
            About::Guidance { .. } if self.dice.chance(50) => {
                Answer::Text { text: format!("try {}", self.dice.throw()).into() }
            }
            About::Guidance { .. } | About::Drift { .. } => Answer::Continue {},
            About::Budget { .. } => {
                if self.dice.chance(50) {
                    Answer::Continue {}
                } else {
                    Answer::Abandon {}
                }
            }
        }
    }

    fn of_effect(&mut self, effect: Effect) -> Input {
        let run = self.state.run.as_ref();
        match effect {
            Effect::Ask(_) => match run.and_then(Run::asking).cloned() {
                Some(asking) => {
                    let bytes = self.state.request_bytes();
                    model::answer(&mut self.dice, &asking, bytes, self.bill)
                }
                None => Input::Ticked {},
            },
            Effect::RunTool { call, attempt } => {
                let outcome = tools::outcome(&mut self.dice);
                Input::ToolReturned { call, attempt, started_at: self.now, outcome }
            }
            Effect::Consult(counsel) => match run.and_then(Run::consulting).cloned() {
                Some(sought) => {
                    let advice = model::summary(&mut self.dice, &sought.about, self.bill);
                    Input::Counselled { counsel, advice }
                }
                None => Input::Ticked {},
            },
            Effect::HookBefore(_)
            | Effect::HookAfter(_)
            | Effect::Classify(_)
            | Effect::Probe(_)
            | Effect::Configure => Input::Ticked {},
        }
    }

    fn mail(&mut self, body: MailBody) -> Input {
        self.mails += 1;
        Input::Received { mail: vec![Mail { id: self.mails, body }] }
    }

    fn prompt(&mut self) -> Input {
        self.runs += 1;
        let run = RunId::from(format!("r{}", self.runs));
        let blocks = vec![Block::text(&format!("do {} and keep to it", self.dice.throw()))];
        self.mail(MailBody::prompt(run, blocks))
    }

    fn steer(&mut self) -> Input {
        self.runs += 1;
        let run = RunId::from(format!("r{}", self.runs));
        let blocks = vec![Block::text(&format!("mind {}", self.dice.throw()))];
        self.mail(MailBody::Steer { run, blocks })
    }

    fn memory(&mut self) -> Input {
        self.memories += 1;
        let text = format!("rule {}: never do it", self.dice.throw());
        self.mail(MailBody::Memory { text: text.into() })
    }

    /// The process dies and another takes over.
    fn die(&mut self) -> Input {
        self.state = self.state.without_volatile();
        self.epoch += 1;
        let prompt_hash = self.state.prompt_hash.clone().unwrap_or_default();
        Input::Adopted { epoch: self.epoch, prompt_hash, offer: None, settings: None }
    }
}

fn settings(dice: &mut Dice) -> Settings {
    let window_tokens = dice.pick(&[20_000, 60_000]);
    let model = Model {
        max_tokens: 1_000,
        most_output_tokens: 4_000,
        window_tokens,
        ..Model::named("hostile")
    };
    let mut settings = Settings::new(model);
    settings.system = "Rules that hold whatever is said later.".into();
    settings.rules = Permissions::allow_all();
    settings.times = None;
    if dice.chance(30) {
        settings.window.summariser = Summariser::Nobody;
    }
    if dice.chance(50) {
        settings.guards.exempt = tools::NAMES.map(Arc::from).into();
    }
    settings.limits = Limits {
        tool_rounds: 200,
        model_calls: 500,
        // What was said before must be paid for again in every run.
        run_tokens: dice.chance(60).then(|| dice.within(2 * window_tokens, 20 * window_tokens)),
        recoveries: dice.pick(&[4, 40, 1_000]),
        kept_messages: dice.pick(&[2, 4, 10]),
        summary_tokens: dice.pick(&[200, 1_000]),
        least_output_tokens: 64,
        // The last messages stay as they are, so they must fit.
        result_chars: window_tokens / 20,
        ..Limits::default()
    };
    settings
}
