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
    let word = shell_word(lane);
    let asked = |question: &Question| {
        let (id, choices) = (question.id, question.about.choices());
        let mut lines =
            vec![format!("windlass: question {id}: {}", present::text(&question.about, now))];
        lines.extend(present::details(&question.about, now, None));
        lines.push(format!("  answer with `windlass answer {word} {id} …`: {choices}"));
        lines.join("\n")
    };
    questions.iter().map(asked).collect::<Vec<_>>().join("\n")
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

/// What is said to an answer that does not fit.
pub(crate) fn try_again(about: &About, rule: Option<&Rule>, trust: Trust) -> &'static str {
    match (about, rule, trust) {
        (About::Approval { .. }, Some(_), Trust::Given) => "Please answer y, c, p or n.",
        (About::Approval { .. }, Some(_), Trust::Missing) => "Please answer y, c or n.",
        (About::Approval { .. } | About::Budget { .. } | About::Drift { .. }, ..) => {
            "Please answer y or n."
        }
        (About::Plan { .. }, ..) => "Please answer y, e or n.",
        (About::Uncertain { .. }, ..) => "Please answer r, d or a.",
        (About::Asking { .. } | About::Guidance { .. }, ..) => "Please type an answer.",
    }
}

/// The end of a page of a long call.
pub(crate) fn more(shown: usize, of: usize) -> String {
    format!("-- {shown} of {of} lines; Enter for more, a for all:")
}
