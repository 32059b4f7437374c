//! Model calls and what they bring.

use std::sync::Arc;

use super::talk::read_steers;
use super::with_run;
use crate::budget::Price;
use crate::conversation::Conversation;
use crate::facts::Facts;
use crate::ids::{CallId, Millis};
use crate::input::Input;
use crate::record::{Launch, Record, Transition, Truncation};
use crate::reply::{Reply, Usage};
use crate::run::{Asking, EarlyCall, InUse, LastReply, Phase};

pub(super) fn asked(c: &mut Conversation, record: &Record) {
    let Record::Asked { ask, max_tokens, bound, reserved_tokens, transition, choice } = record
    else {
        return;
    };
    c.asks = *ask;
    change_thinker(c);
    if *transition == Transition::Steer || !c.transcript.ends_in_reply() {
        read_steers(c);
    }
    with_run(c, |run| {
        if !keeps_pieces(*transition) {
            run.pieces.clear();
        }
        if *transition == Transition::Steer {
            // Somebody said more: what was answered before that is not the answer.
            run.structured = None;
        }
        if *transition == Transition::Retry {
            run.counters.retries = run.counters.retries.saturating_add(1);
        }
        run.cap_tokens = run.cap_tokens.max(*max_tokens);
        run.counters.model_calls = run.counters.model_calls.saturating_add(1);
        if !std::mem::replace(&mut run.awaits_reply, true) {
            run.counters.iterations = run.counters.iterations.saturating_add(1);
        }
        run.phase = Phase::Asking(Asking {
            ask: *ask,
            max_tokens: *max_tokens,
            bound: *bound,
            reserved_tokens: *reserved_tokens,
            transition: *transition,
            choice: choice.clone(),
            early: Vec::new(),
        });
    });
}

/// Whether the answer goes on where the last one stopped.
fn keeps_pieces(transition: Transition) -> bool {
    match transition {
        Transition::ContinueText
        | Transition::Resume
        | Transition::RaiseCap
        | Transition::Retry
        | Transition::Compacted
        | Transition::Guided
        | Transition::Adopted => true,
        Transition::Prompt
        | Transition::ToolResults
        | Transition::ReissueToolUse
        | Transition::Reprompt
        | Transition::Rejected
        | Transition::SumUp
        | Transition::Steer => false,
    }
}

pub(super) fn early_judged(c: &mut Conversation, input: &Input, id: CallId, launch: Launch) {
    let Input::BlockReady { tool_use, facts, .. } = input else { return };
    with_run(c, |run| {
        if let Phase::Asking(asking) = &mut run.phase {
            asking.early.push(EarlyCall {
                id,
                tool_use: tool_use.clone(),
                launch,
                facts: Arc::new(facts.clone()),
            });
        }
    });
}

pub(super) fn reply_of(input: &Input) -> Option<(&Arc<Reply>, &[Facts])> {
    if let Input::Replied { reply, facts, .. } = input { Some((reply, facts)) } else { None }
}

pub(super) fn replied(c: &mut Conversation, input: &Input, truncation: Truncation) {
    let Some((reply, _)) = reply_of(input) else { return };
    let sent_bytes = c.request_bytes();
    c.meter.learn(sent_bytes, &reply.usage);
    let price = c.price_in_use();
    charge(c, &reply.usage, price.as_ref());
    c.count_for_task(&reply.usage);
    let Some(run) = &mut c.run else { return };
    run.awaits_reply = false;
    run.last_error = None;
    run.counters.failures = 0;
    run.down_since = None;
    run.counters.truncations = match truncation {
        Truncation::Cut => run.counters.truncations.saturating_add(1),
        Truncation::Whole => 0,
    };
    if let Phase::Asking(asking) = &run.phase {
        c.last_reply = Some(LastReply {
            ask: asking.ask,
            reply: reply.clone(),
            truncation,
            transition: asking.transition,
        });
    }
    run.phase = Phase::Between;
}

pub(super) fn attempt_abandoned(c: &mut Conversation, why: &Arc<str>, charged: &Usage) {
    let price = c.price_in_use();
    charge(c, charged, price.as_ref());
    with_run(c, |run| {
        run.phase = Phase::Between;
        run.last_error = Some(why.clone());
    });
}

/// Counts what a call cost.
pub(super) fn charge(c: &mut Conversation, usage: &Usage, price: Option<&Price>) {
    c.usage.add(usage);
    c.spent.add(usage, price);
    with_run(c, |run| {
        run.counters.usage.add(usage);
        run.spent.add(usage, price);
    });
}

/// Thoughts of one model are nothing to another.
fn change_thinker(c: &mut Conversation) {
    let Some(model) = c.settings_in_use().map(|settings| settings.model.name.clone()) else {
        return;
    };
    if c.thinker.as_ref().is_some_and(|thinker| *thinker != model) {
        let thoughts = c.transcript.thoughts();
        if !thoughts.is_empty() {
            c.transcript.rewrite(&thoughts);
        }
    }
    c.thinker = Some(model);
}

pub(super) fn fell_back(c: &mut Conversation) {
    let Some(model) = c.settings.as_ref().and_then(|settings| settings.fallback.clone()) else {
        return;
    };
    with_run(c, |run| {
        run.model = InUse::Fallback;
        run.cap_tokens = model.max_tokens;
        run.counters.failures = 0;
        run.down_since = None;
    });
}

pub(super) fn deferred(c: &mut Conversation, at: Millis, until: Millis, failures: u32) {
    with_run(c, |run| {
        run.counters.failures = failures;
        run.down_since = run.down_since.or(Some(at));
        run.phase = Phase::Deferred { until };
    });
}

pub(super) fn reply_kept(c: &mut Conversation, input: &Input) {
    let Some((reply, _)) = reply_of(input) else { return };
    c.transcript.push_reply(&reply.blocks);
    with_run(c, |run| run.pieces.push(Arc::from(reply.text())));
}

pub(super) fn noted(c: &mut Conversation, text: &Arc<str>) {
    c.transcript.push_note(text);
}
