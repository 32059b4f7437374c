//! Asks whoever sits at the terminal, and shows the exact rule an answer would write.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use windlass::Answer;
use windlass::core::call::Call;
use windlass::core::conversation::Conversation;
use windlass::core::permission::{Asked, Effect, Lean, Rule, suggest};
use windlass::core::question::{About, Question};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::terminal::{Colours, Style, harmless, width, wrap_choices, wrap_words};
use crate::present::{self, AskedQuestion};
use crate::settle::project;
use crate::settle::trust::Trust;
use crate::words;

/// Rows of a terminal that does not say how many it has.
const ROWS: usize = 24;

/// Rows of a screen that a page of a long call leaves free.
const KEPT_ROWS: usize = 4;

/// The project that rules could be kept for.
#[derive(Debug, Clone)]
pub(super) struct Project {
    pub(super) folder: PathBuf,
    /// A rule in a folder that nobody trusts would not count, so it is not offered there.
    pub(super) trust: Trust,
}

/// The line that waits for an answer, shown again when the process comes back to the foreground.
#[derive(Clone, Default)]
pub(super) struct PromptLine(Arc<Mutex<String>>);

impl PromptLine {
    /// Shows the line that waits.
    pub(super) fn show(&self) {
        let line = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let _ = write!(io::stderr(), "{} ", wrap_choices(&line, width(io::stderr())));
        let _ = io::stderr().flush();
    }

    /// Asks for the first time: what was typed before cannot be meant.
    fn ask(&self, line: &str) -> anyhow::Result<String> {
        drop_typed_ahead();
        self.ask_again(line)
    }

    /// Asks what was asked already.
    fn ask_again(&self, line: &str) -> anyhow::Result<String> {
        line.clone_into(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        self.show();
        read_line()
    }
}

/// Nobody answers: what is typed has ended, as with Ctrl-D.
#[derive(Debug)]
pub(super) struct EndOfInput;

impl std::fmt::Display for EndOfInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no answer was given")
    }
}

impl std::error::Error for EndOfInput {}

/// What asks for an explanation of the choices.
const HELP: &str = "?";

/// Forgets what was typed before the question was there: it cannot be an answer to it.
fn drop_typed_ahead() {
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// Asks a question until the answer fits. Typing is waited for in a thread of its own, which ends
/// with the process: nobody can take back a read from a terminal.
pub(super) async fn ask(
    question: Question,
    now: Conversation,
    project: Project,
    prompt: PromptLine,
) -> anyhow::Result<Answer> {
    let (sender, answer) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || drop(sender.send(asked(&question, &now, &project, &prompt))));
    answer.await.context("the question could not be asked")?
}

fn asked(
    question: &Question,
    now: &Conversation,
    project: &Project,
    prompt: &PromptLine,
) -> anyhow::Result<Answer> {
    let asked = asked_questions(question, now);
    if !asked.is_empty() {
        return choose(&asked, prompt);
    }
    let (title, details) = words::asked(&question.about, now, &project.folder);
    say(Style::Bold, &title)?;
    page(&details, prompt)?;
    let rule = question.about.call().and_then(|call| rule_for(now, call));
    // A rule of the project holds in all of its folders: it is given in the topmost one.
    let trust = match present::command_folder(&question.about, now) {
        Some(_) => Trust::Missing,
        None => project.trust,
    };
    let project = &Project { folder: project.folder.clone(), trust };
    let choices = harmless(&words::choices(&question.about, rule.as_ref(), project.trust));
    let mut typed = prompt.ask(&choices)?;
    loop {
        let answer = match typed.trim() {
            HELP => None,
            typed => read(&question.about, typed, rule.as_ref(), project)?,
        };
        if let Some(answer) = answer {
            return Ok(for_what_was_shown(answer, question, now));
        }
        match typed.trim() {
            HELP => {
                let help = words::choices_help(&question.about, rule.as_ref(), project.trust);
                help.iter().try_for_each(|line| say_wrapped(line, 6))?;
            }
            _ => {
                let again = words::try_again(&question.about, rule.as_ref(), project.trust);
                writeln!(io::stderr(), "{again}")?;
            }
        }
        typed = prompt.ask_again(&choices)?;
    }
}

