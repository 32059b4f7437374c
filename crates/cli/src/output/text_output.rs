//! Text output of a run: the answer on standard output, progress on standard error.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal, Write};

use windlass::core::log::entry::Entry;
use windlass::core::log::ids::CallId;
use windlass::core::log::input::Input;
use windlass::core::log::record::{Record, RecordedResult};
use windlass::core::permission::PermissionDecision;
use windlass::core::projection::limit_reached;
use windlass::core::run::active_run::Run;
use windlass::core::run::conversation::{Conversation, RunEnd};
use windlass::ports::CallProgress;
use windlass::tools::DiffHunk;
use windlass::{RunOutcome, Session, StreamItem};

use super::answer_text::{AnswerText, ReplyRole};
use super::diff_view;
use super::live_tail::LiveTail;
use super::parked_run::ParkedRun;
use super::retry_timeout::RetryTimeout;
use super::spinner::Spinner;
use crate::exit::ExitReason;
use crate::messages::{self, MessageContext, MessageStyle, RecordSource, error_message};
use crate::terminal::{Color, ColorSupport, sanitize_text};

/// The text output of one run.
pub(super) struct TextOutput {
    answer: AnswerText,
    thinking: bool,
    verbose: bool,
    spinner: Option<Spinner>,
    calls: CallTracker,
    /// Whether a question was asked at the terminal.
    paused: bool,
    colours: ColorSupport,
}

/// Returns whether a progress line is drawn on standard error.
pub(crate) fn shows_progress_line() -> bool {
    io::stderr().is_terminal() && ColorSupport::of_stderr() == ColorSupport::Enabled
}

/// The numbers of the limit that ended the run, unless the next run has started: then the
/// conversation has that run's numbers.
pub(crate) fn reached_limit(ended: &RunEnd, now: &Conversation) -> Option<String> {
    let is_last =
        now.run.is_none() && now.last_run_end.as_ref().is_some_and(|end| end.run == ended.run);
    if is_last { limit_reached(now, ended.cause) } else { None }
}

/// The known calls of the run.
#[derive(Default)]
struct CallTracker {
    names: BTreeMap<CallId, String>,
    /// Calls that sub-agents answer.
    sub_agent_calls: BTreeSet<CallId>,
    /// Running calls, with the last lines that they printed.
    running: BTreeMap<CallId, LiveTail>,
    /// Calls whose end was printed already.
    reported: BTreeSet<CallId>,
    /// Task lists that calls wrote.
    tasks: BTreeMap<CallId, Vec<String>>,
}

impl TextOutput {
    pub(super) fn new(verbose: bool) -> Self {
        Self {
            answer: AnswerText::new(),
            thinking: false,
            verbose,
            spinner: shows_progress_line().then(Spinner::new),
            calls: CallTracker::default(),
            paused: false,
            colours: ColorSupport::of_stderr(),
        }
    }

    /// Adds the calls that were open before the output started.
    pub(super) fn with_open_calls(mut self, before: &Conversation) -> Self {
        let round = before.run.as_ref().and_then(Run::round);
        for call in round.into_iter().flat_map(|round| &round.calls) {
            self.calls.names.insert(call.id, messages::call_line(&call.tool_use));
        }
        self
    }

    /// Makes this the output of a run that another prompt started.
    pub(super) fn for_other_prompt(mut self) -> Self {
        self.answer = AnswerText::for_other_prompt();
        self
    }

    pub(super) fn has_spinner(&self) -> bool {
        self.spinner.is_some()
    }

    pub(super) fn draw(&mut self) {
        // Never in the middle of a line of text.
        if self.answer.has_open_line() || self.thinking {
            return;
        }
        if let Some(spinner) = &mut self.spinner {
            spinner.draw(&self.calls.running_line(), self.calls.running_tail());
        }
    }

    pub(super) fn pause(&mut self) {
        self.paused = true;
        self.clear_spinner();
        let _ = self.end_line();
    }

    /// Ends an open line of the model's text before something else is printed. The text may
    /// continue.
    pub(super) fn begin_line(&mut self) {
        self.clear_spinner();
        let _ = self.end_thinking();
        if self.answer.has_open_line() {
            let _ = writeln!(io::stderr());
        }
    }

    /// Prints a line that is not about the run. A reader that went away is handled elsewhere.
    pub(super) fn print_note(&mut self, text: &str) {
        self.clear_spinner();
        let _ = self.end_line();
        let _ = writeln!(io::stderr(), "{}", self.colours.paint(Color::Dim, &sanitize_text(text)));
    }

    fn clear_spinner(&mut self) {
        if let Some(spinner) = &mut self.spinner {
            spinner.clear();
        }
    }

