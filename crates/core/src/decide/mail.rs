//! Mail: prompts queue and never supersede, steers wait for the round, answers find their question,
//! cancels find their run. Every mail leaves a record, also the ones that change nothing.

use std::sync::Arc;

use super::answer;
use super::boundary;
use super::calls;
use super::children;
use super::draft::Draft;
use super::plan;
use super::room;
use super::stopping;
use crate::block::Block;
use crate::child::{Homecoming, Task};
use crate::ids::{CallId, MailId, QuestionId, RunId};
use crate::mail::{Answer, Mail, MailBody};
use crate::outcome::{Reach, Shown};
use crate::permission::{Grant, MAX_RULES, Rule, Verdict};
use crate::question::About;
use crate::record::{Record, Stop, Transition};
use crate::transcript::Transcript;

pub(super) fn received(draft: &mut Draft<'_>, mail: &[Mail]) {
    if draft.settings().is_none() {
        return;
    }
    for (place, one) in mail.iter().enumerate() {
        let later = mail.get(place + 1..).unwrap_or_default();
        if let MailBody::Prompt { run, .. } = &one.body
            && begins_at_once(draft)
            && is_cancelled(run, later)
            && !is_known(draft, run)
        {
            cancel_unread(draft, one.id, run);
        } else {
            open(draft, one);
        }
    }
}

/// Whether a prompt would not have to wait: one that waits is found in the queue by its cancel.
fn begins_at_once(draft: &Draft<'_>) -> bool {
    draft.run().is_none() && draft.now().queue.is_empty()
}

/// Whether a later message ends the run of a prompt that nobody has read.
fn is_cancelled(run: &RunId, later: &[Mail]) -> bool {
    later.iter().any(|mail| {
        matches!(
            &mail.body,
            MailBody::Cancel { run: Some(target) } | MailBody::Abort { run: Some(target) }
                if target == run
        )
    })
}

/// A prompt that was cancelled before anybody read it ends without beginning: no model is asked.
fn cancel_unread(draft: &mut Draft<'_>, mail: MailId, run: &RunId) {
    draft.record(Record::Queued { mail });
    let (cause, said) = (crate::stop::StopCause::UserCancel, Some(Arc::from("")));
    draft.record(Record::Finished { run: run.clone(), cause, also: Vec::new(), said });
}

fn open(draft: &mut Draft<'_>, mail: &Mail) {
    match &mail.body {
        MailBody::Prompt { run, blocks, .. } => prompt(draft, mail.id, run, blocks),
        MailBody::Steer { run, blocks } => steer(draft, mail.id, run, blocks),
        MailBody::Answer { question, answer } => answered(draft, mail.id, *question, answer),
        MailBody::Cancel { run } => stop(draft, mail.id, run.as_ref(), Stop::Cancel),
        MailBody::Abort { run } => stop(draft, mail.id, run.as_ref(), Stop::Abort),
        MailBody::ChildFinished { home, .. } => child_finished(draft, mail.id, home.as_ref()),
        MailBody::Task { run, task, .. } => employ(draft, mail.id, run, task),
        MailBody::Compact { .. } => compact(draft, mail.id),
        MailBody::Memory { text } => remember(draft, mail.id, text),
    }
}

fn refuse(draft: &mut Draft<'_>, mail: MailId, why: &str) {
    draft.record(Record::MailRefused { mail, why: Arc::from(why) });
}

fn prompt(draft: &mut Draft<'_>, mail: MailId, run: &RunId, blocks: &[Block]) {
    let limits = draft.limits();
    if !says_something(blocks) {
        refuse(draft, mail, "the prompt is empty; say what is to be done");
    } else if is_known(draft, run) {
        refuse(draft, mail, "a run with this id exists already; use a new id");
    } else if draft.now().queue.len() >= limits.queued_prompts as usize {
        refuse(draft, mail, "too many prompts are waiting; send it again when some have ended");
    } else {
        draft.record(Record::Queued { mail });
        boundary::promote(draft);
    }
}

fn says_something(blocks: &[Block]) -> bool {
    let mut probe = Transcript::default();
    probe.push_prompt(blocks);
    probe.is_askable()
}

