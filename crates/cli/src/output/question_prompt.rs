//! Asks questions at the terminal (approval, guidance, budget), and shows the exact rule that an
//! answer would save.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
use windlass::HumanAnswer;
use windlass::core::call::call_state::Call;
use windlass::core::permission::{
    CallEffect, HookPreference, PermissionQuery, PermissionRule, suggest_rule,
};
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::{Question, QuestionKind};

use crate::config::trust::folder_trust::TrustState;
use crate::config::trust::project_rules;
use crate::messages::{self, ModelQuestion};
use crate::terminal::{
    Color, ColorSupport, sanitize_text, terminal_width, wrap_choices, wrap_words,
};

/// Rows of a terminal that does not report its size.
const DEFAULT_ROWS: usize = 24;

/// Rows of the screen that a page of a long call leaves free.
const RESERVED_ROWS: usize = 4;

/// The project for which rules could be saved.
#[derive(Debug, Clone)]
pub(super) struct ProjectContext {
    pub(super) folder: PathBuf,
    /// A saved rule has no effect in an untrusted folder, so it is not offered there.
    pub(super) trust: TrustState,
}

/// The line that waits for an answer, shown again when the process returns to the foreground.
#[derive(Clone, Default)]
pub(super) struct PromptLine(Arc<Mutex<String>>);

impl PromptLine {
    /// Shows the waiting line.
    pub(super) fn show(&self) {
        let line = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let _ = write!(io::stderr(), "{} ", wrap_choices(&line, terminal_width(io::stderr())));
        let _ = io::stderr().flush();
    }

    /// Asks for the first time: input that was typed before is dropped.
    fn ask(&self, line: &str) -> anyhow::Result<String> {
        flush_typed_input();
        self.ask_again(line)
    }

    /// Asks again after an answer that was not possible.
    fn ask_again(&self, line: &str) -> anyhow::Result<String> {
        line.clone_into(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
        self.show();
        read_line()
    }
}

/// End of input (Ctrl-D).
#[derive(Debug)]
pub(super) struct EndOfInput;

impl std::fmt::Display for EndOfInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no answer was given")
    }
}

impl std::error::Error for EndOfInput {}

/// The key that shows help about the choices.
const HELP_KEY: &str = "?";

/// Drops input that was typed before the question was shown: it cannot be an answer to it.
fn flush_typed_input() {
    let _ = rustix::termios::tcflush(io::stdin(), rustix::termios::QueueSelector::IFlush);
}

/// Asks a question until the answer is possible. Input is read in a thread of its own, which ends
/// with the process, because a blocking read of a terminal cannot be cancelled.
pub(super) async fn ask_question(
    question: Question,
    now: Conversation,
    project: ProjectContext,
    prompt: PromptLine,
) -> anyhow::Result<HumanAnswer> {
    let (sender, answer) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || drop(sender.send(ask_blocking(&question, &now, &project, &prompt))));
    answer.await.context("cannot ask the question")?
}

fn ask_blocking(
    question: &Question,
    now: &Conversation,
    project: &ProjectContext,
    prompt: &PromptLine,
) -> anyhow::Result<HumanAnswer> {
    let questions = model_questions(question, now);
    if !questions.is_empty() {
        return ask_choices(&questions, prompt);
    }
    let (title, details) = messages::question_for_terminal(&question.kind, now, &project.folder);
    print_styled(Color::Bold, &title)?;
    print_paged(&details, prompt)?;
    let rule = question.kind.call().and_then(|call| suggest_rule_for(now, call));
    // A rule of the project applies in all of its folders: it is saved in the topmost one.
    let trust = match messages::command_folder(&question.kind, now) {
        Some(_) => TrustState::Untrusted,
        None => project.trust,
    };
    let project = &ProjectContext { folder: project.folder.clone(), trust };
    let choices =
        sanitize_text(&messages::choice_line(&question.kind, rule.as_ref(), project.trust));
    let mut typed = prompt.ask(&choices)?;
    loop {
        let answer = match typed.trim() {
            HELP_KEY => None,
            typed => parse_typed_answer(&question.kind, typed, rule.as_ref(), project)?,
        };
        let problem = answer.as_ref().and_then(|answer| question.kind.find_form_problem(answer));
        if let Some(answer) = answer.filter(|_| problem.is_none()) {
            return Ok(bind_to_shown_input(answer, question, now));
        }
        match typed.trim() {
            HELP_KEY => {
                let help = messages::choice_help(&question.kind, rule.as_ref(), project.trust);
                help.iter().try_for_each(|line| print_wrapped(line, 6))?;
            }
            _ if problem.is_some() => {
                let problem = problem.iter().map(messages::form_problem).collect::<String>();
                print_wrapped(&sanitize_text(&problem), 0)?;
            }
            _ => {
                let again = messages::invalid_choice(&question.kind, rule.as_ref(), project.trust);
                writeln!(io::stderr(), "{again}")?;
            }
        }
        typed = prompt.ask_again(&choices)?;
    }
}

