//! A lane and its driver: inputs go in, the log grows, the live state follows.

use std::sync::Arc;

use windlass_core::budget::spending::Spending;
use windlass_core::call::outcome::{ToolError, ToolOutcome};
use windlass_core::log::entry::Entry;
use windlass_core::log::ids::{CallId, LaneId, QuestionId, RunId, UnixMillis};
use windlass_core::log::inbox::{HistorySource, HumanAnswer, InboxCommand, InboxMessage};
use windlass_core::log::input::{
    Classification, ContextNote, HookDecision, Input, ModelFailure, ProbeResult,
};
use windlass_core::log::record::Record;
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::history_message::HistoryMessage;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::TokenUsage;
use windlass_core::permission::{ContentSource, PermissionMode, PermissionUpdate};
use windlass_core::run::active_run::Run;
use windlass_core::run::child_runs::{ChildOutcome, ChildResult, child_lane};
use windlass_core::run::conversation::Conversation;
use windlass_core::run::review::ReviewResult;
use windlass_core::run::wanted::wanted;
use windlass_core::settings::conversation_settings::Settings;
use windlass_core::settings::model_change::ModelChange;

use super::build::{ReplyBuilder, say};
use super::check;
use super::tools::{facts_for, settings};

/// Returns a sub-agent result: a hundred tokens spent.
pub(crate) fn child_result(call: CallId, part: u16, ending: ChildOutcome) -> ChildResult {
    let spent = Spending { tokens: 100, usd_micros: 10 };
    ChildResult { call, part, spent, ending, untrusted: false }
}

