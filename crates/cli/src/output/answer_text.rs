//! The answer text on standard output. A program that reads standard output gets the answer only; a
//! person at a terminal sees text as it streams, and a mark below text that was discarded.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use windlass::core::log::ids::ModelCallId;

use super::markdown::MarkdownRenderer;
use crate::messages;
use crate::terminal::{Color, ColorSupport, sanitize_text, terminal_width};

/// Maximum number of consecutive replies that are remembered: a truncated answer consists of
/// several.
const MAX_PARTS: usize = 64;

/// The text of a run on its way to standard output.
pub(super) struct AnswerText {
    screen: AnswerScreen,
    /// The model call whose text is on the screen, with the text.
    streamed: Option<(ModelCallId, String)>,
    /// Whether the last line on the screen is still open.
    is_line_open: bool,
    /// Texts of the last replies that are on the screen.
    parts: Vec<Arc<str>>,
    /// The texts on the screen when a run ended: the next run may have started at the same moment.
    ended_run_parts: Option<Vec<Arc<str>>>,
    /// The prompt to which the answer belongs.
    prompt_origin: PromptOrigin,
}

/// The prompt to which an answer belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PromptOrigin {
    /// The prompt of this command.
    ThisCommand,
    /// A queued prompt of the conversation: its answer is progress here.
    AnotherPrompt,
}

enum AnswerScreen {
    /// A terminal: text is printed as it streams.
    Terminal { markdown: Option<Box<MarkdownRenderer>>, colours: ColorSupport },
    /// A pipe or a file: the answer is printed when it is complete.
    Pipe,
}

/// The role of a kept reply in its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplyRole {
    /// Text before tool calls.
    Progress,
    /// The answer or a part of it.
    Answer,
}

impl AnswerText {
    pub(super) fn new() -> Self {
        let colours = ColorSupport::of_stdout();
        let screen = match io::stdout().is_terminal() {
            true => {
                let markdown = (colours == ColorSupport::Enabled)
                    .then(|| MarkdownRenderer::new(terminal_width(io::stdout())));
                AnswerScreen::Terminal { markdown: markdown.map(Box::new), colours }
            }
            false => AnswerScreen::Pipe,
        };
        Self {
            screen,
            streamed: None,
            is_line_open: false,
            parts: Vec::new(),
            ended_run_parts: None,
            prompt_origin: PromptOrigin::ThisCommand,
        }
    }

    /// The output of a run that another prompt started.
    pub(super) fn for_other_prompt() -> Self {
        Self { prompt_origin: PromptOrigin::AnotherPrompt, ..Self::new() }
    }

    /// Returns whether the last line has text, so that nothing else may be drawn there.
    pub(super) fn has_open_line(&self) -> bool {
        self.is_line_open
    }

    /// Prints a piece of a streamed reply.
    pub(super) fn push_piece(&mut self, model_call: ModelCallId, chunk: &str) -> io::Result<()> {
        if matches!(self.screen, AnswerScreen::Pipe) {
            return Ok(());
        }
        match &mut self.streamed {
            Some((streaming, text)) if *streaming == model_call => text.push_str(chunk),
            _ => {
                self.discard()?;
                self.streamed = Some((model_call, chunk.to_owned()));
            }
        }
        self.print(chunk)
    }

    /// A reply is complete and kept: prints what was not streamed of it.
    pub(super) fn keep_reply(
        &mut self,
        ask: ModelCallId,
        text: &str,
        role: ReplyRole,
    ) -> io::Result<()> {
        if matches!(self.screen, AnswerScreen::Pipe) {
            if role == ReplyRole::Answer {
                self.add_part(text);
                return Ok(());
            }
            // A truncated text consists of several replies.
            let text = std::mem::take(&mut self.parts).concat() + text;
            return if text.trim().is_empty() { Ok(()) } else { print_progress(&text) };
        }
        let streamed = self.streamed.take_if(|(streaming, _)| *streaming == ask);
        let streamed = streamed.map(|(_, text)| text).unwrap_or_default();
        match text.strip_prefix(&streamed) {
            Some(rest) => self.print(rest)?,
            // Does not happen with a model whose pieces make up its reply.
            None => {
                self.print_discard_mark()?;
                self.print(text)?;
            }
        }
        self.end_line()?;
        match role {
            ReplyRole::Progress => self.parts.clear(),
            ReplyRole::Answer => self.add_part(text),
        }
        Ok(())
    }

