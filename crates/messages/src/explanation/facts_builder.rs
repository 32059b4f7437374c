//! Reads the entries of a conversation and collects the facts about one of its runs.

use std::collections::HashMap;
use std::sync::Arc;

use windlass_core::apply::apply;
use windlass_core::call::call_state::CallState;
use windlass_core::log::entry::{Entry, LogError};
use windlass_core::log::ids::{CallId, InboxMessageId, LaneId, ModelCallId, RunId};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::log::input::{FailureClass, Input};
use windlass_core::log::record::{AbandonCause, Record};
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::reply::TruncatedBlock;
use windlass_core::permission::{
    CallSubject, DenialSource, HookPreference, PermissionDecision, RuleDecision, ShellCommand,
    SimpleCommand,
};
use windlass_core::run::child_runs::{ChildOutcome, child_lane};
use windlass_core::run::conversation::Conversation;
use windlass_core::settings::conversation_settings::Settings;

use super::cache_use::{CachedCall, ChangesBetweenCalls, ModelCallUse, find_miss};
use super::call_log::{CallDenial, CallLog, CallVerdict};
use super::context_use::measure_context;
use super::excerpt::TextExcerpt;
use super::schema_conflicts::find_schema_conflicts;
use super::{CutCall, RunFacts, SubAgentFact, SubAgentState};

/// Model calls and entries that are listed one by one.
const MAX_LISTED: usize = 2_000;

/// Collects the facts about one run. All entries of its conversation go in, in order, from the
/// first: what happened before the run decides what its prompt cache had.
pub struct RunFactsBuilder {
    run: RunId,
    lane: LaneId,
    now: Conversation,
    facts: RunFacts,
    calls: CallLog,
    verdicts: HashMap<CallId, CallVerdict>,
    last_call: Option<CachedCall>,
    changes: ChangesBetweenCalls,
    /// The settings of the last model call: what differs from them breaks the cache.
    last_settings: Option<Arc<Settings>>,
    state_before_end: Option<Conversation>,
    answer: Option<TextExcerpt>,
}

impl RunFactsBuilder {
    /// Creates the builder for a run of the conversation on `lane`.
    #[must_use]
    pub fn new(lane: LaneId, run: RunId) -> Self {
        Self {
            run,
            lane,
            now: Conversation::default(),
            facts: RunFacts::default(),
            calls: CallLog::default(),
            verdicts: HashMap::new(),
            last_call: None,
            changes: ChangesBetweenCalls::default(),
            last_settings: None,
            state_before_end: None,
            answer: None,
        }
    }

    /// Reads the next entry of the conversation.
    ///
    /// # Errors
    ///
    /// Returns an error if the entry does not continue the log.
    pub fn push(&mut self, entry: &Entry) -> Result<(), LogError> {
        // Head and time belong to the entry; its records are applied one by one.
        let (seq, at, input) = (entry.seq, entry.at, entry.input.clone());
        self.now.fold(&Entry { seq, at, input, records: Vec::new() })?;
        for record in &entry.records {
            self.observe_before(entry, record);
            apply(&mut self.now, entry.at, &entry.input, record);
            self.observe_cache(entry, record);
            if self.is_own(record) {
                self.observe_after(entry, record);
            }
        }
        Ok(())
    }

    /// Returns what is known about the run.
    #[must_use]
    pub fn finish(mut self) -> RunFacts {
        let is_active = self.now.run.as_ref().is_some_and(|run| run.id == self.run);
        let end = self.state_before_end.as_ref().unwrap_or(&self.now);
        self.facts.context = measure_context(end);
        self.facts.schema_conflicts = answer_schema_conflicts(end);
        if is_active {
            let waiting = self.now.prompt_queue.iter();
            self.facts.waiting_prompts =
                waiting.map(|queued| TextExcerpt::new(&blocks_text(&queued.blocks))).collect();
        }
        (self.facts.failed_calls, self.facts.repeated_call) = self.calls.finish();
        self.facts.answer = self.answer.filter(|answer| !answer.is_empty());
        self.facts
    }

    fn is_own(&self, record: &Record) -> bool {
        if let Record::RunFinished { run, .. } = record {
            return *run == self.run;
        }
        self.now.run.as_ref().is_some_and(|run| run.id == self.run)
    }

    fn observe_before(&mut self, entry: &Entry, record: &Record) {
        match record {
            Record::RunStarted { run } if *run == self.run => {
                let queued = self.now.prompt_queue.iter().find(|queued| queued.run == self.run);
                self.facts.prompt =
                    queued.map(|queued| TextExcerpt::new(&blocks_text(&queued.blocks)));
            }
            Record::RunFinished { run, .. } if *run == self.run => {
                self.state_before_end = Some(self.now.clone());
            }
            Record::PermissionDecided { call, verdict } => self.note_verdict(*call, verdict),
            Record::ModelCallAbandoned { cause, .. } if self.is_own(record) => {
                self.lose_attempt(entry, cause);
            }
            _ => {}
        }
    }