    pub(super) fn on_item(&mut self, item: &StreamItem, patience: &RetryTimeout) -> io::Result<()> {
        match item {
            StreamItem::TextDelta { model_call, text } => {
                self.clear_spinner();
                self.end_thinking()?;
                self.answer.push_piece(*model_call, text)
            }
            StreamItem::ThinkingDelta { text, .. } => self.print_thinking(text),
            StreamItem::Entry(entry) => self.print_entry(entry, patience),
            StreamItem::HookMessage(message) => {
                self.print_note(&messages::hook_message(message));
                Ok(())
            }
            StreamItem::CallProgress { call, progress, .. } => {
                self.calls.push_output(*call, progress);
                Ok(())
            }
            StreamItem::RunEnded(_)
            | StreamItem::ReplyEvent { .. }
            | StreamItem::CallSummary { .. } => Ok(()),
        }
    }

    /// Prints thinking dimmed, and only at a terminal.
    fn print_thinking(&mut self, chunk: &str) -> io::Result<()> {
        if self.spinner.is_none() && !self.verbose {
            return Ok(());
        }
        self.clear_spinner();
        self.thinking = true;
        let mut err = io::stderr().lock();
        err.write_all(self.colours.paint(Color::Dim, &sanitize_text(chunk)).as_bytes())?;
        err.flush()
    }

    fn end_thinking(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.thinking) {
            writeln!(io::stderr())?;
        }
        Ok(())
    }

    /// Prints one line per event worth knowing, on standard error.
    fn print_entry(&mut self, entry: &Entry, patience: &RetryTimeout) -> io::Result<()> {
        self.clear_spinner();
        self.track_reply(entry);
        let mut last = None;
        for record in &entry.records {
            self.resolve_reply_text(entry, record)?;
            let about = self.record_line(entry, record, patience);
            // A repeated line is left out.
            let about = about.filter(|about| last.as_ref() != Some(about));
            if let Some(about) = about {
                self.end_line()?;
                writeln!(
                    io::stderr(),
                    "{}",
                    self.colours.paint(Color::Dim, &sanitize_text(&about))
                )?;
                last = Some(about);
            }
            if let Record::CallReturned { call } = record {
                self.print_diff(&entry.input)?;
                self.print_task_list(*call)?;
            }
        }
        Ok(())
    }

    /// Decides about the text of a reply: it is kept or discarded.
    fn resolve_reply_text(&mut self, entry: &Entry, record: &Record) -> io::Result<()> {
        let kept = match record {
            Record::ReplyKept {} => ReplyRole::Answer,
            Record::RoundOpened { .. } => ReplyRole::Progress,
            Record::ReplyDropped { .. } | Record::ModelCallAbandoned { .. } => {
                self.end_thinking()?;
                return self.answer.discard();
            }
            Record::AnswerRejected { .. } => {
                self.answer.clear_parts();
                return Ok(());
            }
            Record::RunFinished { .. } => {
                self.answer.end_run();
                return Ok(());
            }
            _ => return Ok(()),
        };
        match &entry.input {
            Input::ModelReplied { model_call, reply, .. } => {
                self.end_thinking()?;
                self.answer.keep_reply(*model_call, &reply.text(), kept)
            }
            _ => Ok(()),
        }
    }

    /// Prints the diff of a file change, at a terminal.
    fn print_diff(&self, input: &Input) -> io::Result<()> {
        let Input::ToolReturned { outcome, .. } = input else { return Ok(()) };
        let detail = outcome.detail().filter(|_| self.verbose || io::stderr().is_terminal());
        let hunks = detail.and_then(|detail| detail.read::<Vec<DiffHunk>>().ok());
        let lines = diff_view::diff_lines(&hunks.unwrap_or_default(), self.colours);
        lines.iter().try_for_each(|line| writeln!(io::stderr(), "{line}"))
    }

    /// Prints the task list that a call wrote.
    fn print_task_list(&mut self, call: CallId) -> io::Result<()> {
        let tasks = self.calls.tasks.remove(&call).unwrap_or_default();
        tasks.iter().try_for_each(|task| {
            writeln!(io::stderr(), "{}", self.colours.paint(Color::Dim, &sanitize_text(task)))
        })
    }

    fn record_line(
        &mut self,
        entry: &Entry,
        record: &Record,
        patience: &RetryTimeout,
    ) -> Option<String> {
        match record {
            // Not an interruption: the run waited for its sub-agents or for the person here.
            Record::OwnerChanged { .. }
                if std::mem::take(&mut self.paused) || !self.calls.sub_agent_calls.is_empty() =>
            {
                return None;
            }
            Record::ResultFinalized { call, result } => {
                return self.calls.finish_call(*call, result);
            }
            _ => self.calls.observe(record),
        }
        let (names, retry) = (&self.calls.names, patience.retry_note(entry));
        let source = RecordSource::Live { names, retry };
        let context = MessageContext { entry, record, source };
        messages::record_message(MessageStyle::Live, &context).map(|message| message.text)
    }

    fn track_reply(&mut self, entry: &Entry) {
        if let Input::ModelReplied { model_call, reply, .. } = &entry.input {
            if let Some(spinner) = &mut self.spinner {
                spinner.add_tokens(reply.usage.total_tokens());
            }
            for (index, call) in reply.tool_uses() {
                let id = CallId { model_call: *model_call, index };
                self.calls.names.insert(id, messages::call_line(call));
                if &*call.name == "TodoWrite" {
                    self.calls.tasks.insert(id, messages::task_lines(&call.input));
                }
            }
        }
    }

    /// Ends an open line of text before anything else is printed.
    fn end_line(&mut self) -> io::Result<()> {
        self.end_thinking()?;
        self.answer.end_line()
    }

    pub(super) async fn finish(
        &mut self,
        end: &RunOutcome,
        parked: &ParkedRun,
        session: &Session,
    ) -> anyhow::Result<()> {
        self.clear_spinner();
        self.end_thinking()?;
        self.answer.discard()?;
        self.end_line()?;
        match end {
            RunOutcome::Finished(ended) if ExitReason::from_outcome(end).is_success() => {
                self.answer.finish(&ended.text)?;
            }
            // The text of a run without an answer is not an answer.
            RunOutcome::Finished(ended) => self.answer.finish_without(&ended.text)?,
            RunOutcome::Parked(_) | RunOutcome::Rejected(_) | RunOutcome::HandedOver => {}
        }
        let sentence = match end {
            RunOutcome::Parked(_) => {
                let texts = parked.texts().into_iter().map(|text| format!("windlass: {text}"));
                Some(texts.collect::<Vec<_>>().join("\n"))
            }
            RunOutcome::Finished(ended) => {
                let limit = reached_limit(ended, &session.load_conversation().await?);
                messages::stopped(ended, limit.as_deref(), session.lane())
            }
            RunOutcome::Rejected(_) | RunOutcome::HandedOver => {
                messages::not_finished(end, session.lane())
            }
        };
        if let Some(sentence) = sentence {
            writeln!(io::stderr(), "{}", sanitize_text(&sentence))?;
        }
        if let RunOutcome::Finished(ended) = end
            && ExitReason::from_outcome(end) == ExitReason::Failure
        {
            let now = session.load_conversation().await?;
            for line in messages::handoff_lines(ended.cause, &now.journal, session.lane()) {
                writeln!(io::stderr(), "{}", sanitize_text(&line))?;
            }
        }
        Ok(())
    }

    /// Ends the output of a run whose model stayed unreachable.
    pub(super) fn finish_unreachable(&mut self, text: &str) -> anyhow::Result<()> {
        self.clear_spinner();
        self.answer.discard()?;
        self.end_line()?;
        Ok(writeln!(io::stderr(), "windlass: {}", sanitize_text(text))?)
    }
}