/// The model's questions with choices.
fn model_questions(question: &Question, now: &Conversation) -> Vec<ModelQuestion> {
    let QuestionKind::ModelQuestion { call } = question.kind else { return Vec::new() };
    let round = now.run.as_ref().and_then(|run| run.round());
    let call = round.and_then(|round| round.call(call));
    call.map(|call| messages::parse_model_questions(&call.tool_use.input)).unwrap_or_default()
}

/// Asks the questions one after the other, each with its choices.
fn ask_choices(asked: &[ModelQuestion], prompt: &PromptLine) -> anyhow::Result<HumanAnswer> {
    let mut answers = Vec::new();
    for question in asked {
        print_choices(question)?;
        let mut typed = prompt.ask(question.prompt_line())?;
        let answer = loop {
            match question.resolve_answer(&typed) {
                Some(_) if typed.trim() == HELP_KEY => print_choices(question)?,
                Some(answer) => break answer,
                None => writeln!(io::stderr(), "{}", messages::NOT_A_CHOICE)?,
            }
            typed = prompt.ask_again(question.prompt_line())?;
        };
        answers.push(answer);
    }
    Ok(HumanAnswer::Text { text: messages::join_answers(asked, &answers).into() })
}

/// Prints a question of the model with its choices.
fn print_choices(question: &ModelQuestion) -> io::Result<()> {
    let lines = question.question_lines();
    let (title, options) = lines.split_first().map_or(("", &[][..]), |(title, rest)| (title, rest));
    print_styled(Color::Bold, title)?;
    // Indented to the text after an option's number.
    options.iter().try_for_each(|option| print_wrapped(option, 5))
}

fn print_styled(style: Color, text: &str) -> io::Result<()> {
    let text = wrap_words(&sanitize_text(text), terminal_width(io::stderr()), 0);
    writeln!(io::stderr(), "{}", ColorSupport::of_stderr().paint(style, &text))
}

fn print_wrapped(line: &str, indent: usize) -> io::Result<()> {
    writeln!(
        io::stderr(),
        "{}",
        wrap_words(&sanitize_text(line), terminal_width(io::stderr()), indent)
    )
}

/// Prints lines, one screen at a time if they take more rows than it has. A line that is longer
/// than the screen is printed in parts: its beginning must not scroll away unseen.
pub(super) fn print_paged(lines: &[String], prompt: &PromptLine) -> anyhow::Result<()> {
    let columns = terminal_width(io::stderr()).max(1);
    let lines = lines.iter().flat_map(|line| line.split('\n'));
    let rows: Vec<String> = lines.flat_map(|line| split_rows(line, columns)).collect();
    print_rows(&rows, prompt)
}

