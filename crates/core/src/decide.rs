//! Decides what an input means for a conversation: the only place with rules, limits and tables.
//! Pure and total: any input at any time yields records, possibly none.
//!
//! One file per phase. A handler records what it decides and returns what comes next (`NextStep`);
//! the loop in this file follows it, so that the files do not call one another in a circle.

mod answer_rejection;
mod budget;
mod children;
mod commands;
mod compaction;
mod completion;
mod configure;
mod draft;
mod early_calls;
mod escalation;
mod finishing;
mod guardrail;
mod human_answers;
mod interrupted_review;
mod iteration;
mod judge;
mod loop_check;
mod model_failure;
mod model_reply;
mod next_step;
mod plan_mode;
mod pruning;
mod resume;
mod reviews;
mod server_tools;
mod session_changes;
mod stop_conditions;
mod stopping;
mod structured_answer;
mod time_limits;
mod tool_calls;
mod tool_hooks;
mod wind_down;

use crate::log::ids::UnixMillis;
use crate::log::input::Input;
use crate::log::record::Record;
use crate::run::conversation::Conversation;
use draft::DecisionDraft;
use next_step::NextStep;

/// Returns the records that follow from `input` arriving at time `at`.
#[must_use]
pub fn decide(conversation: &Conversation, at: UnixMillis, input: &Input) -> Vec<Record> {
    let mut draft = DecisionDraft::new(conversation, at, input);
    if let Input::CommandsReceived { messages } = input {
        let mut rest = messages.as_slice();
        while let Some((message, later)) = rest.split_first() {
            let next = commands::on_command(&mut draft, message, later);
            follow_steps(&mut draft, next);
            rest = later;
        }
    } else {
        let next = handle_input(&mut draft, input);
        follow_steps(&mut draft, next);
    }
    draft.into_records()
}

/// Follows the steps until nothing is left to do without the outside world. Every round trip records
/// something that brings the run closer to a wait or to its end.
fn follow_steps(draft: &mut DecisionDraft<'_>, mut next: NextStep) {
    loop {
        next = match next {
            NextStep::Wait => return,
            NextStep::AskModel(ask) => iteration::ask_model(draft, ask),
            NextStep::StartForcedCall { transition, tool } => {
                iteration::start_forced_call(draft, transition, tool)
            }
            NextStep::AdvanceRound => tool_calls::advance_round(draft),
            NextStep::CompleteAnswer(cause) => completion::complete_answer(draft, cause),
            NextStep::StartNextPrompt => iteration::start_next_prompt(draft),
        };
    }
}

fn handle_input(draft: &mut DecisionDraft<'_>, input: &Input) -> NextStep {
    match input {
        Input::Configured { settings } => configure::on_configured(draft, settings),
        Input::ServerToolsOffered { tools } => server_tools::on_server_tools_offered(draft, tools),
        Input::OwnerChanged { epoch, prompt_hash, prompt_fingerprint, .. } => {
            resume::on_owner_changed(draft, *epoch, prompt_hash, prompt_fingerprint.as_ref())
        }
        Input::BlockReady { model_call, index, tool_use, facts } => {
            early_calls::on_block_ready(draft, *model_call, *index, tool_use, facts);
            NextStep::Wait
        }
        Input::ModelReplied { model_call, reply, .. } => {
            model_reply::on_model_replied(draft, *model_call, reply)
        }
        Input::ModelFailed { model_call, failure } => {
            model_failure::on_model_failed(draft, *model_call, failure)
        }
        Input::HookResponded { call, decision, context, stop } => {
            tool_hooks::on_hook_responded(draft, *call, decision, context.is_some(), stop.as_ref())
        }
        Input::HookModelUsed { .. } => {
            draft.record(Record::HookModelCharged {});
            NextStep::Wait
        }
        Input::ReviewReturned { id, result } => reviews::on_review_returned(draft, *id, result),
        Input::CallClassified { call, classification, .. } => {
            tool_calls::on_call_classified(draft, *call, classification)
        }
        Input::ToolReturned { call, attempt, started_at, outcome, context, untrusted } => {
            let (attempt, beside) = ((*call, *attempt), (&**context, &**untrusted));
            tool_calls::on_tool_returned(draft, attempt, *started_at, outcome, beside)
        }
        Input::CallProbed { call, result } => resume::on_call_probed(draft, *call, result),
        Input::SharedSpendingUpdated { total } => {
            budget::on_shared_spending_updated(draft, *total);
            NextStep::Wait
        }
        Input::TimerFired {} => time_limits::on_timer_fired(draft),
        Input::Forked { parent, at } => {
            configure::on_forked(draft, parent, *at);
            NextStep::Wait
        }
        // Commands are handled one after another, each to its end.
        Input::CommandsReceived { .. } => NextStep::Wait,
    }
}
