//! What a run asks its human, and the answers there are.

use windlass::core::conversation::Conversation;
use windlass::core::ids::{CallId, LaneId};
use windlass::core::permission::Rule;
use windlass::core::question::{About, Question};

use crate::look::paper::one_line;
use crate::settle::trust::Trust;

/// Characters that take no room.
const UNSEEN: [char; 6] = ['\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{ad}', '\u{feff}'];

/// Characters of a call's arguments that are shown in a question.
const INPUT_CHARS: usize = 500;

/// What a parked run asks, and how to answer.
pub(crate) fn waiting(questions: &[Question], now: &Conversation, lane: &LaneId) -> String {
    let line = |question: &Question| {
        let (id, what) = (question.id, what(&question.about, now));
        let choices = question.about.choices();
        format!(
            "windlass: question {id}: {what}\n  answer with `windlass answer {lane} {id} …`: {choices}"
        )
    };
    questions.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The answers a person can type.
pub(crate) fn choices(about: &About, rule: Option<&Rule>, trust: Trust) -> String {
    match (about, rule) {
        (About::Approval { .. }, Some(rule)) => {
            let project = match trust {
                Trust::Given => format!("[p] `{rule}` for this project, "),
                Trust::Missing => String::new(),
            };
            format!(
                "[y] once, [c] `{rule}` for this conversation, {project}[n] no, or `n` and why:"
            )
        }
        (About::Approval { .. }, None) => "[y] once, [n] no, or `n` and why:".to_owned(),
        (About::Uncertain { .. }, _) => {
            "[r] it did not happen, run it again, [d] it happened, [a] leave it:".to_owned()
        }
        (About::Asking { .. }, _) => "your answer:".to_owned(),
        (About::Guidance { .. }, _) => {
            "say how to go on, Enter to keep going, or `stop`:".to_owned()
        }
        (About::Budget { .. } | About::Drift { .. }, _) => "[y] go on, [n] stop:".to_owned(),
    }
}

/// What a question is about, in words.
pub(crate) fn what(about: &About, now: &Conversation) -> String {
    match about {
        About::Approval { call } => format!("may {} run?", described(*call, now)),
        About::Uncertain { call } => {
            format!("{} was running when its process ended; did it happen?", described(*call, now))
        }
        About::Asking { call } => format!("{} asks you", described(*call, now)),
        About::Guidance { question } => question.to_string(),
        About::Budget { cap } => {
            format!("the cap is reached ({}); may as much again be spent?", cap.terminal())
        }
        About::Drift { what } => format!("{what}; go on?"),
    }
}

/// A call as a person knows it: the tool and its arguments.
fn described(id: CallId, now: &Conversation) -> String {
    let round = now.run.as_ref().and_then(|run| run.round());
    match round.and_then(|round| round.call(id)) {
        Some(call) => {
            let input = one_line(call.tool_use.input.text(), INPUT_CHARS);
            // What cannot be seen must not stand in what somebody is asked to allow.
            format!("{} {}", call.tool_use.name, input.replace(UNSEEN, "\u{fffd}"))
        }
        None => format!("call {id}"),
    }
}
