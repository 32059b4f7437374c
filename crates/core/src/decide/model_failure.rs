//! Handles a failed model call: retry with exponential backoff and jitter, fall back to another
//! model, compact, or give up. Uses the retry classification of `FailureClass`.

use super::budget;
use super::compaction;
use super::draft::DecisionDraft;
use super::finishing::{finish_with_answer, finish_without_result};
use super::next_step::NextStep;
use crate::call::jitter;
use crate::log::ids::ModelCallId;
use crate::log::input::{FailureClass, ModelFailure};
use crate::log::record::{AbandonCause, Record, Transition};
use crate::message::reply::TokenUsage;
use crate::run::active_run::Run;
use crate::stop::StopCause;

pub(super) fn on_model_failed(
    draft: &mut DecisionDraft<'_>,
    ask: ModelCallId,
    failure: &ModelFailure,
) -> NextStep {
    let Some(asking) =
        draft.run().and_then(Run::pending_model_call).filter(|asking| asking.model_call == ask)
    else {
        return NextStep::Wait;
    };
    let transition = asking.transition;
    abandon_failed_call(draft, ask, failure);
    if transition == Transition::WrapUp {
        // A run past its soft time limit does not wait for a provider.
        return finish_with_answer(draft, StopCause::SoftTime);
    }
    match failure.class {
        FailureClass::Transient | FailureClass::ServerNotRunning | FailureClass::StreamCut => {
            retry_or_fall_back(draft, failure)
        }
        FailureClass::ContextTooLong if draft.is_stopping() => {
            finish_without_result(draft, &[StopCause::BlockingLimit])
        }
        FailureClass::ContextTooLong => {
            compaction::compact_or_finish(draft, Transition::Compacted, StopCause::BlockingLimit)
        }
        FailureClass::Permanent => finish_without_result(draft, &[StopCause::ProviderFailed]),
    }
}

/// Abandons the failed call. It is charged only if its reply had started.
fn abandon_failed_call(
    draft: &mut DecisionDraft<'_>,
    model_call: ModelCallId,
    failure: &ModelFailure,
) {
    let cause = AbandonCause::Failed(failure.message.clone());
    if failure.class == FailureClass::StreamCut {
        draft.abandon_model_call(cause);
    } else {
        let charged = TokenUsage::default();
        draft.record(Record::ModelCallAbandoned { model_call, cause, charged });
    }
}

fn retry_or_fall_back(draft: &mut DecisionDraft<'_>, failure: &ModelFailure) -> NextStep {
    let limits = draft.limits();
    let failures = draft.run().map_or(0, |run| run.counters.failures).saturating_add(1);
    let is_down = failures > limits.model_retries;
    if draft.is_stopping() {
        finish_without_result(draft, &[StopCause::UserCancel])
    } else if (is_down || failures >= limits.fallback_failures) && can_fall_back(draft) {
        draft.record(Record::FallbackModelSelected { why: failure.message.clone() });
        NextStep::ask_model(Transition::Retry)
    } else if !is_down || can_wait_for_provider(draft) {
        schedule_retry(draft, failure, failures)
    } else {
        finish_without_result(draft, &[StopCause::ProviderFailed])
    }
}

fn schedule_retry(
    draft: &mut DecisionDraft<'_>,
    failure: &ModelFailure,
    failures: u32,
) -> NextStep {
    let limits = draft.limits();
    let doubled = 1u64.checked_shl(failures.saturating_sub(1)).unwrap_or(u64::MAX);
    let pause = limits.model_retry_ms.saturating_mul(doubled).min(limits.model_retry_most_ms);
    let asked_for = failure.retry_after_ms.unwrap_or(0).min(limits.model_retry_most_ms);
    let spread = jitter::with_jitter(pause, u64::from(draft.state().model_call_count));
    let until = draft.at.plus_ms(spread.max(asked_for));
    draft.record(Record::ModelRetryScheduled { until, failures });
    NextStep::Wait
}

fn can_fall_back(draft: &DecisionDraft<'_>) -> bool {
    let (Some(run), Some(settings)) = (draft.run(), draft.settings()) else { return false };
    let fallback = run.active_model.next().find(&settings).cloned();
    fallback.is_some_and(|model| !budget::lacks_required_price(draft, &model))
}

/// Returns whether the run can wait for a provider that is down: it holds no resources meanwhile,
/// and loses nothing.
fn can_wait_for_provider(draft: &DecisionDraft<'_>) -> bool {
    let down = draft.run().and_then(|run| run.provider_down_since);
    down.is_some_and(|since| draft.at.ms_since(since) < draft.limits().provider_wait_ms)
}