fn is_known(draft: &Draft<'_>, run: &RunId) -> bool {
    let now = draft.now();
    now.run.as_ref().is_some_and(|active| active.id == *run)
        || now.last_end.as_ref().is_some_and(|ended| ended.run == *run)
        || now.queue.iter().any(|queued| queued.run == *run)
}

fn steer(draft: &mut Draft<'_>, mail: MailId, run: &RunId, blocks: &[Block]) {
    let waiting = draft.run().map(|run| run.steers.len());
    match waiting {
        Some(waiting) if !draft.is_stopping() && says_something(blocks) => {
            if waiting < draft.limits().waiting_steers as usize {
                draft.record(Record::Steered { mail });
            } else {
                refuse(draft, mail, "too many steers are waiting; send it again after the round");
            }
        }
        Some(_) | None => prompt(draft, mail, run, blocks),
    }
}

fn child_finished(draft: &mut Draft<'_>, mail: MailId, home: Option<&Homecoming>) {
    let heard = match home {
        Some(home) => children::back(draft, mail, home),
        None if draft.run().is_some() && !draft.is_stopping() => {
            draft.record(Record::Steered { mail });
            true
        }
        None => false,
    };
    if !heard {
        refuse(draft, mail, "no run waits for this child any more");
    }
}

/// The one run of a child.
fn employ(draft: &mut Draft<'_>, mail: MailId, run: &RunId, task: &Task) {
    if task.prompt.trim().is_empty() {
        refuse(draft, mail, "the task is empty; say what is to be done");
    } else if is_known(draft, run) || draft.now().parent.is_some() {
        refuse(draft, mail, "this child has its task already");
    } else {
        draft.record(Record::Employed { mail });
        draft.record(Record::Queued { mail });
        boundary::promote(draft);
    }
}

fn remember(draft: &mut Draft<'_>, mail: MailId, text: &str) {
    let waiting = draft.run().map_or(0, |run| run.memories.len());
    if text.trim().is_empty() {
        refuse(draft, mail, "the instructions are empty");
    } else if waiting >= draft.limits().waiting_steers as usize {
        refuse(draft, mail, "too many instructions are waiting; send them again after the round");
    } else {
        draft.record(Record::Remembered { mail });
    }
}

fn compact(draft: &mut Draft<'_>, mail: MailId) {
    if room::has_something_old(draft) {
        draft.record(Record::CompactionAsked { mail });
    } else {
        refuse(draft, mail, "there is nothing old enough to be left out");
    }
}

fn stop(draft: &mut Draft<'_>, mail: MailId, target: Option<&RunId>, how: Stop) {
    let active = draft.run().map(|run| (run.id.clone(), run.stop));
    match (active, target) {
        (Some((active, asked)), target) if target.is_none_or(|target| *target == active) => {
            if asked.is_some_and(|asked| asked.how >= how) {
                refuse(draft, mail, "the run is asked to end already");
            } else {
                draft.record(Record::CancelRequested { mail, how });
                stopping::requested(draft, how);
            }
        }
        (_, Some(target)) if draft.now().queue.iter().any(|queued| queued.run == *target) => {
            let said = Some(Arc::from(""));
            let cause = crate::stop::StopCause::UserCancel;
            draft.record(Record::Finished { run: target.clone(), cause, also: Vec::new(), said });
        }
        (Some(_) | None, _) => refuse(draft, mail, "there is no such run to end"),
    }
}

fn answered(draft: &mut Draft<'_>, mail: MailId, id: QuestionId, answer: &Answer) {
    let question = draft.run().and_then(|run| run.questions().find(|q| q.id == id)).cloned();
    let Some(question) = question else {
        return refuse(draft, mail, "the question is not open; it was answered or its run ended");
    };
    if question.is_expired(draft.at) {
        // The clock, which is due, says what becomes of the call.
        return refuse(draft, mail, "the question has expired; the call is not run");
    }
    let about = question.about;
    if !about.takes(answer) {
        return refuse(draft, mail, &format!("question {id} takes {}", about.choices()));
    }
    if !is_for_what_runs(draft, &about, answer) {
        return refuse(
            draft,
            mail,
            "another input was approved than the call has; look at it again",
        );
    }
    draft.record(Record::Answered { mail });
    match about {
        About::Approval { call } => approved(draft, call, answer),
        About::Uncertain { call } => cleared_up(draft, call, answer),
        About::Asking { call } => told(draft, call, answer),
        About::Plan { call, .. } => plan::answered(draft, call, answer),
        About::Drift { .. } => return drift_answered(draft, mail, answer),
        About::Guidance { .. } | About::Budget { .. } => {
            return halt_answered(draft, mail, &about, answer);
        }
    }
    calls::advance(draft);
}

