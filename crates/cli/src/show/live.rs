//! The run as text, live: the answer on standard output, what is done on standard error.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal, Write};

use windlass::core::conversation::{Conversation, Ended};
use windlass::core::ids::CallId;
use windlass::core::input::Input;
use windlass::core::log::Entry;
use windlass::core::permission::Verdict;
use windlass::core::project::limit_reached;
use windlass::core::record::{Record, Settlement};
use windlass::core::run::Run;
use windlass::tools::Hunk;
use windlass::{End, Item, Session};

use super::answer::{AnswerText, Role};
use super::changes;
use super::patience::Patience;
use super::spinner::Spinner;
use super::terminal::{Colours, Style, harmless};
use crate::exit::Exit;
use crate::look::words::reason;
use crate::{present, words};

/// A run being shown.
pub(super) struct Live {
    answer: AnswerText,
    thinking: bool,
    verbose: bool,
    spinner: Option<Spinner>,
    calls: Calls,
    /// Somebody at the terminal was asked.
    paused: bool,
    colours: Colours,
}

/// The numbers of the limit that ended the run, unless the next run has begun: then the conversation
/// knows that one's.
fn reached_limit(ended: &Ended, now: &Conversation) -> Option<String> {
    let is_last =
        now.run.is_none() && now.last_end.as_ref().is_some_and(|end| end.run == ended.run);
    if is_last { limit_reached(now, ended.cause) } else { None }
}

/// The calls that are known.
#[derive(Default)]
struct Calls {
    names: BTreeMap<CallId, String>,
    /// Calls that children answer.
    handed: BTreeSet<CallId>,
    /// Calls that run.
    running: BTreeSet<CallId>,
    /// Calls whose end has a line already.
    told: BTreeSet<CallId>,
    /// Lists of tasks that calls keep.
    tasks: BTreeMap<CallId, Vec<String>>,
}

impl Live {
    pub(super) fn new(verbose: bool) -> Self {
        let drawn = io::stderr().is_terminal() && Colours::of_stderr() == Colours::Shown;
        Self {
            answer: AnswerText::new(),
            thinking: false,
            verbose,
            spinner: drawn.then(Spinner::new),
            calls: Calls::default(),
            paused: false,
            colours: Colours::of_stderr(),
        }
    }

    /// The same, knowing the calls that were open before.
    pub(super) fn after(mut self, before: &Conversation) -> Self {
        let round = before.run.as_ref().and_then(Run::round);
        for call in round.into_iter().flat_map(|round| &round.calls) {
            self.calls.names.insert(call.id, words::call(&call.tool_use));
        }
        self
    }

    /// The same for a run whose answer nobody asked this process for.
    pub(super) fn of_another_prompt(mut self) -> Self {
        self.answer = AnswerText::of_another_prompt();
        self
    }

    pub(super) fn is_drawn(&self) -> bool {
        self.spinner.is_some()
    }

    pub(super) fn draw(&mut self) {
        // Never in the middle of a line of text.
        if self.answer.is_open() || self.thinking {
            return;
        }
        if let Some(spinner) = &mut self.spinner {
            spinner.draw(&self.calls.running());
        }
    }

    pub(super) fn pause(&mut self) {
        self.paused = true;
        self.clear();
        let _ = self.end_line();
    }

    /// What is said next does not stand behind what the model says. That may go on.
    pub(super) fn begin_line(&mut self) {
        self.clear();
        let _ = self.end_thoughts();
        if self.answer.is_open() {
            let _ = writeln!(io::stderr());
        }
    }

    /// A line that is not about the run. A reader that went away is told of elsewhere.
    pub(super) fn say(&mut self, text: &str) {
        self.clear();
        let _ = self.end_line();
        let _ = writeln!(io::stderr(), "{}", self.colours.paint(Style::Dim, &harmless(text)));
    }

    fn clear(&mut self) {
        if let Some(spinner) = &mut self.spinner {
            spinner.clear();
        }
    }

