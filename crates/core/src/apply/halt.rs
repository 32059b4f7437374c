//! Runs that wait for somebody: counsels, questions, and what was said about an answer.

use crate::block::Block;
use crate::call::CallState;
use crate::conversation::Conversation;
use crate::counsel::{Counsel, CounselId};
use crate::ids::MailId;
use crate::input::Input;
use crate::mail::{Answer, MailBody};
use crate::question::Question;
use crate::record::Rejection;
use crate::reply::Usage;
use crate::run::{Consulting, Halt, Leave, Phase, Run};

use super::model::charge;
use super::talk::mail_body;
use super::{set, with_run};

pub(super) fn counsel_sought(c: &mut Conversation, id: CounselId, about: &Counsel) {
    c.counsels = id;
    with_run(c, |run| run.phase = Phase::Consulting(Consulting { id, about: about.clone() }));
}

pub(super) fn counsel_heard(c: &mut Conversation, charged: Option<&Usage>) {
    if let Some(usage) = charged {
        let price = c.price_beside();
        charge(c, usage, price.as_ref());
    }
    with_run(c, |run| run.phase = Phase::Between);
}

pub(super) fn questioned(c: &mut Conversation, question: &Question) {
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
        Phase::Between | Phase::Asking(_) | Phase::Deferred { .. } | Phase::Consulting(_) => None,
    };
    run.phase = Phase::Halted(Halt { question, round, leave: Leave::Awaited });
}

fn lift(run: &mut Run) {
    if let Phase::Halted(halt) = &mut run.phase {
        run.phase = halt.round.take().map_or(Phase::Between, Phase::Acting);
    }
}

/// What a person said in answer is theirs, like a prompt.
pub(super) fn guided(c: &mut Conversation, input: &Input, mail: MailId) {
    let Some(MailBody::Answer { answer, .. }) = mail_body(input, mail) else { return };
    if let Answer::Text { text } = answer {
        c.transcript.push_prompt(&[Block::text(text)]);
        with_run(c, |run| {
            run.prompts = run.prompts.saturating_add(1);
            run.pieces.clear();
        });
    }
    with_run(c, |run| {
        run.guard.calm();
        lift(run);
    });
}

pub(super) fn drift_accepted(run: &mut Run) {
    if let Phase::Halted(halt) = &mut run.phase {
        halt.leave = Leave::Given;
    }
}

pub(super) fn budget_extended(run: &mut Run) {
    run.extensions = run.extensions.saturating_add(1);
    lift(run);
}

/// An answer that does not count is not kept for later.
pub(super) fn rejected(run: &mut Run, by: Rejection) {
    run.structured = None;
    let counter = match by {
        Rejection::Schema => &mut run.counters.output_retries,
        Rejection::Checklist | Rejection::Hook | Rejection::Judge => &mut run.counters.rejections,
    };
    *counter = counter.saturating_add(1);
}