/// A conversation with its driver.
#[derive(Clone)]
pub(crate) struct Lane {
    /// State of the driver, volatile records included.
    pub(crate) live: Conversation,
    /// The stored log.
    pub(crate) log: Vec<Entry>,
    /// Records of the last input, volatile records included.
    pub(crate) last: Vec<Record>,
    pub(crate) now: UnixMillis,
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
            now: UnixMillis(1_000_000),
            mails: 0,
            runs: 0,
            epoch: 1,
        }
    }

    /// Sends an input to the lane, one millisecond later.
    pub(crate) fn input(mut self, input: Input) -> Self {
        self.now = self.now.plus_ms(1);
        self.last = Vec::new();
        if let Some(entry) = Entry::decide(&self.live, self.now, input) {
            self.last = entry.records.clone();
            match entry.to_durable() {
                Some(durable) => {
                    self.log.push(durable);
                    self.live.fold(&entry).unwrap();
                }
                None => self.live.apply_volatile(&entry),
            }
        }
        check::check_state(&self.live);
        self
    }

    pub(crate) fn configure(self, settings: Settings) -> Self {
        self.input(Input::Configured { settings: Arc::new(settings) })
    }

    /// Several commands in one delivery.
    pub(crate) fn send_commands(mut self, bodies: Vec<InboxCommand>) -> Self {
        let first = self.mails;
        let messages: Vec<InboxMessage> =
            (first + 1..).zip(bodies).map(|(id, body)| InboxMessage { id, body }).collect();
        self.mails = first + messages.len() as u64;
        self.input(Input::CommandsReceived { messages })
    }

    pub(crate) fn send_command(self, body: InboxCommand) -> Self {
        self.send_commands(vec![body])
    }

    /// Returns the next run id: `run-1`, `run-2`, … in order of their prompts.
    pub(crate) fn next_run(&mut self) -> RunId {
        self.runs += 1;
        RunId::from(format!("run-{}", self.runs))
    }

    pub(crate) fn prompt(self, text: &str) -> Self {
        self.prompt_blocks(say(text))
    }

    pub(crate) fn prompt_blocks(mut self, blocks: Vec<ContentBlock>) -> Self {
        let run = self.next_run();
        self.send_command(InboxCommand::prompt(run, blocks))
    }

    pub(crate) fn steer(mut self, text: &str) -> Self {
        let run = self.next_run();
        self.send_command(InboxCommand::Steer { run, blocks: say(text) })
    }

    pub(crate) fn child(self, text: &str) -> Self {
        let child = LaneId::from("conversation:child");
        self.send_command(InboxCommand::ChildFinished {
            child,
            text: Arc::from(text),
            result: None,
        })
    }

    pub(crate) fn cancel(self) -> Self {
        self.send_command(InboxCommand::Cancel { run: None })
    }

    pub(crate) fn cancel_run(self, run: &str) -> Self {
        self.send_command(InboxCommand::Cancel { run: Some(RunId::from(run)) })
    }

    pub(crate) fn abort(self) -> Self {
        self.send_command(InboxCommand::Abort { run: None, partial_reply: None })
    }

    /// Answers the newest question.
    pub(crate) fn answer(self, answer: HumanAnswer) -> Self {
        let question = self.live.question_count;
        self.answer_to(question, answer)
    }

    pub(crate) fn answer_to(self, question: QuestionId, answer: HumanAnswer) -> Self {
        self.send_command(InboxCommand::answer(question, answer))
    }

    pub(crate) fn allow(self) -> Self {
        self.answer(HumanAnswer::allow())
    }

    /// Approves the call at this index of the round, with other arguments.
    pub(crate) fn allow_with_input(self, index: usize, on: &str) -> Self {
        let input = RawJson::encode(&std::collections::BTreeMap::from([("on", on)]));
        self.allow_assessed(index, HumanAnswer::allow().with_changed_input(input))
    }

    /// Answers the newest question about the call at this index of the round; the owner assesses
    /// its arguments.
    pub(crate) fn allow_assessed(self, index: usize, mut answer: HumanAnswer) -> Self {
        let round = self.live.run.as_ref().and_then(Run::round).unwrap();
        let mut changed = round.calls[index].tool_use.clone();
        if let HumanAnswer::Allow { changed_input: Some(of), .. } = &mut answer {
            changed.input = of.input.clone();
            of.facts = Some(Box::new(facts_for(&changed)));
        }
        self.answer(answer)
    }

    pub(crate) fn update_permissions<const N: usize>(self, updates: [PermissionUpdate; N]) -> Self {
        self.send_command(InboxCommand::UpdatePermissions { updates: updates.to_vec() })
    }

    pub(crate) fn set_mode(self, mode: PermissionMode) -> Self {
        self.update_permissions([PermissionUpdate::SetMode { mode }])
    }

    pub(crate) fn set_model(self, change: ModelChange) -> Self {
        self.send_command(InboxCommand::SetModel { change: Arc::new(change) })
    }

    /// Goes back to the messages that the conversation had after entry `at`.
    pub(crate) fn rewind_to(self, at: u64) -> Self {
        let kept: Vec<_> = self.log.iter().filter(|entry| entry.seq <= at).cloned().collect();
        let transcript = Conversation::replay(&kept).unwrap().transcript;
        let messages = transcript.segments().iter().map(HistoryMessage::from).collect();
        let source = HistorySource::Rewound { at, last_message: Arc::from("m1") };
        self.send_command(InboxCommand::ReplaceHistory { messages, source })
    }

    pub(crate) fn deny(self, reason: &str) -> Self {
        self.answer(HumanAnswer::deny(reason))
    }

    /// The model replies to its last call.
    pub(crate) fn reply(self, answer: ReplyBuilder) -> Self {
        let model_call = self.live.model_call_count;
        self.reply_to(model_call, answer)
    }

    pub(crate) fn reply_to(self, model_call: u32, answer: ReplyBuilder) -> Self {
        let facts = answer.0.tool_uses().map(|(_, call)| facts_for(call)).collect();
        self.input(Input::ModelReplied { model_call, reply: Arc::new(answer.0), facts })
    }

    /// A block of the reply is complete while the model still streams.
    pub(crate) fn streams(self, index: u16, block: &ContentBlock) -> Self {
        let tool_use = block.as_tool_use().unwrap().clone();
        let facts = facts_for(&tool_use);
        let model_call = self.live.model_call_count;
        self.input(Input::BlockReady { model_call, index, tool_use, facts })
    }

    pub(crate) fn fails(self, failure: ModelFailure) -> Self {
        let model_call = self.live.model_call_count;
        self.input(Input::ModelFailed { model_call, failure })
    }

    /// Returns the id of the call at this index of the open round.
    pub(crate) fn call(&self, index: usize) -> CallId {
        self.live.run.as_ref().and_then(Run::round).unwrap().calls[index].id
    }

    fn attempt(&self, index: usize) -> u32 {
        self.live.run.as_ref().and_then(Run::round).unwrap().calls[index].attempts
    }

    /// The call at this index of the round returns.
    pub(crate) fn comes_back(self, index: usize, outcome: ToolOutcome) -> Self {
        let (call, attempt, started_at) = (self.call(index), self.attempt(index), self.now);
        self.input(Input::ToolReturned {
            call,
            attempt,
            started_at,
            outcome,
            context: Vec::new(),
            untrusted: Vec::new(),
        })
    }

    /// The call at this index of the round returns, with context from these sources.
    pub(crate) fn returns_with_context(self, index: usize, notes: &[(&str, &str)]) -> Self {
        let (call, attempt, started_at) = (self.call(index), self.attempt(index), self.now);
        let outcome = ToolOutcome::Done(RawJson::string("done"));
        let note = |(source, text): &(&str, &str)| ContextNote {
            source: Arc::from(*source),
            text: Arc::from(*text),
            allows: Vec::new(),
        };
        let context = notes.iter().map(note).collect();
        let untrusted = Vec::new();
        self.input(Input::ToolReturned { call, attempt, started_at, outcome, context, untrusted })
    }

    /// The call at this index of the round returns content that others wrote.
    pub(crate) fn returns_untrusted(self, index: usize, source: ContentSource) -> Self {
        let (call, attempt, started_at) = (self.call(index), self.attempt(index), self.now);
        self.input(Input::ToolReturned {
            call,
            attempt,
            started_at,
            outcome: ToolOutcome::Done(RawJson::string("theirs")),
            context: Vec::new(),
            untrusted: vec![source],
        })
    }

    pub(crate) fn returns(self, index: usize, text: &str) -> Self {
        self.comes_back(index, ToolOutcome::Done(RawJson::string(text)))
    }

    pub(crate) fn errs(self, index: usize, error: ToolError) -> Self {
        self.comes_back(index, ToolOutcome::Failed(error))
    }

    /// The call at this index of the round runs for so long and fails.
    pub(crate) fn errs_after(self, ms: u64, index: usize, error: ToolError) -> Self {
        self.comes_back_after(ms, index, ToolOutcome::Failed(error))
    }

    /// The call returns after some time.
    pub(crate) fn comes_back_after(mut self, ms: u64, index: usize, outcome: ToolOutcome) -> Self {
        let (call, attempt, started_at) = (self.call(index), self.attempt(index), self.now);
        self.now = self.now.plus_ms(ms);
        self.input(Input::ToolReturned {
            call,
            attempt,
            started_at,
            outcome,
            context: Vec::new(),
            untrusted: Vec::new(),
        })
    }

    pub(crate) fn hook(self, index: usize, decision: HookDecision) -> Self {
        let call = self.call(index);
        self.input(Input::HookResponded { call, decision, context: None, stop: None })
    }

    /// A hook responds with context for the model.
    pub(crate) fn hook_saying(self, index: usize, decision: HookDecision, context: &str) -> Self {
        let call = self.call(index);
        let context = Some(Arc::from(context));
        self.input(Input::HookResponded { call, decision, context, stop: None })
    }

    /// A hook used a model.
    pub(crate) fn hook_uses_model(self, input_tokens: u64, output_tokens: u64) -> Self {
        let usage = TokenUsage { input_tokens, output_tokens, ..TokenUsage::default() };
        self.input(Input::HookModelUsed { usage })
    }

    /// A hook responds, and ends the run.
    pub(crate) fn hook_stops(self, index: usize, decision: HookDecision, why: &str) -> Self {
        let (call, stop) = (self.call(index), Some(Arc::from(why)));
        self.input(Input::HookResponded { call, decision, context: None, stop })
    }

    /// The pending review returns.
    pub(crate) fn review_returned(self, result: ReviewResult) -> Self {
        let id = self.live.review_count;
        self.input(Input::ReviewReturned { id, result })
    }

    /// The pending summary returns.
    pub(crate) fn summary(self, text: &str) -> Self {
        let usage = TokenUsage { input_tokens: 100, output_tokens: 20, ..TokenUsage::default() };
        self.review_returned(ReviewResult::ModelText { text: Arc::from(text), usage })
    }

    /// A classifier returns its result for a call.
    pub(crate) fn classify(self, index: usize, classification: Classification) -> Self {
        let call = self.call(index);
        let usage = TokenUsage { input_tokens: 50, output_tokens: 1, ..TokenUsage::default() };
        self.input(Input::CallClassified { call, classification, usage })
    }

    /// A child of the call at this index returns.
    pub(crate) fn child_returns(self, index: usize, part: u16, text: &str) -> Self {
        let result = child_result(self.call(index), part, ChildOutcome::Answered);
        self.deliver_child_result(result, text)
    }

    /// A sub-agent result arrives, whether a call waits for it or not.
    pub(crate) fn deliver_child_result(self, result: ChildResult, text: &str) -> Self {
        let child = child_lane(&LaneId::from("conversation:1"), result.call, result.part);
        self.send_command(InboxCommand::ChildFinished {
            child,
            text: Arc::from(text),
            result: Some(result),
        })
    }

    pub(crate) fn compact(self) -> Self {
        self.send_command(InboxCommand::Compact { instructions: None, run: None })
    }

    pub(crate) fn compact_with_instructions(self, wishes: &str) -> Self {
        self.send_command(InboxCommand::Compact {
            instructions: Some(Arc::from(wishes)),
            run: None,
        })
    }

    /// Requests a run that compacts and does nothing else.
    pub(crate) fn compact_now(mut self, wishes: &str) -> Self {
        let run = Some(self.next_run());
        let instructions = (!wishes.is_empty()).then(|| Arc::from(wishes));
        self.send_command(InboxCommand::Compact { instructions, run })
    }

    pub(crate) fn remember(self, text: &str) -> Self {
        self.send_command(InboxCommand::Memory { text: Arc::from(text) })
    }

    pub(crate) fn probe(self, index: usize, result: ProbeResult) -> Self {
        let call = self.call(index);
        self.input(Input::CallProbed { call, result })
    }

    /// Time passes without a timer.
    pub(crate) fn later(mut self, ms: u64) -> Self {
        self.now = self.now.plus_ms(ms);
        self
    }

    /// Time passes and the timer fires.
    pub(crate) fn wait(mut self, ms: u64) -> Self {
        self.now = self.now.plus_ms(ms);
        self.input(Input::TimerFired {})
    }

    /// Time passes until the next timer fires.
    pub(crate) fn wake(mut self) -> Self {
        let due = wanted(&self.live).wake_at.expect("nothing is waited for");
        self.now = UnixMillis(due.0.saturating_sub(1)).max(self.now);
        self.input(Input::TimerFired {})
    }

    /// The process dies: volatile state is lost.
    pub(crate) fn crash(mut self) -> Self {
        self.live = Conversation::replay(&self.log).unwrap();
        self
    }

    /// The process dies and a new owner with the same prompt claims the lane.
    pub(crate) fn owner_changes(self) -> Self {
        let hash = self.live.prompt_hash.clone().unwrap();
        self.owner_changes_with_hash(&hash)
    }

    /// The process dies and a new owner with this prompt claims the lane.
    pub(crate) fn owner_changes_with_hash(mut self, hash: &str) -> Self {
        self.epoch += 1;
        let epoch = self.epoch;
        self.crash().input(Input::OwnerChanged {
            epoch,
            prompt_hash: Arc::from(hash),
            prompt_fingerprint: None,
            settings: None,
        })
    }

    /// The process dies and a new owner with these settings claims the lane.
    pub(crate) fn owner_changes_with_settings(mut self, settings: &Settings) -> Self {
        self.epoch += 1;
        let (epoch, prompt_fingerprint) = (self.epoch, Some(settings.prompt_fingerprint()));
        self.crash().input(Input::OwnerChanged {
            epoch,
            prompt_hash: settings.prompt_hash(),
            prompt_fingerprint,
            settings: None,
        })
    }

    pub(crate) fn fork(self, parent: &str) -> Self {
        let at = self.live.head;
        self.input(Input::Forked { parent: LaneId::from(parent), at })
    }
}
