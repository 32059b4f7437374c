//! Tools about the conversation itself: questions and plans for a human, the task list, the journal
//! and the answer as data. The core answers most of these calls; the tools only validate them.

mod ask_user_question;
mod exit_plan_mode;
mod journal;
mod structured_output;
mod todo_write;

pub use ask_user_question::AskUserQuestionTool;
pub use exit_plan_mode::ExitPlanModeTool;
pub use journal::JournalTool;
pub use structured_output::{InvalidOutputSchema, StructuredOutput};
pub use todo_write::{TodoItem, TodoStatus, TodoWriteTool};
