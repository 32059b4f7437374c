//! The model call failed: wait and ask again, make room, or give up.

use super::boundary::{self, finish_badly};
use super::draft::Draft;
use super::reply::make_room;
use super::stopping;
use crate::ids::AskId;
use crate::input::{Failure, FailureClass};
use crate::jitter;
use crate::record::{Record, Transition};
use crate::reply::Usage;
use crate::run::{Asking, Run};
use crate::stop::StopCause;

pub(super) fn model_failed(draft: &mut Draft<'_>, ask: AskId, failure: &Failure) {
    let Some(asking) = draft.run().and_then(Run::asking).filter(|asking| asking.ask == ask) else {
        return;
    };
    let abandoned = abandoned(asking, failure);
    draft.record(abandoned);
    match failure.class {
        FailureClass::Passing | FailureClass::Cut => wait(draft, failure),
        FailureClass::TooLong => {
            if make_room(draft) {
                boundary::ask(draft, Transition::Compacted);
            } else {
                finish_badly(draft, &[StopCause::BlockingLimit]);
            }
        }
        FailureClass::Lasting => finish_badly(draft, &[StopCause::ProviderFailed]),
    }
}

fn abandoned(asking: &Asking, failure: &Failure) -> Record {
    match failure.class {
        FailureClass::Cut => stopping::abandon(asking, &failure.message),
        FailureClass::Passing | FailureClass::TooLong | FailureClass::Lasting => {
            let why = failure.message.clone();
            Record::AttemptAbandoned { ask: asking.ask, why, charged: Usage::default() }
        }
    }
}

fn wait(draft: &mut Draft<'_>, failure: &Failure) {
    let limits = draft.limits();
    let failures = draft.run().map_or(0, |run| run.counters.failures).saturating_add(1);
    if draft.is_stopping() {
        finish_badly(draft, &[StopCause::UserCancel]);
    } else if failures > limits.model_retries {
        finish_badly(draft, &[StopCause::ProviderFailed]);
    } else {
        let doubled = 1u64.checked_shl(failures - 1).unwrap_or(u64::MAX);
        let pause = limits.model_retry_ms.saturating_mul(doubled).min(limits.model_retry_most_ms);
        let asked_for = failure.retry_after_ms.unwrap_or(0).min(limits.model_retry_most_ms);
        let spread = jitter::spread(pause, u64::from(draft.now().asks));
        let until = draft.at.plus(spread.max(asked_for));
        draft.record(Record::Deferred { until, failures });
    }
}
