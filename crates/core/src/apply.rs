//! All bookkeeping, no opinions. Applying a record never looks at rules, limits or the clock: what
//! was judged is in the record, and what arrived is in the entry's input.
//!
//! A record that does not fit the state changes nothing. Logs we wrote never hold one; a log from
//! elsewhere must not be able to bring the process down.

use std::sync::Arc;

use crate::block::{Block, ErrorFlag};
use crate::call::{Call, CallState, Span};
use crate::conversation::{Conversation, Ended, QueuedPrompt};
use crate::facts::Facts;
use crate::ids::{CallId, MailId, Millis, RunId};
use crate::input::{HookAnswer, Input};
use crate::mail::MailBody;
use crate::outcome::{Outcome, OutcomeKind, Shown};
use crate::policy::Verdict;
use crate::question::Question;
use crate::record::{Launch, Record, Settlement, Transition, Truncation};
use crate::reply::{Reply, Usage};
use crate::run::{
    Asking, EarlyCall, Fatality, Halt, LastReply, Leave, Phase, Round, Run, StopRequest,
};
use crate::settings::Listening;
use crate::stop::StopCause;

/// Brings `c` up to date with one record of an entry of time `at` whose input was `input`.
pub fn apply(c: &mut Conversation, at: Millis, input: &Input, record: &Record) {
    match record {
        Record::Configured {} => configured(c, input),
        Record::Queued { mail } => queued(c, input, *mail),
        Record::MailRefused { .. } => {}
        Record::Steered { mail } => steered(c, input, *mail),
        Record::RunStarted { run } => run_started(c, run),
        Record::Asked { .. } => asked(c, record),
        Record::EarlyJudged { call, launch } => early_judged(c, input, *call, *launch),
        Record::Replied { truncation, .. } => replied(c, input, *truncation),
        Record::AttemptAbandoned { charged, .. } => attempt_abandoned(c, charged),
        Record::Deferred { until, failures } => deferred(c, *until, *failures),
        Record::Anomaly { .. } => {}
        Record::ReplyKept {} => reply_kept(c, input),
        Record::ReplyDropped {} => {}
        Record::Noted { text } => noted(c, text),
        Record::RoundOpened { dropped, note } => round_opened(c, input, dropped, note.as_ref()),
        Record::InputChanged { call } => input_changed(c, input, *call),
        Record::Judged { call, verdict } => judged(c, *call, verdict),
        Record::Questioned { question } => questioned(c, question),
        Record::Answered { .. } => {}
        Record::Launched { call } | Record::Started { call } => let_go(c, *call, at),
        Record::Retried { call, until } => set(c, *call, CallState::Resting { until: *until }),
        Record::Completed { call } => completed(c, at, input, *call),
        Record::Settled { call, shown } => settled(c, *call, shown),
        Record::CallLost { call } => lost(c, at, *call),
        Record::CallCleared { call } => set(c, *call, CallState::Ready),
        Record::RoundClosed {} => round_closed(c),
        Record::TurnedFatal { .. } => with_round(c, |round| round.fatal = Fatality::Fatal),
        Record::CancelRequested { how, .. } => {
            with_run(c, |run| run.stop = Some(StopRequest { how: *how, at }));
        }
        Record::Compacted { keep_from, note } => compacted(c, *keep_from, note),
        Record::Finished { run, cause, also, said } => {
            finished(c, run, *cause, also, said.as_ref());
        }
        Record::Adopted { epoch } => c.epoch = *epoch,
        Record::DriftAccepted {} => with_run(c, drift_accepted),
        Record::Forked { .. } => forked(c),
    }
}

fn with_run(c: &mut Conversation, change: impl FnOnce(&mut Run)) {
    if let Some(run) = &mut c.run {
        change(run);
    }
}

fn with_round(c: &mut Conversation, change: impl FnOnce(&mut Round)) {
    if let Some(round) = c.run.as_mut().and_then(Run::round_mut) {
        change(round);
    }
}