    pub(super) fn show(&mut self, item: &Item, patience: &Patience) -> io::Result<()> {
        match item {
            Item::Text { ask, piece } => {
                self.clear();
                self.end_thoughts()?;
                self.answer.piece(*ask, piece)
            }
            Item::Thinking { piece, .. } => self.think(piece),
            Item::Entry(entry) => self.about(entry, patience),
            Item::Ended(_) => Ok(()),
        }
    }

    /// Thoughts are dimmed, and only for people who watch.
    fn think(&mut self, piece: &str) -> io::Result<()> {
        if self.spinner.is_none() && !self.verbose {
            return Ok(());
        }
        self.clear();
        self.thinking = true;
        let mut err = io::stderr().lock();
        err.write_all(self.colours.paint(Style::Dim, &harmless(piece)).as_bytes())?;
        err.flush()
    }

    fn end_thoughts(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.thinking) {
            writeln!(io::stderr())?;
        }
        Ok(())
    }

    /// One line per thing worth knowing, on standard error.
    fn about(&mut self, entry: &Entry, patience: &Patience) -> io::Result<()> {
        self.clear();
        self.learn(entry);
        let mut last = None;
        for record in &entry.records {
            self.settle_text(entry, record)?;
            let about = self.sentence(entry, record, patience);
            // Saying it twice would say no more.
            let about = about.filter(|about| last.as_ref() != Some(about));
            if let Some(about) = about {
                self.end_line()?;
                writeln!(io::stderr(), "{}", self.colours.paint(Style::Dim, &harmless(&about)))?;
                last = Some(about);
            }
            if let Record::Completed { call } = record {
                self.changed(&entry.input)?;
                self.task_list(*call)?;
            }
        }
        Ok(())
    }

    /// What becomes of the text of a reply: it counts, or it is thrown away.
    fn settle_text(&mut self, entry: &Entry, record: &Record) -> io::Result<()> {
        let kept = match record {
            Record::ReplyKept {} => Role::Answer,
            Record::RoundOpened { .. } => Role::Progress,
            Record::ReplyDropped { .. } | Record::AttemptAbandoned { .. } => {
                self.end_thoughts()?;
                return self.answer.discard();
            }
            Record::Rejected { .. } => {
                self.answer.begin_anew();
                return Ok(());
            }
            Record::Finished { .. } => {
                self.answer.end_run();
                return Ok(());
            }
            _ => return Ok(()),
        };
        match &entry.input {
            Input::Replied { ask, reply, .. } => {
                self.end_thoughts()?;
                self.answer.keep(*ask, &reply.text(), kept)
            }
            _ => Ok(()),
        }
    }

    /// What a change took and brought, for people who watch.
    fn changed(&self, input: &Input) -> io::Result<()> {
        let Input::ToolReturned { outcome, .. } = input else { return Ok(()) };
        let detail = outcome.detail().filter(|_| self.verbose || io::stderr().is_terminal());
        let hunks = detail.and_then(|detail| detail.read::<Vec<Hunk>>().ok());
        let lines = changes::lines(&hunks.unwrap_or_default(), self.colours);
        lines.iter().try_for_each(|line| writeln!(io::stderr(), "{line}"))
    }

    /// The list of tasks that a call has kept.
    fn task_list(&mut self, call: CallId) -> io::Result<()> {
        let tasks = self.calls.tasks.remove(&call).unwrap_or_default();
        tasks.iter().try_for_each(|task| {
            writeln!(io::stderr(), "{}", self.colours.paint(Style::Dim, &harmless(task)))
        })
    }

    fn sentence(&mut self, entry: &Entry, record: &Record, patience: &Patience) -> Option<String> {
        match record {
            // It waited for its children, or for whoever sits here; nobody had left it.
            Record::Adopted { .. }
                if std::mem::take(&mut self.paused) || !self.calls.handed.is_empty() =>
            {
                return None;
            }
            Record::Settled { call, shown } => return self.calls.settle(*call, shown),
            _ => self.calls.hear(record),
        }
        words::about((entry, record), &self.calls.names, patience)
    }

    fn learn(&mut self, entry: &Entry) {
        if let Input::Replied { ask, reply, .. } = &entry.input {
            if let Some(spinner) = &mut self.spinner {
                spinner.count(reply.usage.total());
            }
            for (index, call) in reply.tool_uses() {
                let id = CallId { ask: *ask, index };
                self.calls.names.insert(id, words::call(call));
                if &*call.name == "TodoWrite" {
                    self.calls.tasks.insert(id, present::task_lines(&call.input));
                }
            }
        }
    }

    /// Text of an iteration ends its line before anything else is said.
    fn end_line(&mut self) -> io::Result<()> {
        self.end_thoughts()?;
        self.answer.end_line()
    }

    pub(super) async fn finish(&mut self, end: &End, session: &Session) -> anyhow::Result<()> {
        self.clear();
        self.end_thoughts()?;
        self.answer.discard()?;
        self.end_line()?;
        match end {
            End::Finished(ended) if Exit::of(end).is_result() => {
                self.answer.finish(&ended.text)?;
            }
            // What there is without an answer is not one.
            End::Finished(ended) => self.answer.finish_without(&ended.text)?,
            End::Parked(_) | End::Refused(_) | End::HandedOver => {}
        }
        let sentence = match end {
            End::Parked(questions) => {
                Some(words::waiting(questions, &session.conversation().await?, session.lane()))
            }
            End::Finished(ended) => {
                let limit = reached_limit(ended, &session.conversation().await?);
                words::stopped(ended, limit, session.lane())
            }
            End::Refused(_) | End::HandedOver => words::not_finished(end, session.lane()),
        };
        if let Some(sentence) = sentence {
            writeln!(io::stderr(), "{}", harmless(&sentence))?;
        }
        if let End::Finished(ended) = end
            && Exit::of(end) == Exit::NoResult
        {
            let now = session.conversation().await?;
            for line in words::handoff(ended.cause, &now.journal, session.lane()) {
                writeln!(io::stderr(), "{}", harmless(&line))?;
            }
        }
        Ok(())
    }

    /// Nobody waits any longer, and this is why.
    pub(super) fn leave(&mut self, said: &str) -> anyhow::Result<()> {
        self.clear();
        self.answer.discard()?;
        self.end_line()?;
        Ok(writeln!(io::stderr(), "windlass: {}", harmless(said))?)
    }
}