/// Whether what would run is what somebody looked at and approved.
fn is_for_what_runs(draft: &Draft<'_>, about: &About, answer: &Answer) -> bool {
    let Answer::Allow { input_hash: Some(seen), .. } = answer else { return true };
    let call = about.call().and_then(|call| draft.call(call));
    call.is_some_and(|call| call.tool_use.input.hash_hex() == **seen)
}

fn approved(draft: &mut Draft<'_>, call: CallId, answer: &Answer) {
    if let Answer::Deny { reason } = answer {
        let verdict = Verdict::Deny { reason: reason.clone() };
        draft.record(Record::Judged { call, verdict });
        calls::settle(draft, call, Shown::denied(reason));
    } else {
        if let Answer::Allow { rule: Some(rule), .. } = answer {
            grant(draft, call, rule);
        }
        let verdict = Verdict::Allow { by: Arc::from("human") };
        draft.record(Record::Judged { call, verdict });
    }
}

/// Keeps a rule, once.
fn grant(draft: &mut Draft<'_>, call: CallId, rule: &Rule) {
    let Some(call) = draft.call(call) else { return };
    let grant = Grant::for_call(rule.clone(), &call.facts.subject);
    let grants = &draft.now().grants;
    if !grants.contains(&grant) && grants.len() < MAX_RULES {
        let Grant { rule, folder } = grant;
        draft.record(Record::Granted { rule, folder });
    }
}

/// A human said how a run that goes in circles, or has spent its budget, goes on.
fn halt_answered(draft: &mut Draft<'_>, mail: MailId, about: &About, answer: &Answer) {
    if *answer == (Answer::Abandon {}) {
        if let About::Guidance { answer: Some(kept), .. } = about {
            return answer::keep_answer(draft, kept);
        }
        draft.record(Record::CancelRequested { mail, how: Stop::Cancel });
        return stopping::requested(draft, Stop::Cancel);
    }
    match about {
        About::Budget { .. } => draft.record(Record::BudgetExtended {}),
        About::Guidance { .. }
        | About::Drift { .. }
        | About::Approval { .. }
        | About::Uncertain { .. }
        | About::Asking { .. }
        | About::Plan { .. } => draft.record(Record::Guided { mail }),
    }
    boundary::ask(draft, Transition::Guided);
}

fn cleared_up(draft: &mut Draft<'_>, call: CallId, answer: &Answer) {
    let limit = draft.result_chars();
    match answer {
        Answer::Retry {} => draft.record(Record::CallCleared { call }),
        Answer::MarkDone { text } => calls::settle(draft, call, Shown::answered(text, limit)),
        Answer::Abandon {}
        | Answer::Allow { .. }
        | Answer::Deny { .. }
        | Answer::Continue {}
        | Answer::Text { .. } => calls::settle(draft, call, Shown::lost(Reach::Unknown)),
    }
}

fn told(draft: &mut Draft<'_>, call: CallId, answer: &Answer) {
    let limit = draft.result_chars();
    let shown = match answer {
        Answer::Text { text } => Shown::answered(text, limit),
        Answer::Deny { reason } => Shown::denied(reason),
        Answer::Allow { .. }
        | Answer::Retry {}
        | Answer::MarkDone { .. }
        | Answer::Abandon {}
        | Answer::Continue {} => return,
    };
    calls::settle(draft, call, shown);
}

fn drift_answered(draft: &mut Draft<'_>, mail: MailId, answer: &Answer) {
    if *answer == (Answer::Continue {}) {
        draft.record(Record::DriftAccepted {});
    } else {
        draft.record(Record::CancelRequested { mail, how: Stop::Cancel });
        stopping::requested(draft, Stop::Cancel);
    }
}
