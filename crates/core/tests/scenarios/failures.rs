//! Failed model calls.

use std::sync::Arc;

use windlass_core::log::input::{FailureClass, ModelFailure};
use windlass_core::stop::StopCause;

use crate::kit::{Lane, passing, text};

#[test]
fn a_passing_failure_waits_longer_each_time_and_costs_nothing() {
    let mut lane = Lane::new().prompt("hi");
    for pause in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000, 60_000] {
        lane = lane
            .fails(passing(FailureClass::Transient))
            .records("model_call_abandoned model_retry_scheduled")
            .phase("awaiting_retry")
            .wants("")
            .wakes_in(pause)
            .wake()
            .records("model_call_started");
    }
    lane.so(|lane| assert_eq!(lane.run().counters.usage.total_tokens(), 0))
        .fails(passing(FailureClass::Transient))
        .records("model_call_abandoned run_finished")
        .ends(StopCause::ProviderFailed)
        .saying("")
        .so(|lane| assert!(lane.ended().cause.is_resumable()));
}

#[test]
fn a_reply_forgives_the_failures_before_it() {
    Lane::new()
        .prompt("hi")
        .fails(passing(FailureClass::Transient))
        .wake()
        .reply(text("a").stop("pause_turn"))
        .so(|lane| assert_eq!(lane.run().counters.failures, 0))
        .fails(passing(FailureClass::Transient))
        .wakes_in(1_000);
}

#[test]
fn the_provider_may_ask_for_a_longer_pause_within_bounds() {
    let after = |ms| ModelFailure { retry_after_ms: Some(ms), ..passing(FailureClass::Transient) };
    Lane::new().prompt("hi").fails(after(30_000)).so(|lane| {
        let due = windlass_core::wanted(&lane.live).wake_at.unwrap();
        assert_eq!(due.ms_since(lane.now), 30_000);
    });
    Lane::new().prompt("hi").fails(after(u64::MAX)).wakes_in(60_000);
}

// spec: TRANSCRIPT-10, LOG-12, FAULT-04
#[test]
fn a_cut_stream_is_charged_and_leaves_nothing_half_said() {
    Lane::new()
        .prompt("hi")
        .fails(passing(FailureClass::StreamCut))
        .records("model_call_abandoned model_retry_scheduled")
        .so(|lane| assert_eq!(lane.run().counters.usage.output_tokens, 4_096))
        .shows(["user: hi"])
        .wake()
        .reply(text("hello"))
        .shows(["user: hi", "assistant: hello"]);
}

#[test]
fn a_lasting_failure_ends_the_run() {
    Lane::new()
        .prompt("hi")
        .fails(ModelFailure {
            message: Arc::from("401: bad key"),
            ..passing(FailureClass::Permanent)
        })
        .records("model_call_abandoned run_finished")
        .ends(StopCause::ProviderFailed);
}

#[test]
fn a_request_too_long_makes_room_once_and_ends() {
    let mut lane = Lane::new();
    for turn in 0..8 {
        lane = lane.prompt(&format!("turn {turn}")).reply(text("ok"));
    }
    lane.prompt("one more")
        .fails(passing(FailureClass::ContextTooLong))
        .records("model_call_abandoned compacted model_call_started")
        .so(|lane| {
            let messages = crate::kit::messages(&lane.live);
            assert!(messages.len() >= 10, "{messages:#?}");
            assert!(messages[0].starts_with("user: ["), "{}", messages[0]);
        })
        // Once in a run.
        .fails(passing(FailureClass::ContextTooLong))
        .records("model_call_abandoned run_finished")
        .ends(StopCause::BlockingLimit)
        .saying("");
    Lane::new()
        .prompt("hi")
        .fails(passing(FailureClass::ContextTooLong))
        .ends(StopCause::BlockingLimit);
}

#[test]
fn a_failure_of_another_call_changes_nothing() {
    let lane = Lane::new().prompt("hi");
    let input = |model_call| windlass_core::Input::ModelFailed {
        model_call,
        failure: passing(FailureClass::Permanent),
    };
    lane.clone().input(input(0)).records_nothing();
    lane.clone().input(input(2)).records_nothing();
    lane.reply(text("a")).input(input(1)).records_nothing();
}

#[test]
fn a_wake_too_early_changes_nothing() {
    Lane::new().prompt("hi").fails(passing(FailureClass::Transient)).wait(100).records_nothing();
    Lane::new().prompt("hi").wait(100).records_nothing();
    Lane::new().wait(100).records_nothing();
}
