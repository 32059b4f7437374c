//! A lane and its driver: inputs go in, the log grows, the live state follows.

use std::sync::Arc;

use windlass_core::block::Block;
use windlass_core::budget::Spent;
use windlass_core::child::{Ending, Homecoming, lane_of};
use windlass_core::conversation::Conversation;
use windlass_core::counsel::Advice;
use windlass_core::ids::{CallId, LaneId, Millis, QuestionId, RunId};
use windlass_core::input::{Failure, Finding, HookAnswer, Input, Opinion};
use windlass_core::log::Entry;
use windlass_core::mail::{Answer, Mail, MailBody};
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::record::Record;
use windlass_core::reply::Usage;
use windlass_core::run::Run;
use windlass_core::settings::Settings;
use windlass_core::wanted::wanted;

use super::build::{Answering, say};
use super::check;
use super::tools::{facts_for, settings};

/// What a child brings home: a hundred tokens spent.
pub(crate) fn home(call: CallId, part: u16, ending: Ending) -> Homecoming {
    Homecoming { call, part, spent: Spent { tokens: 100, usd_micros: 10 }, ending }
}

/// A conversation being driven.
#[derive(Clone)]
pub(crate) struct Lane {
    /// What the driver holds, volatile records included.
    pub(crate) live: Conversation,
    /// What the store holds.
    pub(crate) log: Vec<Entry>,
    /// What the last input settled, volatile records included.
    pub(crate) last: Vec<Record>,
    pub(crate) now: Millis,
    mails: u64,
    runs: u32,
    epoch: u64,
}

impl Drop for Lane {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            check::check_log(&self.log, &self.live);
        }
    }
}