impl CallTracker {
    /// The running calls, as one line.
    fn running_line(&self) -> String {
        let mut names = self.running.keys().filter_map(|call| self.names.get(call));
        let Some(first) = names.next() else { return String::new() };
        messages::running_calls(first, names.count())
    }

    /// The last lines that a running call printed.
    fn running_tail(&self) -> Vec<&str> {
        let mut tails = self.running.values().map(|tail| tail.lines().collect::<Vec<_>>());
        tails.find(|lines| !lines.is_empty()).unwrap_or_default()
    }

    /// Takes what a running call has printed.
    fn push_output(&mut self, call: CallId, progress: &CallProgress) {
        if let Some(tail) = self.running.get_mut(&call) {
            tail.push(progress);
        }
    }

    fn observe(&mut self, record: &Record) {
        match record {
            Record::ChildrenSpawned { call, .. } => {
                self.sub_agent_calls.insert(*call);
            }
            Record::PermissionDecided { call, verdict: PermissionDecision::Allow { .. } }
            | Record::CallStarted { call } => {
                self.running.entry(*call).or_default();
            }
            Record::PermissionDecided { call, verdict: PermissionDecision::Deny { .. } }
            | Record::CallReturned { call }
            | Record::CallLost { call } => {
                self.running.remove(call);
                self.reported.insert(*call);
            }
            Record::CallRetryScheduled { call, .. } => {
                self.running.remove(call);
            }
            Record::RoundOpened { .. } | Record::RoundClosed {} => self.running.clear(),
            _ => {}
        }
    }

    /// The line of a call that ends without a result of its tool.
    fn finish_call(&mut self, call: CallId, shown: &RecordedResult) -> Option<String> {
        self.running.remove(&call);
        let name = self.names.get(&call)?;
        if self.sub_agent_calls.remove(&call) {
            return Some(messages::sub_agent_finished(name));
        }
        match shown {
            RecordedResult::Replaced(result) if !self.reported.contains(&call) => {
                messages::call_without_result(name, result.kind, &error_message(result))
            }
            RecordedResult::Replaced(_) | RecordedResult::Unchanged {} => None,
        }
    }
}
