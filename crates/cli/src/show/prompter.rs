//! Asks whoever sits at the terminal, and shows the exact rule an answer would write.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, bail};
use windlass::Answer;
use windlass::core::call::Call;
use windlass::core::conversation::Conversation;
use windlass::core::permission::{Asked, Effect, Lean, Rule, suggest};
use windlass::core::question::{About, Question};

use super::terminal::{Colours, Style, harmless};
use crate::settle::project;
use crate::settle::trust::Trust;
use crate::words;

/// The project that rules could be kept for.
#[derive(Debug, Clone)]
pub(super) struct Project {
    pub(super) folder: PathBuf,
    /// A rule in a folder that nobody trusts would not count, so it is not offered there.
    pub(super) trust: Trust,
}

/// Asks a question until the answer fits. Typing is waited for in a thread of its own, which ends
/// with the process: nobody can take back a read from a terminal.
pub(super) async fn ask(
    question: Question,
    now: Conversation,
    project: Project,
) -> anyhow::Result<Answer> {
    let (sender, answer) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || drop(sender.send(asked(&question, &now, &project))));
    answer.await.context("nobody can be asked")?
}

fn asked(question: &Question, now: &Conversation, project: &Project) -> anyhow::Result<Answer> {
    let colours = Colours::of_stderr();
    let what = harmless(&words::what(&question.about, now));
    writeln!(io::stderr(), "{}", colours.paint(Style::Bold, &what))?;
    let rule = question.about.call().and_then(|call| rule_for(now, call));
    loop {
        write!(io::stderr(), "{} ", words::choices(&question.about, rule.as_ref(), project.trust))?;
        io::stderr().flush()?;
        let typed = line()?;
        match read(&question.about, typed.trim(), rule.as_ref(), project)? {
            Some(answer) => return Ok(for_what_was_shown(answer, question, now)),
            None => writeln!(io::stderr(), "{}", words::NOT_UNDERSTOOD)?,
        }
    }
}

/// What is approved is what was shown.
fn for_what_was_shown(answer: Answer, question: &Question, now: &Conversation) -> Answer {
    match question.about.call().and_then(|call| now.input_hash(call)) {
        Some(hash) => answer.for_input(&hash),
        None => answer,
    }
}

fn line() -> anyhow::Result<String> {
    let mut typed = String::new();
    let read = io::stdin().lock().read_line(&mut typed).context("nobody can be asked")?;
    if read == 0 {
        bail!("nobody answers; the run waits, and `windlass runs` lists it");
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
