//! The model call failed: wait and ask again, make room, or give up.

use super::answer;
use super::boundary::{self, finish_badly};
use super::budget;
use super::draft::Draft;
use super::room;
use super::stopping;
use crate::ids::AskId;
use crate::input::{Failure, FailureClass};
use crate::jitter;
use crate::record::{Record, Transition};
use crate::reply::Usage;
use crate::run::{Asking, InUse, Run};
use crate::stop::StopCause;

pub(super) fn model_failed(draft: &mut Draft<'_>, ask: AskId, failure: &Failure) {
    let Some(asking) = draft.run().and_then(Run::asking).filter(|asking| asking.ask == ask) else {
        return;
    };
    let (abandoned, transition) = (abandoned(asking, failure), asking.transition);
    draft.record(abandoned);
    if transition == Transition::SumUp {
        // Its time is up: it does not wait for a provider.
        return answer::finish_with(draft, StopCause::SoftTime);
    }
    match failure.class {
        FailureClass::Passing | FailureClass::Absent | FailureClass::Cut => wait(draft, failure),
        FailureClass::TooLong if draft.is_stopping() => {
            finish_badly(draft, &[StopCause::BlockingLimit]);
        }
        FailureClass::TooLong => {
            room::or_end(draft, Transition::Compacted, StopCause::BlockingLimit);
        }
        FailureClass::Lasting => finish_badly(draft, &[StopCause::ProviderFailed]),
    }
}

fn abandoned(asking: &Asking, failure: &Failure) -> Record {
    match failure.class {
        FailureClass::Cut => stopping::abandon(asking, &failure.message),
        FailureClass::Passing
        | FailureClass::Absent
        | FailureClass::TooLong
        | FailureClass::Lasting => {
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
    } else if failures <= limits.model_retries {
        defer(draft, failure, failures);
    } else if can_fall_back(draft) {
        draft.record(Record::FellBack { why: failure.message.clone() });
        boundary::ask(draft, Transition::Retry);
    } else if is_worth_waiting(draft) {
        defer(draft, failure, failures);
    } else {
        finish_badly(draft, &[StopCause::ProviderFailed]);
    }
}

fn defer(draft: &mut Draft<'_>, failure: &Failure, failures: u32) {
    let limits = draft.limits();
    let doubled = 1u64.checked_shl(failures.saturating_sub(1)).unwrap_or(u64::MAX);
    let pause = limits.model_retry_ms.saturating_mul(doubled).min(limits.model_retry_most_ms);
    let asked_for = failure.retry_after_ms.unwrap_or(0).min(limits.model_retry_most_ms);
    let spread = jitter::spread(pause, u64::from(draft.now().asks));
    let until = draft.at.plus(spread.max(asked_for));
    draft.record(Record::Deferred { until, failures });
}

fn can_fall_back(draft: &Draft<'_>) -> bool {
    let fallback = draft.settings().and_then(|settings| settings.fallback.clone());
    let fits = fallback.is_some_and(|model| !budget::is_unpriced(draft, &model));
    fits && draft.run().is_some_and(|run| run.model == InUse::First)
}

/// A provider that is down is waited for: the run holds nothing meanwhile, and loses nothing.
fn is_worth_waiting(draft: &Draft<'_>) -> bool {
    let down = draft.run().and_then(|run| run.down_since);
    down.is_some_and(|since| draft.at.since(since) < draft.limits().provider_wait_ms)
}