fn with_call(c: &mut Conversation, id: CallId, change: impl FnOnce(&mut Call)) {
    with_round(c, |round| {
        if let Some(call) = round.calls.iter_mut().find(|call| call.id == id) {
            change(call);
        }
    });
}

fn set(c: &mut Conversation, id: CallId, state: CallState) {
    with_call(c, id, |call| call.state = state);
}

fn configured(c: &mut Conversation, input: &Input) {
    let Input::Configured { settings } = input else { return };
    c.prompt_hash = Some(settings.prompt_hash());
    c.settings = Some(settings.clone());
    with_run(c, |run| {
        run.cap_tokens = settings.model.max_tokens;
        if let Phase::Halted(halt) = &mut run.phase {
            run.phase = halt.round.take().map_or(Phase::Between, Phase::Acting);
        }
    });
}

fn mail_body(input: &Input, id: MailId) -> Option<&MailBody> {
    let Input::Received { mail } = input else { return None };
    mail.iter().find(|mail| mail.id == id).map(|mail| &mail.body)
}

fn queued(c: &mut Conversation, input: &Input, id: MailId) {
    if let Some(MailBody::Prompt { run, blocks } | MailBody::Steer { run, blocks }) =
        mail_body(input, id)
    {
        let prompt = QueuedPrompt { run: run.clone(), blocks: Arc::from(blocks.as_slice()) };
        c.queue.push_back(prompt);
    }
}

fn steered(c: &mut Conversation, input: &Input, id: MailId) {
    let blocks: Arc<[Block]> = match mail_body(input, id) {
        Some(MailBody::Steer { blocks, .. }) => Arc::from(blocks.as_slice()),
        Some(MailBody::ChildFinished { text, .. }) => Arc::from([Block::text(text)]),
        Some(
            MailBody::Prompt { .. }
            | MailBody::Answer { .. }
            | MailBody::Cancel { .. }
            | MailBody::Abort { .. },
        )
        | None => return,
    };
    with_run(c, |run| run.steers.push(blocks));
}

fn run_started(c: &mut Conversation, id: &RunId) {
    let cap = c.settings.as_ref().map_or(0, |settings| settings.model.max_tokens);
    if let Some(prompt) = c.queue.pop_front() {
        c.transcript.push_prompt(&prompt.blocks);
    }
    c.run = Some(Run::new(id.clone(), cap));
}

fn asked(c: &mut Conversation, record: &Record) {
    let Record::Asked { ask, max_tokens, bound, reserved_tokens, transition } = record else {
        return;
    };
    c.asks = *ask;
    if *transition == Transition::Steer || !c.transcript.ends_in_reply() {
        read_steers(c);
    }
    with_run(c, |run| {
        if !keeps_pieces(*transition) {
            run.pieces.clear();
        }
        if *transition == Transition::Reprompt {
            run.counters.reprompts = run.counters.reprompts.saturating_add(1);
        }
        run.cap_tokens = run.cap_tokens.max(*max_tokens);
        run.counters.model_calls = run.counters.model_calls.saturating_add(1);
        run.phase = Phase::Asking(Asking {
            ask: *ask,
            max_tokens: *max_tokens,
            bound: *bound,
            reserved_tokens: *reserved_tokens,
            transition: *transition,
            early: Vec::new(),
        });
    });
}

/// What people said meanwhile enters the transcript. A server turn that is resumed is not spoken
/// into, so then they wait.
fn read_steers(c: &mut Conversation) {
    let steers = c.run.as_mut().map(|run| std::mem::take(&mut run.steers)).unwrap_or_default();
    for blocks in steers {
        c.transcript.push_prompt(&blocks);
    }
}

/// Whether the answer goes on where the last one stopped.
fn keeps_pieces(transition: Transition) -> bool {
    match transition {
        Transition::ContinueText
        | Transition::Resume
        | Transition::RaiseCap
        | Transition::Retry
        | Transition::Compacted
        | Transition::Adopted => true,
        Transition::Prompt
        | Transition::ToolResults
        | Transition::ReissueToolUse
        | Transition::Reprompt
        | Transition::Steer => false,
    }
}

