//! How calls and questions are shown to people, the same on every surface: at a prompt, for a parked
//! question, in `show`, `explain`, `approve` and `answer`, and as JSON. What a person approves is
//! exactly what runs: decoded, whole, and with nothing in it that cannot be seen.

mod call;
mod choices;
mod escape;
mod question;
mod todos;

pub(crate) use call::summary;
pub(crate) use choices::{AskedQuestion, asked_questions, join_answers, resolve_text};
pub(crate) use escape::{sanitize_output, turns_writing, visible};
pub(crate) use question::{QuestionView, command_folder, details, text};
pub(crate) use todos::task_lines;
