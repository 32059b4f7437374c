//! Questions to the human, and the possible answers.

use std::path::Path;

use windlass::core::log::ids::LaneId;
use windlass::core::permission::PermissionRule;
use windlass::core::run::conversation::Conversation;
use windlass::core::run::question::{Question, QuestionKind};

use crate::config::trust::folder_trust::TrustState;
use crate::messages::{self, shell_word};

/// A question with its details and how it is answered.
pub(crate) fn question_with_answers(
    question: &Question,
    now: &Conversation,
    lane: &LaneId,
) -> String {
    let (id, choices) = (question.id, super::accepted_answers(&question.kind));
    let mut lines =
        vec![format!("question {id}: {}", messages::question_text(&question.kind, now))];
    lines.extend(messages::question_details(&question.kind, now, None));
    let word = shell_word(lane);
    lines.push(format!("  answer with `windlass answer {word} {id} ANSWER`: {choices}"));
    lines.join("\n")
}

/// A question with details, where files can be read for a diff.
pub(crate) fn question_for_terminal(
    about: &QuestionKind,
    now: &Conversation,
    folder: &Path,
) -> (String, Vec<String>) {
    (messages::question_text(about, now), messages::question_details(about, now, Some(folder)))
}

/// The answers that can be typed.
pub(crate) fn choice_line(
    about: &QuestionKind,
    rule: Option<&PermissionRule>,
    trust: TrustState,
) -> String {
    match (about, rule) {
        (QuestionKind::Approval { .. }, Some(rule)) => {
            let project = match trust {
                TrustState::Trusted => format!("[p] always allow `{rule}` in this project  "),
                TrustState::Untrusted => String::new(),
            };
            format!(
                "[y] allow once  [c] allow `{rule}` in this conversation  {project}[n] deny (you may \
                 add a reason):"
            )
        }
        (QuestionKind::Approval { .. }, None) => {
            "[y] allow once  [n] deny (you may add a reason):".to_owned()
        }
        (QuestionKind::Uncertain { .. }, _) => {
            "[r] it did not run, run it again  [d] it ran  [a] abandon it:".to_owned()
        }
        (QuestionKind::ModelQuestion { .. }, _) => "Your answer:".to_owned(),
        (QuestionKind::ToolRequest { request, .. }, _) => match request.form() {
            Some(_) => "Your values, Enter for the defaults, or `n` to decline:".to_owned(),
            None => "[y] I opened the page  [n] decline:".to_owned(),
        },
        (QuestionKind::Plan { .. }, _) => {
            "[y] start the work  [e] start and accept edits  [n] keep planning (you may add what to change):"
                .to_owned()
        }
        (QuestionKind::Guidance { .. }, _) => {
            "Describe how to continue, press Enter to continue, or type `stop`:".to_owned()
        }
        (QuestionKind::Budget { .. } | QuestionKind::PromptChanged { .. }, _) => "[y] continue  [n] stop:".to_owned(),
    }
}

/// The effect of each answer, for a person who types `?`.
pub(crate) fn choice_help(
    about: &QuestionKind,
    rule: Option<&PermissionRule>,
    trust: TrustState,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut say = |key: &str, what: &str| lines.push(format!("  {key:<3} {what}"));
    match about {
        QuestionKind::Approval { .. } => {
            say("y", "run this call once; similar calls need approval again");
            if let Some(rule) = rule {
                let here = if rule.covers_tool("Bash") { " in the folder it runs in" } else { "" };
                say(
                    "c",
                    &format!(
                        "run it, and everything `{rule}` covers{here}, until this conversation ends"
                    ),
                );
                if trust == TrustState::Trusted {
                    let all = if rule.covers_tool("Bash") { " and all folders of it" } else { "" };
                    say(
                        "p",
                        &format!(
                            "allow it for every run of this project{all} (.claude/settings.local.json)"
                        ),
                    );
                }
            }
            say("n", "do not run it; text after n is sent to the model: n use git instead");
        }
        QuestionKind::Uncertain { .. } => {
            say("r", "run the call again");
            say("d", "tell the model that the call is done, and do not run it");
            say("a", "tell the model that the call was abandoned, and do not run it");
        }
        QuestionKind::Plan { .. } => {
            say("y", "leave plan mode and start; changes need approval");
            say("e", "leave plan mode and start; edits in the folder need no approval");
            say("n", "stay in plan mode; text after n is sent to the model: n keep the old API");
        }
        QuestionKind::ModelQuestion { .. } => {
            say("", "your text is sent to the model as the answer");
        }
        QuestionKind::ToolRequest { request, .. } => match request.form() {
            Some(_) => {
                say("", "values are `name=value`, separated by `;`, or one JSON object;");
                say("", "a form with one field takes the value alone");
                say("n", "decline: the tool goes on without an answer");
            }
            None => {
                say("y", "you opened the page and did what it asks for");
                say("n", "decline: the tool goes on without it");
            }
        },
        QuestionKind::Guidance { .. } => {
            say("", "your text is sent to the model, and the run continues");
            say("", "Enter continues the run, `stop` ends it");
        }
        QuestionKind::Budget { .. } => {
            say("y", "continue with twice the budget");
            say("n", "end the run");
        }
        QuestionKind::PromptChanged { .. } => {
            say("y", "continue with the current prompt and tools");
            say("n", "end the run");
        }
    }
    say("^C", "exit; the run stays parked, and `windlass explain` shows how to answer it");
    lines
}

/// The message for an answer that is not possible.
pub(crate) fn invalid_choice(
    about: &QuestionKind,
    rule: Option<&PermissionRule>,
    trust: TrustState,
) -> &'static str {
    match (about, rule, trust) {
        (QuestionKind::Approval { .. }, Some(_), TrustState::Trusted) => {
            "Please answer y, c, p or n; ? explains them."
        }
        (QuestionKind::Approval { .. }, Some(_), TrustState::Untrusted) => {
            "Please answer y, c or n; ? explains them."
        }
        (
            QuestionKind::Approval { .. }
            | QuestionKind::Budget { .. }
            | QuestionKind::PromptChanged { .. },
            ..,
        ) => "Please answer y or n; ? explains them.",
        (QuestionKind::ToolRequest { .. }, ..) => "Please answer as the form asks; ? explains it.",
        (QuestionKind::Plan { .. }, ..) => "Please answer y, e or n; ? explains them.",
        (QuestionKind::Uncertain { .. }, ..) => "Please answer r, d or a; ? explains them.",
        (QuestionKind::ModelQuestion { .. } | QuestionKind::Guidance { .. }, ..) => {
            "Please type an answer."
        }
    }
}

/// The footer below a page of a long call.
pub(crate) fn page_footer(shown: usize, of: usize) -> String {
    format!("-- {shown} of {of} lines; Enter for more, a for all:")
}
