//! What the model says, on standard output. A program that reads standard output gets the answer and
//! nothing else; a person at a terminal sees the text as it comes, and a mark below what was thrown
//! away.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use windlass::core::ids::AskId;

use super::markdown::Markdown;
use super::terminal::{Colours, Style, harmless, width};
use crate::words;

/// Replies kept in a row that are remembered: an answer that was cut consists of several.
const MOST_PARTS: usize = 64;

/// The text of a run on its way to standard output.
pub(super) struct AnswerText {
    screen: Screen,
    /// The model call whose text stands on the screen, and the text.
    streamed: Option<(AskId, String)>,
    /// Whether the last line on the screen is still open.
    open: bool,
    /// Texts of the last replies that stand on the screen.
    parts: Vec<Arc<str>>,
    /// What stood there when a run ended: the next one may have begun in the same moment.
    at_end: Option<Vec<Arc<str>>>,
    /// Whose answer it is.
    asked_by: AskedBy,
}

/// Whose prompt an answer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AskedBy {
    /// The prompt of this command.
    ThisCommand,
    /// A prompt that waited in the conversation: its answer is progress here.
    AnotherPrompt,
}

enum Screen {
    /// A person watches.
    Terminal { markdown: Option<Box<Markdown>>, colours: Colours },
    /// A program or a file gets the answer when it is there.
    Pipe,
}

/// What a reply that is kept is for the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It stands before calls.
    Progress,
    /// It is the answer or a part of it.
    Answer,
}

impl AnswerText {
    pub(super) fn new() -> Self {
        let colours = Colours::of_stdout();
        let screen = match io::stdout().is_terminal() {
            true => {
                let markdown =
                    (colours == Colours::Shown).then(|| Markdown::new(width(io::stdout())));
                Screen::Terminal { markdown: markdown.map(Box::new), colours }
            }
            false => Screen::Pipe,
        };
        Self {
            screen,
            streamed: None,
            open: false,
            parts: Vec::new(),
            at_end: None,
            asked_by: AskedBy::ThisCommand,
        }
    }

    /// The text of a run that another prompt began.
    pub(super) fn of_another_prompt() -> Self {
        Self { asked_by: AskedBy::AnotherPrompt, ..Self::new() }
    }

    /// Whether text stands in the last line, so that nothing else may be drawn there.
    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// A piece of a reply that is on its way.
    pub(super) fn piece(&mut self, ask: AskId, piece: &str) -> io::Result<()> {
        if matches!(self.screen, Screen::Pipe) {
            return Ok(());
        }
        match &mut self.streamed {
            Some((streaming, text)) if *streaming == ask => text.push_str(piece),
            _ => {
                self.discard()?;
                self.streamed = Some((ask, piece.to_owned()));
            }
        }
        self.print(piece)
    }

    /// A reply is whole and kept: what was not streamed of it follows.
    pub(super) fn keep(&mut self, ask: AskId, text: &str, role: Role) -> io::Result<()> {
        if matches!(self.screen, Screen::Pipe) {
            if role == Role::Answer {
                self.remember(text);
                return Ok(());
            }
            // A text that was cut consists of several replies.
            let text = std::mem::take(&mut self.parts).concat() + text;
            return if text.trim().is_empty() { Ok(()) } else { progress(&text) };
        }
        let streamed = self.streamed.take_if(|(streaming, _)| *streaming == ask);
        let streamed = streamed.map(|(_, text)| text).unwrap_or_default();
        match text.strip_prefix(&streamed) {
            Some(rest) => self.print(rest)?,
            // Never so with a model whose pieces make up its reply.
            None => {
                self.mark()?;
                self.print(text)?;
            }
        }
        self.end_line()?;
        match role {
            Role::Progress => self.parts.clear(),
            Role::Answer => self.remember(text),
        }
        Ok(())
    }

    fn remember(&mut self, text: &str) {
        if self.parts.len() < MOST_PARTS {
            self.parts.push(Arc::from(text));
        }
    }

    /// An answer was rejected: what follows is another one.
    pub(super) fn begin_anew(&mut self) {
        self.parts.clear();
    }

    /// What was streamed is not kept.
    pub(super) fn discard(&mut self) -> io::Result<()> {
        match self.streamed.take() {
            Some((_, text)) if !text.trim().is_empty() => self.mark(),
            Some(_) | None => Ok(()),
        }
    }

    /// A run ended: what follows belongs to another one.
    pub(super) fn end_run(&mut self) {
        self.at_end = Some(std::mem::take(&mut self.parts));
    }

    /// The answer, if it does not stand there already.
    pub(super) fn finish(&mut self, answer: &str) -> io::Result<()> {
        let parts = self.at_end.take().unwrap_or_else(|| std::mem::take(&mut self.parts));
        self.end_line()?;
        let is_terminal = matches!(self.screen, Screen::Terminal { .. });
        let is_shown = is_terminal
            && (0..parts.len())
                .any(|from| parts.get(from..).is_some_and(|parts| parts.concat() == answer));
        let is_ours = self.asked_by == AskedBy::ThisCommand;
        match is_ours || is_terminal {
            true if !is_shown && !answer.is_empty() => self.print(answer)?,
            false if !answer.trim().is_empty() => progress(answer)?,
            true | false => {}
        }
        self.end_line()?;
        io::stdout().flush()
    }

    /// The text of a run that ended without an answer: on a terminal it stands there already.
    pub(super) fn finish_without(&mut self, text: &str) -> io::Result<()> {
        match self.screen {
            Screen::Terminal { .. } => self.finish(text),
            Screen::Pipe if text.trim().is_empty() => Ok(()),
            Screen::Pipe => progress(text),
        }
    }

    /// Says that the text above does not count.
    fn mark(&mut self) -> io::Result<()> {
        self.end_line()?;
        if let Screen::Terminal { colours, .. } = &self.screen {
            writeln!(io::stdout(), "{}", colours.paint(Style::Dim, words::DISCARDED))?;
        }
        Ok(())
    }

    fn print(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let plain = harmless(text);
        self.open = !text.ends_with('\n');
        let shown = match &mut self.screen {
            Screen::Terminal { markdown: Some(markdown), .. } => markdown.push(&plain),
            Screen::Terminal { markdown: None, .. } | Screen::Pipe => plain,
        };
        let mut out = io::stdout().lock();
        out.write_all(shown.as_bytes())?;
        out.flush()
    }

    /// Text ends its line before anything else is said.
    pub(super) fn end_line(&mut self) -> io::Result<()> {
        let was_open = std::mem::take(&mut self.open);
        match &mut self.screen {
            Screen::Terminal { markdown: Some(markdown), .. } => {
                write!(io::stdout(), "{}", markdown.end())?;
            }
            Screen::Terminal { markdown: None, .. } | Screen::Pipe if was_open => {
                writeln!(io::stdout())?;
            }
            Screen::Terminal { markdown: None, .. } | Screen::Pipe => {}
        }
        io::stdout().flush()
    }
}

/// What the model says between calls is progress, where standard output is for the answer alone.
fn progress(text: &str) -> io::Result<()> {
    let text = harmless(text.trim_end());
    writeln!(io::stderr(), "{}", Colours::of_stderr().paint(Style::Dim, &text))
}
