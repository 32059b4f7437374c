//! Decides what an input means for a conversation: the only place with rules, limits and tables.
//! Pure and total: any input at any time yields records, possibly none.
//!
//! One file per phase; this file only dispatches to them.

mod budget;
mod children;
mod commands;
mod compaction;
mod completion;
mod configure;
mod draft;
mod early_calls;
mod escalation;
mod guardrail;
mod iteration;
mod judge;
mod loop_check;
mod model_failure;
mod model_reply;
mod plan_mode;
mod pruning;
mod resume;
mod reviews;
mod stopping;
mod time_limits;
mod tool_calls;
mod tool_hooks;

use crate::log::ids::UnixMillis;
use crate::log::input::Input;
use crate::log::record::Record;
use crate::run::conversation::Conversation;
use draft::DecisionDraft;

/// Returns the records that follow from `input` arriving at time `at`.
#[must_use]
pub fn decide(conversation: &Conversation, at: UnixMillis, input: &Input) -> Vec<Record> {
    let mut draft = DecisionDraft::new(conversation, at, input);
    match input {
        Input::Configured { settings } => configure::on_configured(&mut draft, settings),
        Input::CommandsReceived { messages } => {
            commands::on_commands_received(&mut draft, messages);
        }
        Input::OwnerChanged { epoch, prompt_hash, prompt_fingerprint, .. } => {
            resume::on_owner_changed(&mut draft, *epoch, prompt_hash, prompt_fingerprint.as_ref());
        }
        Input::BlockReady { model_call, index, tool_use, facts } => {
            early_calls::on_block_ready(&mut draft, *model_call, *index, tool_use, facts);
        }
        Input::ModelReplied { model_call, reply, .. } => {
            model_reply::on_model_replied(&mut draft, *model_call, reply);
        }
        Input::ModelFailed { model_call, failure } => {
            model_failure::on_model_failed(&mut draft, *model_call, failure);
        }
        Input::HookResponded { call, decision, context } => {
            tool_hooks::on_hook_responded(&mut draft, *call, decision, context.is_some());
        }
        Input::ReviewReturned { id, result } => {
            reviews::on_review_returned(&mut draft, *id, result);
        }
        Input::CallClassified { call, classification, .. } => {
            tool_calls::on_call_classified(&mut draft, *call, classification);
        }
        Input::ToolReturned { call, attempt, started_at, outcome, context } => {
            let attempt = (*call, *attempt);
            tool_calls::on_tool_returned(&mut draft, attempt, *started_at, outcome, context);
        }
        Input::CallProbed { call, result } => {
            resume::on_call_probed(&mut draft, *call, result);
        }
        Input::SharedSpendingUpdated { total } => {
            budget::on_shared_spending_updated(&mut draft, *total);
        }
        Input::TimerFired {} => time_limits::on_timer_fired(&mut draft),
        Input::Forked { parent, at } => configure::on_forked(&mut draft, parent, *at),
    }
    draft.into_records()
}