    fn lose_attempt(&mut self, entry: &Entry, cause: &AbandonCause) {
        let lost = &mut self.facts.lost_attempts;
        lost.count = lost.count.saturating_add(1);
        if let Input::ModelFailed { failure, .. } = &entry.input {
            lost.cut_streams += u32::from(failure.class == FailureClass::StreamCut);
        }
        lost.last_error = Some(TextExcerpt::first_line(cause.as_str()));
        lost.entries.push(entry.seq);
        lost.entries.truncate(MAX_LISTED);
    }

    fn observe_after(&mut self, entry: &Entry, record: &Record) {
        match record {
            Record::ModelCallAbandoned { charged, .. } => {
                let tokens = charged.total_tokens();
                let price = self.now.active_settings().and_then(|settings| settings.model.price);
                let lost = &mut self.facts.lost_attempts;
                lost.estimated_tokens = lost.estimated_tokens.saturating_add(tokens);
                let cost = price.map_or(0, |price| price.cost_of(charged));
                lost.estimated_usd_micros = lost.estimated_usd_micros.saturating_add(cost);
            }
            Record::ModelReplied { .. } => self.observe_cut_call(entry),
            Record::ResultFinalized { call, .. } => self.add_result(entry, *call),
            Record::ChildrenSpawned { call, from, to, .. } => {
                (*from..*to).for_each(|part| self.start_child(entry, *call, part));
            }
            Record::ChildResultReceived { message } => self.end_child(entry, *message),
            Record::RunFinished { .. } => {
                let ended = self.now.last_run_end.as_ref();
                self.answer = ended.map(|ended| TextExcerpt::new(&ended.text));
            }
            _ => {}
        }
    }

    fn observe_cut_call(&mut self, entry: &Entry) {
        let Input::ModelReplied { reply, .. } = &entry.input else { return };
        if let Some(cut) = &reply.truncated_block {
            self.facts.cut_calls.push(cut_call(cut, entry.seq));
            self.facts.cut_calls.truncate(MAX_LISTED);
        }
    }

    fn add_result(&mut self, entry: &Entry, id: CallId) {
        if let Some(call) =
            self.now.call(id).filter(|it| matches!(it.state, CallState::Finished(_)))
        {
            let verdict = self.verdicts.remove(&id).unwrap_or_default();
            self.calls.add_result(call, entry.seq, entry.at, verdict);
        }
    }

    /// Notes why a call may not run by itself.
    fn note_verdict(&mut self, id: CallId, verdict: &PermissionDecision) {
        let denied_by = match verdict {
            PermissionDecision::Deny { by, reason } => Some(call_denial(*by, reason)),
            PermissionDecision::Ask { .. } => None,
            PermissionDecision::Allow { .. } | PermissionDecision::Classify {} => return,
        };
        let known = self.verdicts.remove(&id).unwrap_or_default();
        let uncovered_parts = match known.uncovered_parts.is_empty() {
            true => self.find_uncovered(id),
            false => known.uncovered_parts,
        };
        self.verdicts.insert(id, CallVerdict { denied_by, uncovered_parts });
    }

    /// Finds the parts of a compound command that no rule allows by itself.
    fn find_uncovered(&self, id: CallId) -> Vec<String> {
        let Some(call) = self.now.call(id) else { return Vec::new() };
        let (CallSubject::Shell(shell), Some(settings)) =
            (&call.facts.subject, self.now.active_settings())
        else {
            return Vec::new();
        };
        if shell.commands.len() < 2 {
            return Vec::new();
        }
        let is_covered = |command: &SimpleCommand| {
            let mut facts = (*call.facts).clone();
            facts.subject = CallSubject::Shell(Box::new(ShellCommand {
                folder: shell.folder.clone(),
                commands: vec![command.clone()],
                ..ShellCommand::default()
            }));
            let (tool, preference) = (&call.tool_use.name, HookPreference::default());
            let query = facts.permission_query(tool, &self.now.grants, preference);
            matches!(settings.rules.evaluate_rules(query), RuleDecision::Allow(_))
        };
        let open = shell.commands.iter().filter(|command| !is_covered(command));
        open.map(|command| command.words.join(" ")).collect()
    }

