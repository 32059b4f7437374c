//! A judge, the last to look at an answer: a model that is asked beside the conversation. Whatever is
//! not a yes or a no leaves a doubt, and the answer counts; nothing is asked twice.

use std::sync::Arc;

use super::answer::{bounded, finish_with, goes_on, must_end, reject, steer_or_finish};
use super::budget;
use super::clock;
use super::counsel;
use super::draft::Draft;
use crate::aside::{self, Ruling};
use crate::counsel::{Advice, Counsel};
use crate::record::{Record, Rejection};
use crate::stop::StopCause;
use crate::words;

/// Whether there is one.
pub(super) fn is_there(draft: &Draft<'_>) -> bool {
    draft.settings().is_some_and(|settings| settings.gate.judge.is_some())
}

/// Nobody else has anything against the answer: the judge is asked. One who cannot be paid leaves a
/// doubt.
pub(super) fn asked(draft: &mut Draft<'_>, cause: StopCause) {
    clock::look(draft);
    if !is_there(draft) || goes_on(draft) {
        return steer_or_finish(draft, cause);
    }
    if must_end(draft) {
        return cut_short(draft, cause);
    }
    match budget::for_ruling(draft) {
        Some((max_tokens, reserved_tokens)) => {
            counsel::seek(draft, Counsel::Ruling { cause, max_tokens, reserved_tokens });
        }
        None => doubted(draft, cause, words::JUDGE_UNPAID),
    }
}

/// The judge answered, or did not.
pub(super) fn ruled(draft: &mut Draft<'_>, cause: StopCause, advice: &Advice) {
    clock::look(draft);
    match advice {
        Advice::Summary { text, .. } => match aside::ruling(text) {
            Ruling::Yes => steer_or_finish(draft, cause),
            Ruling::No { reason } => reject(draft, cause, Rejection::Judge, &reason),
            Ruling::Unclear => doubted(draft, cause, words::UNCLEAR_RULING),
        },
        Advice::Failed { why, .. } => {
            doubted(draft, cause, &format!("the judge did not answer: {why}"));
        }
        Advice::Pass { .. } | Advice::Block { .. } | Advice::Stop { .. } => {
            doubted(draft, cause, words::UNCLEAR_RULING);
        }
    }
}

/// The run ends before the judge has spoken: its answer is kept, with a doubt.
pub(super) fn cut_short(draft: &mut Draft<'_>, cause: StopCause) {
    draft.record(Record::Suspected { why: Arc::from(words::NOT_JUDGED) });
    finish_with(draft, cause);
}

/// A doubt about an answer that is not the last one is forgotten with it.
fn doubted(draft: &mut Draft<'_>, cause: StopCause, why: &str) {
    if !goes_on(draft) {
        draft.record(Record::Suspected { why: bounded(why) });
    }
    steer_or_finish(draft, cause);
}
