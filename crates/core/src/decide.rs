//! All judgement: what an input means, given what was recorded. Pure and total: any input at any
//! time yields records, perhaps none.
//!
//! One file per phase; this page only says which one answers.

mod answer;
mod boundary;
mod budget;
mod calls;
mod children;
mod clock;
mod configure;
mod counsel;
mod draft;
mod early;
mod failure;
mod guardrail;
mod hooks;
mod judge;
mod mail;
mod person;
mod plan;
mod pruning;
mod reply;
mod resume;
mod room;
mod stopping;
mod watch;

use crate::conversation::Conversation;
use crate::ids::Millis;
use crate::input::Input;
use crate::record::Record;
use draft::Draft;

/// What is settled by `input` arriving at time `at`.
#[must_use]
pub fn decide(conversation: &Conversation, at: Millis, input: &Input) -> Vec<Record> {
    let mut draft = Draft::new(conversation, at, input);
    match input {
        Input::Configured { settings } => configure::configured(&mut draft, settings),
        Input::Received { mail } => mail::received(&mut draft, mail),
        Input::Adopted { epoch, prompt_hash, offer, .. } => {
            resume::adopted(&mut draft, *epoch, prompt_hash, offer.as_ref());
        }
        Input::BlockReady { ask, index, tool_use, facts } => {
            early::block_ready(&mut draft, *ask, *index, tool_use, facts);
        }
        Input::Replied { ask, reply, .. } => reply::replied(&mut draft, *ask, reply),
        Input::ModelFailed { ask, failure } => failure::model_failed(&mut draft, *ask, failure),
        Input::HookAnswered { call, answer, context } => {
            hooks::answered(&mut draft, *call, answer, context.is_some());
        }
        Input::Counselled { counsel, advice } => {
            counsel::counselled(&mut draft, *counsel, advice);
        }
        Input::Classified { call, opinion, .. } => calls::classified(&mut draft, *call, opinion),
        Input::ToolReturned { call, attempt, started_at, outcome } => {
            calls::tool_returned(&mut draft, *call, *attempt, *started_at, outcome);
        }
        Input::Probed { call, finding } => resume::probed(&mut draft, *call, finding),
        Input::SpendingSeen { total } => budget::spending_seen(&mut draft, *total),
        Input::Ticked {} => clock::ticked(&mut draft),
        Input::Forked { parent, at } => configure::forked(&mut draft, parent, *at),
    }
    draft.into_records()
}