impl Calls {
    /// What runs, as one line.
    fn running(&self) -> String {
        let mut names = self.running.iter().filter_map(|call| self.names.get(call));
        let Some(first) = names.next() else { return String::new() };
        words::running(first, names.count())
    }

    fn hear(&mut self, record: &Record) {
        match record {
            Record::Spawned { call, .. } => {
                self.handed.insert(*call);
            }
            Record::Judged { call, verdict: Verdict::Allow { .. } } | Record::Started { call } => {
                self.running.insert(*call);
            }
            Record::Judged { call, verdict: Verdict::Deny { .. } }
            | Record::Completed { call }
            | Record::CallLost { call } => {
                self.running.remove(call);
                self.told.insert(*call);
            }
            Record::Retried { call, .. } => {
                self.running.remove(call);
            }
            Record::RoundOpened { .. } | Record::RoundClosed {} => self.running.clear(),
            _ => {}
        }
    }

    /// The line of a call that ends without having come back from its tool.
    fn settle(&mut self, call: CallId, shown: &Settlement) -> Option<String> {
        self.running.remove(&call);
        let name = self.names.get(&call)?;
        if self.handed.remove(&call) {
            return Some(words::back(name));
        }
        match shown {
            Settlement::Shown(shown) if !self.told.contains(&call) => {
                words::not_run(name, shown.kind, &reason(shown))
            }
            Settlement::Shown(_) | Settlement::AsCompleted {} => None,
        }
    }
}