    fn start_child(&mut self, entry: &Entry, call: CallId, part: u16) {
        let found = self.now.call(call);
        let task = found.and_then(|call| call.facts.children.get(usize::from(part)));
        self.facts.sub_agents.push(SubAgentFact {
            conversation: child_lane(&self.lane, call, part).to_string(),
            task: task.map(|task| TextExcerpt::new(&task.prompt)).unwrap_or_default(),
            state: SubAgentState::Working,
            result: None,
            cause: None,
            entry: entry.seq,
        });
        self.facts.sub_agents.truncate(MAX_LISTED);
    }

    fn end_child(&mut self, entry: &Entry, message: InboxMessageId) {
        let Input::CommandsReceived { messages } = &entry.input else { return };
        let found = messages.iter().find(|candidate| candidate.id == message);
        let Some(InboxCommand::ChildFinished { child, text, result: Some(result) }) =
            found.map(|found| &found.body)
        else {
            return;
        };
        let known = self.facts.sub_agents.iter_mut();
        for agent in known.filter(|agent| agent.conversation == child.as_str()) {
            agent.state = match result.ending {
                ChildOutcome::Answered => SubAgentState::Answered,
                ChildOutcome::Failed => SubAgentState::Failed,
            };
            agent.result = Some(TextExcerpt::new(text));
            agent.entry = entry.seq;
        }
    }

    /// What matters for the prompt cache, whichever run of the conversation it belongs to.
    fn observe_cache(&mut self, entry: &Entry, record: &Record) {
        match record {
            Record::Compacted { .. } | Record::Pruned { .. } => self.changes.is_compacted = true,
            Record::HistoryReplaced { .. } | Record::Forked { .. } => {
                self.changes.is_history_replaced = true;
            }
            Record::ModelReplied { model_call, .. } => self.count_model_call(entry, *model_call),
            _ => {}
        }
    }

    fn count_model_call(&mut self, entry: &Entry, model_call: ModelCallId) {
        let Input::ModelReplied { reply, .. } = &entry.input else { return };
        let Some(settings) = self.now.active_settings() else { return };
        if let Some(before) = &self.last_settings {
            self.changes.has_other_system |= before.system != settings.system;
            self.changes.has_other_tools |= before.tools != settings.tools;
        }
        let name = self.now.active_model().map_or(&settings.model.name, |model| &model.name);
        let call = CachedCall { at: entry.at, model: name.to_string(), usage: reply.usage };
        let price = settings.model.price;
        let miss = self.last_call.as_ref().and_then(|before| {
            find_miss(before, &call, self.changes, settings.cache, price.as_ref())
        });
        if self.now.run.as_ref().is_some_and(|run| run.id == self.run)
            && self.facts.model_calls.len() < MAX_LISTED
        {
            self.facts.model_calls.push(ModelCallUse {
                model_call,
                at_ms: entry.at.0,
                model: call.model.clone(),
                input_tokens: call.usage.input_tokens,
                cache_read_tokens: call.usage.cache_read_tokens,
                cache_write_tokens: call.usage.cache_write_tokens,
                output_tokens: call.usage.output_tokens,
                usd_micros: price.map(|price| price.cost_of(&call.usage)),
                cache_miss: miss,
                entry: entry.seq,
            });
        }
        self.last_call = Some(call);
        self.changes = ChangesBetweenCalls::default();
        self.last_settings = Some(settings);
    }
}

fn call_denial(by: DenialSource, reason: &str) -> CallDenial {
    let name = serde_json::to_value(by).unwrap_or_default();
    let rule = reason.strip_prefix("the rule ").and_then(|rest| rest.strip_suffix(" denies it"));
    CallDenial {
        by: name.as_str().unwrap_or_default().to_owned(),
        rule: rule.map(str::to_owned),
        source: None,
    }
}

fn blocks_text(blocks: &[ContentBlock]) -> String {
    blocks.iter().filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("\n")
}

fn cut_call(cut: &TruncatedBlock, entry: u64) -> CutCall {
    CutCall {
        tool: cut.name.to_string(),
        path: cut_argument(&cut.partial, "file_path")
            .or_else(|| cut_argument(&cut.partial, "path")),
        received_chars: cut.partial.chars().count() as u64,
        entry,
    }
}

/// An argument of a JSON object whose end is missing.
fn cut_argument(partial: &str, name: &str) -> Option<String> {
    let (_, rest) = partial.split_once(&format!("\"{name}\""))?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start();
    let mut values = serde_json::Deserializer::from_str(value).into_iter::<String>();
    values.next()?.ok()
}

fn answer_schema_conflicts(now: &Conversation) -> Vec<String> {
    let find = || {
        let settings = now.active_settings()?;
        let tool = &settings.output.as_ref()?.tool;
        let spec = settings.tools.iter().find(|spec| spec.name == *tool)?;
        Some(find_schema_conflicts(&spec.input_schema.read().ok()?))
    };
    find().unwrap_or_default()
}
