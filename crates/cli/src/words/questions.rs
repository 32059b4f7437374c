//! What a run asks its human, and the answers there are.

use std::path::Path;

use windlass::core::conversation::Conversation;
use windlass::core::ids::LaneId;
use windlass::core::permission::Rule;
use windlass::core::question::{About, Question};

use crate::present;
use crate::settle::trust::Trust;
use crate::words::shell_word;

/// What a parked run asks, and how to answer.
pub(crate) fn waiting(questions: &[Question], now: &Conversation, lane: &LaneId) -> String {
    let asked =
        |question: &Question| format!("windlass: {}", question_and_answers(question, now, lane));
    questions.iter().map(asked).collect::<Vec<_>>().join("\n")
}

/// What a question asks, what it is about, and how it is answered.
pub(crate) fn question_and_answers(
    question: &Question,
    now: &Conversation,
    lane: &LaneId,
) -> String {
    let (id, choices) = (question.id, question.about.choices());
    let mut lines = vec![format!("question {id}: {}", present::text(&question.about, now))];
    lines.extend(present::details(&question.about, now, None));
    let word = shell_word(lane);
    lines.push(format!("  answer with `windlass answer {word} {id} ANSWER`: {choices}"));
    lines.join("\n")
}

/// What is asked and what it is about, for somebody who can look at the files.
pub(crate) fn asked(about: &About, now: &Conversation, folder: &Path) -> (String, Vec<String>) {
    (present::text(about, now), present::details(about, now, Some(folder)))
}

/// The answers a person can type.
pub(crate) fn choices(about: &About, rule: Option<&Rule>, trust: Trust) -> String {
    match (about, rule) {
        (About::Approval { .. }, Some(rule)) => {
            let project = match trust {
                Trust::Given => format!("[p] always allow `{rule}` in this project  "),
                Trust::Missing => String::new(),
            };
            format!(
                "[y] allow once  [c] allow `{rule}` in this conversation  {project}[n] deny (you may \
                 add a reason):"
            )
        }
        (About::Approval { .. }, None) => {
            "[y] allow once  [n] deny (you may add a reason):".to_owned()
        }
        (About::Uncertain { .. }, _) => {
            "[r] it did not happen, run it again  [d] it happened  [a] abandon it:".to_owned()
        }
        (About::Asking { .. }, _) => "Your answer:".to_owned(),
        (About::Plan { .. }, _) => {
            "[y] begin the work  [e] begin and accept edits  [n] keep planning (you may add what to \
             change):"
                .to_owned()
        }
        (About::Guidance { .. }, _) => {
            "Say how to go on, press Enter to keep going, or type `stop`:".to_owned()
        }
        (About::Budget { .. } | About::Drift { .. }, _) => "[y] go on  [n] stop:".to_owned(),
    }
}

/// What each answer does, for a person who types `?`.
pub(crate) fn choices_help(about: &About, rule: Option<&Rule>, trust: Trust) -> Vec<String> {
    let mut lines = Vec::new();
    let mut say = |key: &str, what: &str| lines.push(format!("  {key:<3} {what}"));
    match about {
        About::Approval { .. } => {
            say("y", "run this call once; the next one like it is asked about again");
            if let Some(rule) = rule {
                let here = if rule.names("Bash") { " in the folder it runs in" } else { "" };
                say(
                    "c",
                    &format!(
                        "run it, and everything `{rule}` covers{here}, until this conversation ends"
                    ),
                );
                if trust == Trust::Given {
                    let all = if rule.names("Bash") { " and all folders of it" } else { "" };
                    say(
                        "p",
                        &format!(
                            "the same for every run of this project{all} (.claude/settings.local.json)"
                        ),
                    );
                }
            }
            say("n", "do not run it; a reason behind it is told to the model: n use git instead");
        }
        About::Uncertain { .. } => {
            say("r", "run the call again");
            say("d", "tell the model that the call is done, and do not run it");
            say("a", "tell the model that the call was abandoned, and do not run it");
        }
        About::Plan { .. } => {
            say("y", "end plan mode and begin; changes are asked about");
            say("e", "end plan mode and begin; edits of files in the folder are not asked about");
            say("n", "stay in plan mode; what follows is told to the model: n keep the old API");
        }
        About::Asking { .. } => say("", "what you type is the answer that the model gets"),
        About::Guidance { .. } => {
            say("", "what you type is told to the model, and it goes on");
            say("", "Enter alone lets it go on, `stop` ends the run");
        }
        About::Budget { .. } => {
            say("y", "go on with twice the budget");
            say("n", "end the run");
        }
        About::Drift { .. } => {
            say("y", "go on with what is there now");
            say("n", "end the run");
        }
    }
    say("^C", "leave; the run waits, and `windlass explain` says how to answer it");
    lines
}

/// What is said to an answer that does not fit.
pub(crate) fn try_again(about: &About, rule: Option<&Rule>, trust: Trust) -> &'static str {
    match (about, rule, trust) {
        (About::Approval { .. }, Some(_), Trust::Given) => {
            "Please answer y, c, p or n; ? explains them."
        }
        (About::Approval { .. }, Some(_), Trust::Missing) => {
            "Please answer y, c or n; ? explains them."
        }
        (About::Approval { .. } | About::Budget { .. } | About::Drift { .. }, ..) => {
            "Please answer y or n; ? explains them."
        }
        (About::Plan { .. }, ..) => "Please answer y, e or n; ? explains them.",
        (About::Uncertain { .. }, ..) => "Please answer r, d or a; ? explains them.",
        (About::Asking { .. } | About::Guidance { .. }, ..) => "Please type an answer.",
    }
}

/// The end of a page of a long call.
pub(crate) fn more(shown: usize, of: usize) -> String {
    format!("-- {shown} of {of} lines; Enter for more, a for all:")
}
