//! Runs that wait for somebody: counsels, questions, and what was said about an answer.

use crate::block::Block;
use crate::call::CallState;
use crate::conversation::Conversation;
use crate::counsel::{Counsel, CounselId};
use crate::ids::MailId;
use crate::input::Input;
use crate::mail::{Answer, MailBody};
use crate::question::{About, Question};
use crate::record::Rejection;
use crate::reply::Usage;
use crate::run::{Consulting, Halt, Leave, Phase, Run};
use crate::thrash::Level;

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
    with_run(c, |run| person_is_asked(run, &question.about));
    match question.about.call() {
        Some(call) => set(c, call, CallState::Questioned(question.clone())),
        None => with_run(c, |run| halt(run, question.clone())),
    }
}

/// A model that was made to ask a person has done so: what led to that is past.
fn person_is_asked(run: &mut Run, about: &About) {
    let was_due = match about {
        About::Asking { .. } | About::Guidance { .. } => run.due_question.take().is_some(),
        About::Approval { .. }
        | About::Uncertain { .. }
        | About::Plan { .. }
        | About::Budget { .. }
        | About::Drift { .. } => false,
    };
    if was_due {
        run.guard.calm();
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
        if run.halt().is_some_and(|halt| halt.kept_answer().is_some()) {
            // The answer that it asked about is not the answer.
            run.pieces.clear();
            run.structured = None;
        }
        run.guard.calm();
        calm_guardrails(run);
        lift(run);
    });
}

/// A person spoke: what was rejected before that does not count any more.
fn calm_guardrails(run: &mut Run) {
    run.counters.rejections = 0;
    run.counters.output_retries = 0;
    run.counters.reprompts = 0;
}

pub(super) fn drift_accepted(run: &mut Run) {
    calm_guardrails(run);
    if let Phase::Halted(halt) = &mut run.phase {
        halt.leave = Leave::Given;
    }
}

pub(super) fn budget_extended(run: &mut Run) {
    run.extensions = run.extensions.saturating_add(1);
    lift(run);
}

/// An answer that does not count is not kept for later, unless a person is asked about it.
pub(super) fn rejected(run: &mut Run, by: Rejection, level: Level) {
    if level != Level::Human {
        run.structured = None;
    }
    let counter = match by {
        Rejection::Schema => &mut run.counters.output_retries,
        Rejection::Drift => &mut run.counters.reprompts,
        Rejection::Checklist | Rejection::Hook | Rejection::Judge => &mut run.counters.rejections,
    };
    *counter = counter.saturating_add(1);
}
