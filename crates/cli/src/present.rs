//! Presentation of calls and questions, the same everywhere: at a prompt, for a parked question, in
//! `show`, `explain`, `approve` and `answer`, and as JSON. A person approves exactly what runs:
//! decoded, complete, and without invisible characters.

mod call;
mod choices;
mod escape;
mod question;
mod todos;

pub(crate) use call::call_summary;
pub(crate) use choices::{ModelQuestion, join_answers, parse_model_questions, resolve_answer_text};
pub(crate) use escape::{escape_invisible, is_bidi_control, sanitize_output};
pub(crate) use question::{QuestionView, command_folder, question_details, question_text};
pub(crate) use todos::task_lines;