fn early_judged(c: &mut Conversation, input: &Input, id: CallId, launch: Launch) {
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

fn reply_of(input: &Input) -> Option<(&Arc<Reply>, &[Facts])> {
    if let Input::Replied { reply, facts, .. } = input { Some((reply, facts)) } else { None }
}

fn replied(c: &mut Conversation, input: &Input, truncation: Truncation) {
    let Some((reply, _)) = reply_of(input) else { return };
    c.usage.add(&reply.usage);
    let Some(run) = &mut c.run else { return };
    run.counters.usage.add(&reply.usage);
    run.counters.failures = 0;
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

fn attempt_abandoned(c: &mut Conversation, charged: &Usage) {
    c.usage.add(charged);
    with_run(c, |run| {
        run.counters.usage.add(charged);
        run.phase = Phase::Between;
    });
}

fn deferred(c: &mut Conversation, until: Millis, failures: u32) {
    with_run(c, |run| {
        run.counters.failures = failures;
        run.phase = Phase::Deferred { until };
    });
}

fn reply_kept(c: &mut Conversation, input: &Input) {
    let Some((reply, _)) = reply_of(input) else { return };
    c.transcript.push_reply(&reply.blocks);
    with_run(c, |run| run.pieces.push(Arc::from(reply.text())));
}

fn noted(c: &mut Conversation, text: &Arc<str>) {
    c.transcript.push_note(text);
}

fn round_opened(c: &mut Conversation, input: &Input, dropped: &[u16], note: Option<&Arc<str>>) {
    let Some((reply, facts)) = reply_of(input) else { return };
    let Some(ask) = c.last_reply.as_ref().map(|last| last.ask) else { return };
    let first = match c.settings.as_ref().map(|settings| settings.hooks.before_tool) {
        Some(Listening::Hooked) => CallState::BeforeHook,
        Some(Listening::Nobody) | None => CallState::Unjudged,
    };
    let facts = facts.iter().map(Some).chain(std::iter::repeat(None));
    let calls: Vec<Call> = reply
        .tool_uses()
        .zip(facts)
        .filter(|((index, _), _)| !dropped.contains(index))
        .map(|((index, tool_use), facts)| Call {
            id: CallId { ask, index },
            tool_use: tool_use.clone(),
            facts: Arc::new(facts.cloned().unwrap_or_else(|| Facts::unknown(&tool_use.name))),
            state: first.clone(),
            attempts: 0,
            ran: None,
        })
        .collect();
    let kept = reply.indexed().filter(|(index, _)| !dropped.contains(index));
    let blocks = kept.map(|(_, block)| block.clone()).collect();
    with_run(c, |run| {
        let count = u32::try_from(calls.len()).unwrap_or(u32::MAX);
        run.counters.tool_calls = run.counters.tool_calls.saturating_add(count);
        run.phase = Phase::Acting(Round {
            ask,
            blocks,
            calls,
            note: note.cloned(),
            fatal: Fatality::GoesOn,
        });
    });
}

fn input_changed(c: &mut Conversation, input: &Input, id: CallId) {
    let Input::HookAnswered { answer: HookAnswer::Change { input, facts }, .. } = input else {
        return;
    };
    with_call(c, id, |call| {
        call.tool_use.input = input.clone();
        call.facts = Arc::new(facts.as_ref().clone());
        call.state = CallState::Unjudged;
    });
}

fn judged(c: &mut Conversation, id: CallId, verdict: &Verdict) {
    let state = match verdict {
        Verdict::Allow { .. } => CallState::Ready,
        // What follows in the same entry says more: a question, or the final result.
        Verdict::Ask { .. } | Verdict::Deny { .. } => CallState::Unjudged,
    };
    set(c, id, state);
}

fn questioned(c: &mut Conversation, question: &Question) {
    c.questions = question.id;
    match question.about.call() {
        Some(call) => set(c, call, CallState::Questioned(question.clone())),
        None => with_run(c, |run| halt(run, question.clone())),
    }
}

fn halt(run: &mut Run, question: Question) {
    let round = match std::mem::replace(&mut run.phase, Phase::Between) {
        Phase::Acting(round) => Some(round),
        Phase::Halted(halt) => halt.round,
        Phase::Between | Phase::Asking(_) | Phase::Deferred { .. } => None,
    };
    run.phase = Phase::Halted(Halt { question, round, leave: Leave::Awaited });
}

fn let_go(c: &mut Conversation, id: CallId, at: Millis) {
    with_call(c, id, |call| {
        call.attempts = call.attempts.saturating_add(1);
        call.state = CallState::Running { since: at };
    });
}

/// When it started is known; that it ended is noticed now.
fn lost(c: &mut Conversation, at: Millis, id: CallId) {
    with_call(c, id, |call| {
        if let CallState::Running { since } = call.state {
            call.ran = Some(Span { started_at: since, ended_at: at });
        }
        call.state = CallState::Lost;
    });
}

fn completed(c: &mut Conversation, at: Millis, input: &Input, id: CallId) {
    let Input::ToolReturned { outcome, started_at, .. } = input else { return };
    with_call(c, id, |call| {
        call.ran = Some(Span { started_at: *started_at, ended_at: at });
        call.state = CallState::AfterHook(outcome.clone());
    });
}

fn settled(c: &mut Conversation, id: CallId, shown: &Settlement) {
    with_call(c, id, |call| {
        let shown = match (shown, &call.state) {
            (Settlement::Shown(shown), _) => shown.clone(),
            (Settlement::AsCompleted {}, CallState::AfterHook(Outcome::Done(content))) => {
                Shown { kind: OutcomeKind::Done, content: content.clone(), flag: ErrorFlag::Fine }
            }
            (Settlement::AsCompleted {}, _) => return,
        };
        call.state = CallState::Settled(shown);
    });
}

fn round_closed(c: &mut Conversation) {
    let Some(run) = &mut c.run else { return };
    let Some(round) = run.round() else { return };
    let results: Vec<Block> = round.calls.iter().filter_map(result_block).collect();
    let note = round.note.clone();
    if c.transcript.push_round(&round.blocks, results).is_err() {
        return;
    }
    if let Some(note) = note {
        c.transcript.push_note(&note);
    }
    run.counters.tool_rounds = run.counters.tool_rounds.saturating_add(1);
    match &mut run.phase {
        Phase::Halted(halt) => halt.round = None,
        Phase::Between | Phase::Asking(_) | Phase::Deferred { .. } | Phase::Acting(_) => {
            run.phase = Phase::Between;
        }
    }
}

fn result_block(call: &Call) -> Option<Block> {
    let CallState::Settled(shown) = &call.state else { return None };
    Some(Block::tool_result(&call.tool_use.id, &shown.content, shown.flag))
}

fn compacted(c: &mut Conversation, keep_from: u64, note: &Arc<str>) {
    c.transcript.compact(usize::try_from(keep_from).unwrap_or(usize::MAX), note);
    with_run(c, |run| {
        run.counters.reactive_compactions = run.counters.reactive_compactions.saturating_add(1);
    });
}

fn finished(
    c: &mut Conversation,
    id: &RunId,
    cause: StopCause,
    also: &[StopCause],
    said: Option<&Arc<str>>,
) {
    if c.run.as_ref().is_some_and(|run| run.id == *id) {
        // Nobody will answer these words in this run; the next one finds them.
        read_steers(c);
    }
    let active = c.run.take_if(|run| run.id == *id);
    c.queue.retain(|prompt| prompt.run != *id);
    let (pieces, counters) =
        active.map(|run| (run.pieces.concat(), run.counters)).unwrap_or_default();
    c.last_end = Some(Ended {
        run: id.clone(),
        cause,
        also: also.to_vec(),
        text: said.cloned().unwrap_or_else(|| Arc::from(pieces)),
        counters,
    });
}

fn drift_accepted(run: &mut Run) {
    if let Phase::Halted(halt) = &mut run.phase {
        halt.leave = Leave::Given;
    }
}

fn forked(c: &mut Conversation) {
    c.run = None;
    c.queue.clear();
    c.last_end = None;
    c.usage = Usage::default();
}
