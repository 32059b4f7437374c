//! Asks whoever sits at the terminal, and shows the exact rule an answer would write.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, bail};
use windlass::Answer;
use windlass::core::call::Call;
use windlass::core::conversation::Conversation;
use windlass::core::permission::{Asked, Effect, Lean, Rule, suggest};
use windlass::core::question::{About, Question};

use unicode_width::UnicodeWidthStr;

use super::terminal::{Colours, Style, harmless, width};
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
        let _ = write!(io::stderr(), "{line} ");
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
    let choices = harmless(&words::choices(&question.about, rule.as_ref(), project.trust));
    let mut typed = prompt.ask(&choices)?;
    loop {
        match read(&question.about, typed.trim(), rule.as_ref(), project)? {
            Some(answer) => return Ok(for_what_was_shown(answer, question, now)),
            None => {
                let again = words::try_again(&question.about, rule.as_ref(), project.trust);
                writeln!(io::stderr(), "{again}")?;
                typed = prompt.ask_again(&choices)?;
            }
        }
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
        let mut lines = question.lines().into_iter();
        say(Style::Bold, &lines.next().unwrap_or_default())?;
        page(&lines.collect::<Vec<_>>(), prompt)?;
        let mut typed = prompt.ask(question.prompt())?;
        let answer = loop {
            match question.resolve(&typed) {
                Some(answer) => break answer,
                None => writeln!(io::stderr(), "{}", words::NOT_A_CHOICE)?,
            }
            typed = prompt.ask_again(question.prompt())?;
        };
        answers.push(answer);
    }
    Ok(Answer::Text { text: present::join_answers(asked, &answers).into() })
}

fn say(style: Style, text: &str) -> io::Result<()> {
    writeln!(io::stderr(), "{}", Colours::of_stderr().paint(style, &harmless(text)))
}

/// Shows lines, a screen at a time if there are many.
fn page(lines: &[String], prompt: &PromptLine) -> anyhow::Result<()> {
    let rows = rows().saturating_sub(KEPT_ROWS).max(KEPT_ROWS);
    let mut room = rows;
    for (shown, line) in lines.iter().enumerate() {
        let taken = harmless(line).width().div_ceil(width(io::stderr()).max(1)).max(1);
        if taken > room && shown > 0 {
            room = match prompt.ask(&words::more(shown, lines.len()))?.trim() {
                "a" | "all" => usize::MAX,
                _ => rows,
            };
        }
        room = room.saturating_sub(taken);
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
        bail!("no answer was given; the run waits, and `windlass runs` lists it");
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