/// Splits a line as the terminal would wrap it.
fn split_rows(line: &str, columns: usize) -> Vec<String> {
    let text = sanitize_text(line);
    if text.width() <= columns {
        return vec![line.to_owned()];
    }
    let mut rows = Vec::new();
    let (mut row, mut taken) = (String::new(), 0);
    for c in text.chars() {
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

fn print_rows(lines: &[String], prompt: &PromptLine) -> anyhow::Result<()> {
    // Determined for each page: the terminal may have been resized.
    let page_rows = || terminal_rows().saturating_sub(RESERVED_ROWS).max(RESERVED_ROWS);
    let mut remaining = page_rows();
    for (shown, line) in lines.iter().enumerate() {
        if remaining == 0 {
            remaining = match prompt.ask(&messages::page_footer(shown, lines.len()))?.trim() {
                "a" | "all" => usize::MAX,
                _ => page_rows(),
            };
        }
        remaining = remaining.saturating_sub(1);
        writeln!(io::stderr(), "{}", paint_diff_line(line))?;
    }
    Ok(())
}

/// Colors removed lines red, added lines green.
fn paint_diff_line(line: &str) -> String {
    let colours = ColorSupport::of_stderr();
    let text = sanitize_text(line);
    let sign = text.get(9..10).filter(|_| {
        let number = text.get(4..8).unwrap_or_default().trim_start();
        !number.is_empty() && number.chars().all(|c| c.is_ascii_digit())
    });
    match sign {
        Some("-") => colours.paint(Color::Red, &text),
        Some("+") => colours.paint(Color::Green, &text),
        _ => text,
    }
}

fn terminal_rows() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok();
    let rows = size.map(|size| usize::from(size.ws_row)).filter(|rows| *rows > 0);
    rows.unwrap_or(DEFAULT_ROWS)
}

/// Binds an approval to the input that was shown.
fn bind_to_shown_input(
    answer: HumanAnswer,
    question: &Question,
    now: &Conversation,
) -> HumanAnswer {
    match question.kind.call().and_then(|call| now.input_hash(call)) {
        Some(hash) => answer.for_input_hash(&hash),
        None => answer,
    }
}

fn read_line() -> anyhow::Result<String> {
    let mut typed = String::new();
    let read = io::stdin().lock().read_line(&mut typed).context("cannot read the answer")?;
    if read == 0 {
        return Err(EndOfInput.into());
    }
    Ok(typed)
}

/// The rule that would allow this call without a question.
pub(crate) fn suggest_rule_for(
    now: &Conversation,
    id: windlass::core::log::ids::CallId,
) -> Option<PermissionRule> {
    let call: &Call = now.run.as_ref()?.round()?.call(id)?;
    let rules = &now.settings.as_ref()?.rules;
    let effect =
        if call.facts.is_read_only() { CallEffect::ReadOnly } else { CallEffect::MayChange };
    let query = PermissionQuery {
        tool: &call.tool_use.name,
        subject: &call.facts.subject,
        effect,
        preference: HookPreference::Neutral,
        grants: &now.grants,
    };
    suggest_rule(rules, query)
}

fn parse_typed_answer(
    about: &QuestionKind,
    typed: &str,
    rule: Option<&PermissionRule>,
    project: &ProjectContext,
) -> anyhow::Result<Option<HumanAnswer>> {
    let text = || Arc::<str>::from(typed);
    Ok(match about {
        QuestionKind::Approval { .. } => match (typed, rule) {
            ("y" | "yes" | "once", _) => Some(HumanAnswer::allow()),
            ("c" | "conversation", Some(rule)) => Some(HumanAnswer::allow_with_rule(rule.clone())),
            ("p" | "project", Some(rule)) if project.trust == TrustState::Trusted => {
                project_rules::save_allow_rule(&project.folder, rule)?;
                Some(HumanAnswer::allow_with_rule(rule.clone()))
            }
            ("n" | "no", _) => Some(HumanAnswer::deny("the user denied the call")),
            (other, _) => other.strip_prefix("n ").map(|why| HumanAnswer::deny(why.trim())),
        },
        QuestionKind::Uncertain { .. } => match typed {
            "r" | "retry" => Some(HumanAnswer::Retry {}),
            "d" | "done" => Some(HumanAnswer::MarkDone { text: Arc::from("done") }),
            "a" | "abandon" => Some(HumanAnswer::Abandon {}),
            _ => None,
        },
        QuestionKind::ModelQuestion { .. } => {
            (!typed.is_empty()).then(|| HumanAnswer::Text { text: text() })
        }
        QuestionKind::ToolRequest { request, .. } => match (typed, request.form().is_some()) {
            ("n" | "no", _) => Some(HumanAnswer::deny("the user declined")),
            ("", true) | ("y" | "yes", false) => Some(HumanAnswer::Continue {}),
            (_, true) => Some(HumanAnswer::Text { text: text() }),
            (_, false) => None,
        },
        QuestionKind::Plan { .. } => match typed {
            "y" | "yes" => Some(HumanAnswer::allow()),
            "e" | "edits" => Some(HumanAnswer::Continue {}),
            "n" | "no" => Some(HumanAnswer::deny("change it")),
            other => other.strip_prefix("n ").map(|why| HumanAnswer::deny(why.trim())),
        },
        QuestionKind::Guidance { .. } => match typed {
            "" => Some(HumanAnswer::Continue {}),
            "stop" => Some(HumanAnswer::Abandon {}),
            _ => Some(HumanAnswer::Text { text: text() }),
        },
        QuestionKind::Budget { .. } | QuestionKind::PromptChanged { .. } => match typed {
            "y" | "yes" => Some(HumanAnswer::Continue {}),
            "n" | "no" => Some(HumanAnswer::Abandon {}),
            _ => None,
        },
    })
}

#[cfg(test)]
#[path = "question_prompt_tests.rs"]
mod question_prompt_tests;