    fn add_part(&mut self, text: &str) {
        if self.parts.len() < MAX_PARTS {
            self.parts.push(Arc::from(text));
        }
    }

    /// An answer was rejected: what follows is another one.
    pub(super) fn clear_parts(&mut self) {
        self.parts.clear();
    }

    /// The streamed text is discarded.
    pub(super) fn discard(&mut self) -> io::Result<()> {
        match self.streamed.take() {
            Some((_, text)) if !text.trim().is_empty() => self.print_discard_mark(),
            Some(_) | None => Ok(()),
        }
    }

    /// A run ended: what follows belongs to another one.
    pub(super) fn end_run(&mut self) {
        self.ended_run_parts = Some(std::mem::take(&mut self.parts));
    }

    /// Prints the answer, unless it is on the screen already.
    pub(super) fn finish(&mut self, answer: &str) -> io::Result<()> {
        let parts = self.ended_run_parts.take().unwrap_or_else(|| std::mem::take(&mut self.parts));
        self.end_line()?;
        let is_terminal = matches!(self.screen, AnswerScreen::Terminal { .. });
        let is_shown = is_terminal
            && (0..parts.len())
                .any(|from| parts.get(from..).is_some_and(|parts| parts.concat() == answer));
        let is_ours = self.prompt_origin == PromptOrigin::ThisCommand;
        match is_ours || is_terminal {
            true if !is_shown && !answer.is_empty() => self.print(answer)?,
            false if !answer.trim().is_empty() => print_progress(answer)?,
            true | false => {}
        }
        self.end_line()?;
        io::stdout().flush()
    }

    /// Prints the text of a run that ended without an answer; on a terminal it is on the screen
    /// already.
    pub(super) fn finish_without(&mut self, text: &str) -> io::Result<()> {
        match self.screen {
            AnswerScreen::Terminal { .. } => self.finish(text),
            AnswerScreen::Pipe if text.trim().is_empty() => Ok(()),
            AnswerScreen::Pipe => print_progress(text),
        }
    }

    /// Prints the mark that the text above was discarded.
    fn print_discard_mark(&mut self) -> io::Result<()> {
        self.end_line()?;
        if let AnswerScreen::Terminal { colours, .. } = &self.screen {
            writeln!(io::stdout(), "{}", colours.paint(Color::Dim, messages::TEXT_DISCARDED))?;
        }
        Ok(())
    }

    fn print(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let plain = sanitize_text(text);
        self.is_line_open = !text.ends_with('\n');
        let shown = match &mut self.screen {
            AnswerScreen::Terminal { markdown: Some(markdown), .. } => markdown.push(&plain),
            AnswerScreen::Terminal { markdown: None, .. } | AnswerScreen::Pipe => plain,
        };
        let mut out = io::stdout().lock();
        out.write_all(shown.as_bytes())?;
        out.flush()
    }

    /// Ends an open line of text before anything else is printed.
    pub(super) fn end_line(&mut self) -> io::Result<()> {
        let was_open = std::mem::take(&mut self.is_line_open);
        match &mut self.screen {
            AnswerScreen::Terminal { markdown: Some(markdown), .. } => {
                write!(io::stdout(), "{}", markdown.end())?;
            }
            AnswerScreen::Terminal { markdown: None, .. } | AnswerScreen::Pipe if was_open => {
                writeln!(io::stdout())?;
            }
            AnswerScreen::Terminal { markdown: None, .. } | AnswerScreen::Pipe => {}
        }
        io::stdout().flush()
    }
}

/// Prints text between calls as progress: standard output is for the answer alone.
fn print_progress(text: &str) -> io::Result<()> {
    let text = sanitize_text(text.trim_end());
    writeln!(io::stderr(), "{}", ColorSupport::of_stderr().paint(Color::Dim, &text))
}