/// The questions of a model that offers choices.
fn asked_questions(question: &Question, now: &Conversation) -> Vec<AskedQuestion> {
    let About::Asking { call } = question.about else { return Vec::new() };
    let round = now.run.as_ref().and_then(|run| run.round());
    let call = round.and_then(|round| round.call(call));
    call.map(|call| present::asked_questions(&call.tool_use.input)).unwrap_or_default()
}

/// Offers the choices of each question, one after the other.
fn choose(asked: &[AskedQuestion], prompt: &PromptLine) -> anyhow::Result<Answer> {
    let mut answers = Vec::new();
    for question in asked {
        offer(question)?;
        let mut typed = prompt.ask(question.prompt())?;
        let answer = loop {
            match question.resolve(&typed) {
                Some(_) if typed.trim() == HELP => offer(question)?,
                Some(answer) => break answer,
                None => writeln!(io::stderr(), "{}", words::NOT_A_CHOICE)?,
            }
            typed = prompt.ask_again(question.prompt())?;
        };
        answers.push(answer);
    }
    Ok(Answer::Text { text: present::join_answers(asked, &answers).into() })
}

/// A question of the model, and what it offers.
fn offer(question: &AskedQuestion) -> io::Result<()> {
    let lines = question.lines();
    let (title, options) = lines.split_first().map_or(("", &[][..]), |(title, rest)| (title, rest));
    say(Style::Bold, title)?;
    // Behind the number of an option.
    options.iter().try_for_each(|option| say_wrapped(option, 5))
}

fn say(style: Style, text: &str) -> io::Result<()> {
    let text = wrap_words(&harmless(text), width(io::stderr()), 0);
    writeln!(io::stderr(), "{}", Colours::of_stderr().paint(style, &text))
}

fn say_wrapped(line: &str, indent: usize) -> io::Result<()> {
    writeln!(io::stderr(), "{}", wrap_words(&harmless(line), width(io::stderr()), indent))
}

/// Shows lines, a screen at a time if they take more rows than it has. A line that is longer than the
/// screen is shown in pieces: its beginning must not scroll away unseen.
pub(super) fn page(lines: &[String], prompt: &PromptLine) -> anyhow::Result<()> {
    let columns = width(io::stderr()).max(1);
    let lines = lines.iter().flat_map(|line| line.split('\n'));
    let rows: Vec<String> = lines.flat_map(|line| in_rows(line, columns)).collect();
    page_rows(&rows, prompt)
}

/// A line as the terminal would break it.
fn in_rows(line: &str, columns: usize) -> Vec<String> {
    let shown = harmless(line);
    if shown.width() <= columns {
        return vec![line.to_owned()];
    }
    let mut rows = Vec::new();
    let (mut row, mut taken) = (String::new(), 0);
    for c in shown.chars() {
        let wide = c.width().unwrap_or(0);
        if taken + wide > columns {
            rows.push(std::mem::take(&mut row));
            taken = 0;
        }
        row.push(c);
        taken += wide;
    }
    rows.push(row);
    rows
}

fn page_rows(lines: &[String], prompt: &PromptLine) -> anyhow::Result<()> {
    // Looked up for each page: the terminal may have another size by then.
    let page_rows = || rows().saturating_sub(KEPT_ROWS).max(KEPT_ROWS);
    let mut room = page_rows();
    for (shown, line) in lines.iter().enumerate() {
        if room == 0 {
            room = match prompt.ask(&words::more(shown, lines.len()))?.trim() {
                "a" | "all" => usize::MAX,
                _ => page_rows(),
            };
        }
        room = room.saturating_sub(1);
        writeln!(io::stderr(), "{}", painted(line))?;
    }
    Ok(())
}

