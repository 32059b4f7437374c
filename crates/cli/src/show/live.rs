//! The run as text, live: what the model says on standard output, what is done on standard error.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, IsTerminal, Write};

use windlass::core::conversation::Conversation;
use windlass::core::ids::CallId;
use windlass::core::input::Input;
use windlass::core::log::Entry;
use windlass::core::record::Record;
use windlass::core::run::Run;
use windlass::tools::Hunk;
use windlass::{End, Item, Session};

use super::changes;
use super::markdown::Markdown;
use super::patience::Patience;
use super::spinner::Spinner;
use super::terminal::{Colours, Style, harmless};
use crate::words;

/// A run being shown.
pub(super) struct Live {
    printed: String,
    /// What stood there when the run ended: the next one may have begun in the same moment.
    at_end: Option<String>,
    thinking: bool,
    verbose: bool,
    spinner: Option<Spinner>,
    names: BTreeMap<CallId, String>,
    /// Calls that children answer.
    handed: BTreeSet<CallId>,
    /// Somebody at the terminal was asked.
    paused: bool,
    colours: Colours,
    markdown: Option<Markdown>,
}

impl Live {
    pub(super) fn new(verbose: bool) -> Self {
        let drawn = io::stderr().is_terminal() && Colours::of_stderr() == Colours::Shown;
        Self {
            printed: String::new(),
            at_end: None,
            thinking: false,
            verbose,
            spinner: drawn.then(Spinner::new),
            names: BTreeMap::new(),
            handed: BTreeSet::new(),
            paused: false,
            colours: Colours::of_stderr(),
            markdown: (Colours::of_stdout() == Colours::Shown).then(Markdown::default),
        }
    }

    /// The same, knowing the calls that were open before.
    pub(super) fn after(mut self, before: &Conversation) -> Self {
        let round = before.run.as_ref().and_then(Run::round);
        for call in round.into_iter().flat_map(|round| &round.calls) {
            self.names.insert(call.id, words::call(&call.tool_use));
        }
        self
    }

    pub(super) fn is_drawn(&self) -> bool {
        self.spinner.is_some()
    }

    pub(super) fn draw(&mut self) {
        // Never in the middle of a line of text.
        if !self.printed.is_empty() || self.thinking {
            return;
        }
        if let Some(spinner) = &mut self.spinner {
            spinner.draw();
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
        if !self.printed.is_empty() && !self.printed.ends_with('\n') {
            let _ = writeln!(io::stderr());
        }
    }

    fn clear(&mut self) {
        if let Some(spinner) = &mut self.spinner {
            spinner.clear();
        }
    }

    pub(super) fn show(&mut self, item: &Item, patience: &Patience) -> io::Result<()> {
        match item {
            Item::Text { piece, .. } => {
                self.clear();
                self.end_thoughts()?;
                self.say(piece)
            }
            Item::Thinking { piece, .. } => self.think(piece),
            Item::Entry(entry) => self.about(entry, patience),
            Item::Ended(_) => Ok(()),
        }
    }

    /// What the model says, as a terminal shows it or plain.
    fn say(&mut self, piece: &str) -> io::Result<()> {
        self.printed.push_str(piece);
        let shown = harmless(piece);
        let shown = self.markdown.as_mut().map(|markdown| markdown.push(&shown)).unwrap_or(shown);
        let mut out = io::stdout().lock();
        out.write_all(shown.as_bytes())?;
        out.flush()
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
            // Saying it twice would say no more.
            if matches!(record, Record::Finished { .. }) {
                self.at_end = Some(self.printed.clone());
            }
            let about = self.sentence(entry, record, patience);
            let about = about.filter(|about| last.as_ref() != Some(about));
            if let Some(about) = about {
                self.end_line()?;
                writeln!(io::stderr(), "{}", self.colours.paint(Style::Dim, &harmless(&about)))?;
                last = Some(about);
            }
            if matches!(record, Record::Completed { .. }) {
                self.changed(&entry.input)?;
            }
            if matches!(record, Record::Asked { .. } | Record::ReplyDropped { .. }) {
                self.end_line()?;
            }
        }
        Ok(())
    }

    /// What a change took and brought, for people who watch.
    fn changed(&self, input: &Input) -> io::Result<()> {
        let Input::ToolReturned { outcome, .. } = input else { return Ok(()) };
        let detail = outcome.detail().filter(|_| self.verbose || io::stderr().is_terminal());
        let hunks = detail.and_then(|detail| detail.read::<Vec<Hunk>>().ok());
        let lines = changes::lines(&hunks.unwrap_or_default(), self.colours);
        lines.iter().try_for_each(|line| writeln!(io::stderr(), "{line}"))
    }

    fn sentence(&mut self, entry: &Entry, record: &Record, patience: &Patience) -> Option<String> {
        match record {
            Record::Spawned { call, .. } => {
                self.handed.insert(*call);
            }
            // It waited for its children, or for whoever sits here; nobody had left it.
            Record::Adopted { .. }
                if std::mem::take(&mut self.paused) || !self.handed.is_empty() =>
            {
                return None;
            }
            Record::Settled { call, .. } if self.handed.remove(call) => {
                return self.names.get(call).map(|name| words::back(name));
            }
            _ => {}
        }
        words::about((entry, record), &self.names, patience)
    }

    fn learn(&mut self, entry: &Entry) {
        if let Input::Replied { ask, reply, .. } = &entry.input {
            if let Some(spinner) = &mut self.spinner {
                spinner.count(reply.usage.total());
            }
            for (index, call) in reply.tool_uses() {
                self.names.insert(CallId { ask: *ask, index }, words::call(call));
            }
        }
    }

    /// Text of an iteration ends its line before anything else is said.
    fn end_line(&mut self) -> io::Result<()> {
        self.end_thoughts()?;
        if !self.printed.is_empty() {
            let rest = self.markdown.as_mut().map(Markdown::end).unwrap_or_default();
            write!(io::stdout(), "{rest}")?;
            if !self.printed.ends_with('\n') {
                writeln!(io::stdout())?;
            }
            self.printed.clear();
        }
        Ok(())
    }

    pub(super) async fn finish(&mut self, end: &End, session: &Session) -> anyhow::Result<()> {
        self.clear();
        if let End::Finished(ended) = end {
            let printed = self.at_end.take().unwrap_or_else(|| self.printed.clone());
            let shown = !printed.is_empty() && ended.text.ends_with(&printed);
            if !shown && !ended.text.is_empty() {
                self.end_line()?;
                self.say(&ended.text)?;
            }
        }
        self.end_line()?;
        io::stdout().flush()?;
        let sentence = match end {
            End::Parked(questions) => {
                Some(words::waiting(questions, &session.conversation().await?, session.lane()))
            }
            End::Finished(_) | End::Refused(_) | End::HandedOver => {
                words::ending(end, session.lane().as_str())
            }
        };
        if let Some(sentence) = sentence {
            writeln!(io::stderr(), "{}", harmless(&sentence))?;
        }
        Ok(())
    }
}

impl Live {
    /// Nobody waits any longer, and this is why.
    pub(super) fn leave(&mut self, said: &str) -> anyhow::Result<()> {
        self.clear();
        self.end_line()?;
        Ok(writeln!(io::stderr(), "windlass: {}", harmless(said))?)
    }
}
