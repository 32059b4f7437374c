//! Applies model calls and their replies.

use std::sync::Arc;

use super::prompts::read_steers;
use super::with_run;
use crate::budget::spending::ModelPrice;
use crate::call::call_facts::CallFacts;
use crate::log::ids::{CallId, UnixMillis};
use crate::log::input::Input;
use crate::log::record::{AbandonCause, EarlyStart, Record, Transition, Truncation};
use crate::message::reply::{ModelReply, TokenUsage};
use crate::run::active_run::{EarlyCall, LastReply, PendingModelCall, RunPhase};
use crate::run::conversation::Conversation;

pub(super) fn apply_model_call_started(c: &mut Conversation, record: &Record) {
    let Record::ModelCallStarted {
        model_call,
        max_tokens,
        bound,
        reserved_tokens,
        transition,
        choice,
    } = record
    else {
        return;
    };
    c.model_call_count = *model_call;
    strip_foreign_thinking(c);
    if *transition == Transition::Steer || !c.transcript.ends_in_reply() {
        read_steers(c);
    }
    with_run(c, |run| {
        if !continues_answer(*transition) {
            run.answer_parts.clear();
        }
        if *transition == Transition::Steer {
            // New user input: an earlier structured answer no longer counts.
            run.structured_output = None;
        }
        if *transition == Transition::Retry {
            run.counters.retries = run.counters.retries.saturating_add(1);
        }
        run.output_cap_tokens = run.output_cap_tokens.max(*max_tokens);
        run.counters.model_calls = run.counters.model_calls.saturating_add(1);
        if !std::mem::replace(&mut run.awaits_reply, true) {
            run.counters.iterations = run.counters.iterations.saturating_add(1);
        }
        run.phase = RunPhase::CallingModel(PendingModelCall {
            model_call: *model_call,
            max_tokens: *max_tokens,
            bound: *bound,
            reserved_tokens: *reserved_tokens,
            transition: *transition,
            choice: choice.clone(),
            early_calls: Vec::new(),
        });
    });
}

/// Whether the answer continues where the last reply stopped.
fn continues_answer(transition: Transition) -> bool {
    match transition {
        Transition::ContinueText
        | Transition::Resume
        | Transition::RaiseCap
        | Transition::Retry
        | Transition::Compacted
        | Transition::Guidance
        | Transition::OwnerChanged => true,
        Transition::Prompt
        | Transition::ToolResults
        | Transition::ReissueToolUse
        | Transition::Reprompt
        | Transition::Rejected
        | Transition::WrapUp
        | Transition::Steer => false,
    }
}

pub(super) fn apply_early_call_decided(
    c: &mut Conversation,
    input: &Input,
    id: CallId,
    start: EarlyStart,
) {
    let Input::BlockReady { tool_use, facts, .. } = input else { return };
    with_run(c, |run| {
        if let RunPhase::CallingModel(asking) = &mut run.phase {
            asking.early_calls.push(EarlyCall {
                id,
                tool_use: tool_use.clone(),
                start,
                facts: Arc::new(facts.clone()),
            });
        }
    });
}

pub(super) fn reply_of(input: &Input) -> Option<(&Arc<ModelReply>, &[CallFacts])> {
    if let Input::ModelReplied { reply, facts, .. } = input { Some((reply, facts)) } else { None }
}

pub(super) fn apply_model_replied(c: &mut Conversation, input: &Input, truncation: Truncation) {
    let Some((reply, _)) = reply_of(input) else { return };
    let sent_bytes = c.request_bytes();
    c.meter.learn(sent_bytes, &reply.usage);
    let price = c.active_price();
    charge(c, &reply.usage, price.as_ref());
    c.count_task_usage(&reply.usage);
    let Some(run) = &mut c.run else { return };
    run.awaits_reply = false;
    run.last_error = None;
    run.counters.failures = 0;
    run.provider_down_since = None;
    run.counters.truncations = match truncation {
        Truncation::Truncated => run.counters.truncations.saturating_add(1),
        Truncation::Complete => 0,
    };
    if let RunPhase::CallingModel(asking) = &run.phase {
        c.last_reply = Some(LastReply {
            model_call: asking.model_call,
            reply: reply.clone(),
            truncation,
            transition: asking.transition,
        });
    }
    run.phase = RunPhase::Deciding;
}

pub(super) fn apply_model_call_abandoned(
    c: &mut Conversation,
    cause: &AbandonCause,
    charged: &TokenUsage,
) {
    let price = c.active_price();
    charge(c, charged, price.as_ref());
    with_run(c, |run| {
        run.phase = RunPhase::Deciding;
        run.last_error = Some(Arc::from(cause.as_str()));
    });
}

/// Charges the model calls of a hook.
pub(super) fn apply_hook_model_charged(c: &mut Conversation, input: &Input) {
    if let Input::HookModelUsed { usage } = input {
        let price = c.side_model_price();
        charge(c, usage, price.as_ref());
    }
}

/// Adds the cost of a model call to the spending.
pub(super) fn charge(c: &mut Conversation, usage: &TokenUsage, price: Option<&ModelPrice>) {
    c.usage.add(usage);
    c.spent.add_usage(usage, price);
    with_run(c, |run| {
        run.counters.usage.add(usage);
        run.spent.add_usage(usage, price);
    });
}

/// Removes the thinking blocks of another model: a model cannot use the thinking of another one.
fn strip_foreign_thinking(c: &mut Conversation) {
    let Some(model) = c.active_settings().map(|settings| settings.model.name.clone()) else {
        return;
    };
    if c.thinking_model.as_ref().is_some_and(|thinker| *thinker != model) {
        let thoughts = c.transcript.thinking_removals();
        if !thoughts.is_empty() {
            c.transcript.rewrite(&thoughts);
        }
    }
    c.thinking_model = Some(model);
}

pub(super) fn apply_fallback_model(c: &mut Conversation) {
    let Some(settings) = c.settings.clone() else { return };
    with_run(c, |run| {
        let next = run.active_model.next();
        let Some(model) = next.find(&settings) else { return };
        run.active_model = next;
        run.output_cap_tokens = model.max_tokens;
        run.counters.failures = 0;
        run.provider_down_since = None;
    });
}

pub(super) fn apply_model_retry(
    c: &mut Conversation,
    at: UnixMillis,
    until: UnixMillis,
    failures: u32,
) {
    with_run(c, |run| {
        run.counters.failures = failures;
        run.provider_down_since = run.provider_down_since.or(Some(at));
        run.phase = RunPhase::AwaitingRetry { until };
    });
}

pub(super) fn apply_reply_kept(c: &mut Conversation, input: &Input) {
    let Some((reply, _)) = reply_of(input) else { return };
    c.transcript.push_reply(&reply.blocks);
    with_run(c, |run| run.answer_parts.push(Arc::from(reply.text())));
}

pub(super) fn apply_note_added(c: &mut Conversation, text: &Arc<str>) {
    c.transcript.push_note(text);
}