/// Lines that go in red, lines that come in green.
fn painted(line: &str) -> String {
    let colours = Colours::of_stderr();
    let text = harmless(line);
    let sign = text.get(9..10).filter(|_| {
        let number = text.get(4..8).unwrap_or_default().trim_start();
        !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    });
    match sign {
        Some("-") => colours.paint(Style::Red, &text),
        Some("+") => colours.paint(Style::Green, &text),
        _ => text,
    }
}

fn rows() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok();
    let rows = size.map(|size| usize::from(size.ws_row)).filter(|rows| *rows > 0);
    rows.unwrap_or(ROWS)
}

/// What is approved is what was shown.
fn for_what_was_shown(answer: Answer, question: &Question, now: &Conversation) -> Answer {
    match question.about.call().and_then(|call| now.input_hash(call)) {
        Some(hash) => answer.for_input(&hash),
        None => answer,
    }
}

fn read_line() -> anyhow::Result<String> {
    let mut typed = String::new();
    let read = io::stdin().lock().read_line(&mut typed).context("the answer cannot be read")?;
    if read == 0 {
        return Err(EndOfInput.into());
    }
    Ok(typed)
}

/// The rule that would let this call run without asking.
fn rule_for(now: &Conversation, id: windlass::core::ids::CallId) -> Option<Rule> {
    let call: &Call = now.run.as_ref()?.round()?.call(id)?;
    let rules = &now.settings.as_ref()?.rules;
    let effect = if call.facts.only_looks() { Effect::None } else { Effect::Some };
    let asked = Asked {
        tool: &call.tool_use.name,
        subject: &call.facts.subject,
        effect,
        lean: Lean::Neutral,
        grants: &now.grants,
    };
    suggest(rules, asked)
}

fn read(
    about: &About,
    typed: &str,
    rule: Option<&Rule>,
    project: &Project,
) -> anyhow::Result<Option<Answer>> {
    let text = || Arc::<str>::from(typed);
    Ok(match about {
        About::Approval { .. } => match (typed, rule) {
            ("y" | "yes" | "once", _) => Some(Answer::allow()),
            ("c" | "conversation", Some(rule)) => Some(Answer::granting(rule.clone())),
            ("p" | "project", Some(rule)) if project.trust == Trust::Given => {
                project::allow(&project.folder, rule)?;
                Some(Answer::granting(rule.clone()))
            }
            ("n" | "no", _) => Some(Answer::Deny { reason: Arc::from("the user said no") }),
            (other, _) => {
                other.strip_prefix("n ").map(|why| Answer::Deny { reason: Arc::from(why.trim()) })
            }
        },
        About::Uncertain { .. } => match typed {
            "r" | "retry" => Some(Answer::Retry {}),
            "d" | "done" => Some(Answer::MarkDone { text: Arc::from("done") }),
            "a" | "abandon" => Some(Answer::Abandon {}),
            _ => None,
        },
        About::Asking { .. } => (!typed.is_empty()).then(|| Answer::Text { text: text() }),
        About::Plan { .. } => match typed {
            "y" | "yes" => Some(Answer::allow()),
            "e" | "edits" => Some(Answer::Continue {}),
            "n" | "no" => Some(Answer::Deny { reason: Arc::from("change it") }),
            other => {
                other.strip_prefix("n ").map(|why| Answer::Deny { reason: Arc::from(why.trim()) })
            }
        },
        About::Guidance { .. } => match typed {
            "" => Some(Answer::Continue {}),
            "stop" => Some(Answer::Abandon {}),
            _ => Some(Answer::Text { text: text() }),
        },
        About::Budget { .. } | About::Drift { .. } => match typed {
            "y" | "yes" => Some(Answer::Continue {}),
            "n" | "no" => Some(Answer::Abandon {}),
            _ => None,
        },
    })
}

#[cfg(test)]
#[path = "prompter_tests.rs"]
mod prompter_tests;
