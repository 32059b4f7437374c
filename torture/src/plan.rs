//! The plan of a conversation: its calls, the script of its model, and the command lines for it.

pub(crate) mod binary_command;
pub(crate) mod conversation_plan;
pub(crate) mod mcp_ledger;
pub(crate) mod script;
pub(crate) mod seeded_random;

#[cfg(test)]
mod conversation_plan_tests;
#[cfg(test)]
mod script_tests;