impl Lane {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    /// A lane with settings changed.
    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = settings();
        change(&mut settings);
        Self::bare().configure(settings)
    }

    /// A lane before anything was recorded.
    pub(crate) fn bare() -> Self {
        Self {
            live: Conversation::default(),
            log: Vec::new(),
            last: Vec::new(),
            now: Millis(1_000_000),
            mails: 0,
            runs: 0,
            epoch: 1,
        }
    }

    /// Tells the lane something, one millisecond later.
    pub(crate) fn input(mut self, input: Input) -> Self {
        self.now = self.now.plus(1);
        self.last = Vec::new();
        if let Some(entry) = Entry::decide(&self.live, self.now, input) {
            self.last = entry.records.clone();
            match entry.durable() {
                Some(durable) => {
                    self.log.push(durable);
                    self.live.fold(&entry).unwrap();
                }
                None => self.live.take(&entry),
            }
        }
        check::check_state(&self.live);
        self
    }

    pub(crate) fn configure(self, settings: Settings) -> Self {
        self.input(Input::Configured { settings: Arc::new(settings) })
    }

    /// Several mails in one delivery.
    pub(crate) fn mails(mut self, bodies: Vec<MailBody>) -> Self {
        let first = self.mails;
        let mail: Vec<Mail> =
            (first + 1..).zip(bodies).map(|(id, body)| Mail { id, body }).collect();
        self.mails = first + mail.len() as u64;
        self.input(Input::Received { mail })
    }

    pub(crate) fn mail(self, body: MailBody) -> Self {
        self.mails(vec![body])
    }

    /// Runs are named `run-1`, `run-2`, … in order of their prompts.
    pub(crate) fn next_run(&mut self) -> RunId {
        self.runs += 1;
        RunId::from(format!("run-{}", self.runs))
    }

    pub(crate) fn prompt(self, text: &str) -> Self {
        self.prompt_blocks(say(text))
    }

    pub(crate) fn prompt_blocks(mut self, blocks: Vec<Block>) -> Self {
        let run = self.next_run();
        self.mail(MailBody::prompt(run, blocks))
    }

    pub(crate) fn steer(mut self, text: &str) -> Self {
        let run = self.next_run();
        self.mail(MailBody::Steer { run, blocks: say(text) })
    }

    pub(crate) fn child(self, text: &str) -> Self {
        let child = LaneId::from("conversation:child");
        self.mail(MailBody::ChildFinished { child, text: Arc::from(text), home: None })
    }

    pub(crate) fn cancel(self) -> Self {
        self.mail(MailBody::Cancel { run: None })
    }

    pub(crate) fn cancel_run(self, run: &str) -> Self {
        self.mail(MailBody::Cancel { run: Some(RunId::from(run)) })
    }

    pub(crate) fn abort(self) -> Self {
        self.mail(MailBody::Abort { run: None })
    }

    /// Answers the newest question.
    pub(crate) fn answer(self, answer: Answer) -> Self {
        let question = self.live.questions;
        self.answer_to(question, answer)
    }

    pub(crate) fn answer_to(self, question: QuestionId, answer: Answer) -> Self {
        self.mail(MailBody::Answer { question, answer })
    }

    pub(crate) fn allow(self) -> Self {
        self.answer(Answer::allow())
    }

    pub(crate) fn deny(self, reason: &str) -> Self {
        self.answer(Answer::Deny { reason: Arc::from(reason) })
    }

    /// The model answers what it was last asked.
    pub(crate) fn reply(self, answer: Answering) -> Self {
        let ask = self.live.asks;
        self.reply_to(ask, answer)
    }

    pub(crate) fn reply_to(self, ask: u32, answer: Answering) -> Self {
        let facts = answer.0.tool_uses().map(|(_, call)| facts_for(call)).collect();
        self.input(Input::Replied { ask, reply: Arc::new(answer.0), facts })
    }

    /// A block of the reply is complete while the model still streams.
    pub(crate) fn streams(self, index: u16, block: &Block) -> Self {
        let tool_use = block.as_tool_use().unwrap().clone();
        let facts = facts_for(&tool_use);
        let ask = self.live.asks;
        self.input(Input::BlockReady { ask, index, tool_use, facts })
    }

    pub(crate) fn fails(self, failure: Failure) -> Self {
        let ask = self.live.asks;
        self.input(Input::ModelFailed { ask, failure })
    }

    /// The calls of the open round, in order.
    pub(crate) fn call(&self, place: usize) -> CallId {
        self.live.run.as_ref().and_then(Run::round).unwrap().calls[place].id
    }

    fn attempt(&self, place: usize) -> u32 {
        self.live.run.as_ref().and_then(Run::round).unwrap().calls[place].attempts
    }

    /// The call at this place of the round comes back.
    pub(crate) fn comes_back(self, place: usize, outcome: Outcome) -> Self {
        let (call, attempt, started_at) = (self.call(place), self.attempt(place), self.now);
        self.input(Input::ToolReturned { call, attempt, started_at, outcome })
    }

    pub(crate) fn returns(self, place: usize, text: &str) -> Self {
        self.comes_back(place, Outcome::Done(Raw::string(text)))
    }

    pub(crate) fn errs(self, place: usize, error: ToolError) -> Self {
        self.comes_back(place, Outcome::Failed(error))
    }

    /// The call at this place of the round works for so long and fails.
    pub(crate) fn errs_after(self, ms: u64, place: usize, error: ToolError) -> Self {
        self.comes_back_after(ms, place, Outcome::Failed(error))
    }

    /// The call comes back after some time.
    pub(crate) fn comes_back_after(mut self, ms: u64, place: usize, outcome: Outcome) -> Self {
        let (call, attempt, started_at) = (self.call(place), self.attempt(place), self.now);
        self.now = self.now.plus(ms);
        self.input(Input::ToolReturned { call, attempt, started_at, outcome })
    }

    pub(crate) fn hook(self, place: usize, answer: HookAnswer) -> Self {
        let call = self.call(place);
        self.input(Input::HookAnswered { call, answer, context: None })
    }

    /// A hook answers, and has something to say to the model.
    pub(crate) fn hook_saying(self, place: usize, answer: HookAnswer, context: &str) -> Self {
        let call = self.call(place);
        self.input(Input::HookAnswered { call, answer, context: Some(Arc::from(context)) })
    }

    /// Whoever the run waits for answers.
    pub(crate) fn advise(self, advice: Advice) -> Self {
        let counsel = self.live.counsels;
        self.input(Input::Counselled { counsel, advice })
    }

    /// The summary that was wanted.
    pub(crate) fn summary(self, text: &str) -> Self {
        let usage = Usage { input_tokens: 100, output_tokens: 20, ..Usage::default() };
        self.advise(Advice::Summary { text: Arc::from(text), usage })
    }

    /// A classifier says what it thinks of a call.
    pub(crate) fn classify(self, place: usize, opinion: Opinion) -> Self {
        let call = self.call(place);
        let usage = Usage { input_tokens: 50, output_tokens: 1, ..Usage::default() };
        self.input(Input::Classified { call, opinion, usage })
    }

    /// A child of the call at this place comes back.
    pub(crate) fn child_back(self, place: usize, part: u16, text: &str) -> Self {
        let home = home(self.call(place), part, Ending::Answered);
        self.child_home(home, text)
    }

    /// A child comes home to whatever waits, or does not.
    pub(crate) fn child_home(self, home: Homecoming, text: &str) -> Self {
        let child = lane_of(&LaneId::from("conversation:1"), home.call, home.part);
        self.mail(MailBody::ChildFinished { child, text: Arc::from(text), home: Some(home) })
    }

    pub(crate) fn compact(self) -> Self {
        self.mail(MailBody::Compact { wishes: None })
    }

    pub(crate) fn compact_keeping(self, wishes: &str) -> Self {
        self.mail(MailBody::Compact { wishes: Some(Arc::from(wishes)) })
    }

    pub(crate) fn remember(self, text: &str) -> Self {
        self.mail(MailBody::Memory { text: Arc::from(text) })
    }

    pub(crate) fn probe(self, place: usize, finding: Finding) -> Self {
        let call = self.call(place);
        self.input(Input::Probed { call, finding })
    }

    /// Time passes; nobody says so.
    pub(crate) fn later(mut self, ms: u64) -> Self {
        self.now = self.now.plus(ms);
        self
    }

    /// Time passes and the clock says so.
    pub(crate) fn wait(mut self, ms: u64) -> Self {
        self.now = self.now.plus(ms);
        self.input(Input::Ticked {})
    }

    /// Time passes until the lane wants to be woken.
    pub(crate) fn wake(mut self) -> Self {
        let due = wanted(&self.live).wake_at.expect("nothing is waited for");
        self.now = Millis(due.0.saturating_sub(1)).max(self.now);
        self.input(Input::Ticked {})
    }

    /// The process dies: what is volatile is gone.
    pub(crate) fn crash(mut self) -> Self {
        self.live = Conversation::replay(&self.log).unwrap();
        self
    }

    /// The process dies and another takes over with the same prompt.
    pub(crate) fn adopted(self) -> Self {
        let hash = self.live.prompt_hash.clone().unwrap();
        self.adopted_with(&hash)
    }

    /// The process dies and another takes over with this prompt.
    pub(crate) fn adopted_with(mut self, hash: &str) -> Self {
        self.epoch += 1;
        let epoch = self.epoch;
        self.crash().input(Input::Adopted {
            epoch,
            prompt_hash: Arc::from(hash),
            offer: None,
            settings: None,
        })
    }

    /// The process dies and another takes over with these settings.
    pub(crate) fn adopted_by(mut self, settings: &Settings) -> Self {
        self.epoch += 1;
        let (epoch, offer) = (self.epoch, Some(settings.offer()));
        self.crash().input(Input::Adopted {
            epoch,
            prompt_hash: settings.prompt_hash(),
            offer,
            settings: None,
        })
    }

    pub(crate) fn fork(self, parent: &str) -> Self {
        let at = self.live.head;
        self.input(Input::Forked { parent: LaneId::from(parent), at })
    }
}
