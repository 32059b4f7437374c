//! Output: the answer on standard output, progress and diagnostics on standard error.

mod answer_deadline;
mod answer_text;
mod ask_person;
mod background_agents;
pub(crate) mod diff_view;
mod follow_run;
mod hook_messages;
mod init_message;
mod json_output;
mod live_tail;
mod local_output;
pub(crate) mod markdown;
mod parked_run;
mod question_prompt;
mod queued_prompts;
mod retry_timeout;
mod signals;
mod spinner;
mod text_output;
mod trust_question;
mod unwritten_output;

#[cfg(feature = "terminal")]
pub(crate) use follow_run::follow_one_run;
pub(crate) use follow_run::{follow_resumed_run, follow_run, print_hook_messages};
pub(crate) use hook_messages::HookMessages;
pub(crate) use init_message::{init_info, plugins as init_plugins};
pub(crate) use local_output::{print_cleared, print_local_answer, print_no_conversation};
#[cfg(feature = "terminal")]
pub(crate) use question_prompt::suggest_rule_for;
pub(crate) use retry_timeout::ModelUnreachable;
pub(crate) use signals::{SignalAction, SignalListener};
#[cfg(feature = "terminal")]
pub(crate) use text_output::reached_limit;
pub(crate) use text_output::shows_progress_line;
pub(crate) use trust_question::ask_trust;
