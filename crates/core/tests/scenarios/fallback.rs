//! Providers that are down: retries, the fallback model, and waiting.

use windlass_core::log::input::FailureClass;
use windlass_core::settings::conversation_settings::{ModelSpec, Settings};
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, passing, price, text};

const THOUGHT: &str = r#"{"type":"thinking","thinking":"hm","signature":"s"}"#;

fn two_models(settings: &mut Settings) {
    let mut other = price();
    other.input_usd_micros = 2_000_000;
    settings.model.price = Some(price());
    settings.fallback = Some(ModelSpec { price: Some(other), ..ModelSpec::with_defaults("other") });
    settings.limits.model_retries = 1;
}

fn down(lane: Lane) -> Lane {
    lane.fails(passing(FailureClass::Transient)).wake().fails(passing(FailureClass::Transient))
}

fn thoughts(lane: &Lane) -> usize {
    lane.live.transcript.thinking_removals().len()
}

#[test]
fn after_its_retries_the_other_model_is_asked() {
    let lane = down(Lane::with(two_models).prompt("hi"));
    let lane = lane.records("model_call_abandoned fallback_model_selected model_call_started").so(
        |lane| {
            assert_eq!(&*lane.live.model_request().unwrap().settings.model.name, "other");
        },
    );
    // The fallback is charged at its own price, and has retries of its own.
    let lane = lane
        .fails(passing(FailureClass::Transient))
        .records("model_call_abandoned model_retry_scheduled")
        .wake();
    let lane = lane.reply(text("up").usage(1_000, 0));
    lane.ends(StopCause::EndTurn).so(|lane| assert_eq!(lane.ended().spent.usd_micros, 2_000));
}

#[test]
fn every_fallback_is_asked_in_turn() {
    let three = |settings: &mut Settings| {
        two_models(settings);
        settings.further_fallbacks = vec![ModelSpec::with_defaults("third")];
    };
    let model =
        |lane: &Lane| lane.live.model_request().unwrap().settings.model.name.as_ref().to_owned();
    let lane = down(Lane::with(three).prompt("hi")).so(|lane| assert_eq!(model(lane), "other"));
    let lane = down(lane)
        .records("model_call_abandoned fallback_model_selected model_call_started")
        .so(|lane| assert_eq!(model(lane), "third"));
    // There is no fourth model to ask.
    down(lane).ends(StopCause::ProviderFailed);
}

#[test]
fn another_model_is_asked_long_before_the_provider_counts_as_down() {
    let patient = |settings: &mut Settings| {
        two_models(settings);
        settings.limits.model_retries = 10;
    };
    let fails = |lane: Lane| lane.fails(passing(FailureClass::Transient));
    let lane = fails(
        down(Lane::with(patient).prompt("hi"))
            .records("model_call_abandoned model_retry_scheduled")
            .wake(),
    );
    let lane = lane.records("model_call_abandoned fallback_model_selected model_call_started");
    // There is no third model: the provider of this one is waited for.
    let lane = fails(down(lane).wake());
    lane.records("model_call_abandoned model_retry_scheduled").so(|lane| {
        assert_eq!(lane.live.run.as_ref().unwrap().counters.failures, 3);
    });
}

#[test]
fn a_fallback_is_fallen_back_on_once() {
    let lane = down(down(Lane::with(two_models).prompt("hi")));
    lane.records("model_call_abandoned run_finished").ends(StopCause::ProviderFailed);
}

// spec: TRANSCRIPT-09
#[test]
fn thoughts_of_one_model_are_not_sent_to_another() {
    let thinking = |id: &str| calls([]).json(THOUGHT).block(call(id, "read", id));
    let lane = Lane::with(two_models).prompt("hi").reply(thinking("t1")).returns(0, "A");
    let lane = lane.so(|lane| assert_eq!(thoughts(lane), 1));
    let lane = down(lane).so(|lane| assert_eq!(thoughts(lane), 0));
    // The next run calls the first model again, and drops the thinking of the other one too.
    let lane = lane.reply(thinking("t2")).returns(0, "B").so(|lane| assert_eq!(thoughts(lane), 1));
    let lane = lane.reply(text("done")).prompt("more").so(|lane| assert_eq!(thoughts(lane), 0));
    // The same happens when the settings name another model.
    let lane = lane.reply(thinking("t3")).returns(0, "C").reply(text("done"));
    let mut settings = crate::kit::settings();
    settings.model = ModelSpec::with_defaults("third");
    let lane = lane.configure(settings).so(|lane| assert_eq!(thoughts(lane), 1));
    lane.prompt("again").so(|lane| assert_eq!(thoughts(lane), 0));
}

// spec: TRANSCRIPT-09
#[test]
fn the_same_model_gets_its_thoughts_back_unchanged() {
    let reply = calls([]).json(THOUGHT).block(call("t1", "read", "/a"));
    let lane = Lane::new().prompt("hi").reply(reply).returns(0, "A").owner_changes();
    lane.so(|lane| assert!(format!("{:?}", lane.live.transcript).contains(THOUGHT)));
}

#[test]
fn a_provider_that_stays_down_is_waited_for_and_nothing_is_lost() {
    let patient = |settings: &mut Settings| {
        settings.limits.model_retries = 2;
        settings.limits.provider_wait_ms = 3_600_000;
        settings.limits.model_calls = 3;
    };
    let fail = |lane: Lane| lane.fails(passing(FailureClass::Transient));
    let lane = fail(Lane::with(patient).prompt("hi"));
    let lane = (0..30).fold(lane, |lane, _| fail(lane.wake()));
    // Retries do not use up the model calls of the run.
    let lane =
        lane.phase("awaiting_retry").so(|lane| assert!(lane.run().counters.model_calls > 30));
    lane.clone().wake().reply(text("up")).ends(StopCause::EndTurn);
    lane.clone().cancel().ends(StopCause::UserCancel);
    let given_up = fail(lane.wait(3_600_000));
    given_up.ends(StopCause::ProviderFailed).so(|lane| assert!(lane.ended().cause.is_resumable()));
}

#[test]
fn the_other_model_has_a_waiting_time_of_its_own() {
    const WAIT_MS: u64 = 3_600_000;
    let fail = |lane: Lane| lane.fails(passing(FailureClass::Transient));
    let lane = Lane::with(|settings| {
        two_models(settings);
        settings.limits.provider_wait_ms = WAIT_MS;
        settings.limits.model_retries = 2;
        settings.limits.fallback_failures = 2;
    });
    // The first model is down for a while before the fallback is called.
    let lane = fail(fail(lane.prompt("hi")).later(WAIT_MS / 2).wake());
    let lane = lane.records("model_call_abandoned fallback_model_selected model_call_started");
    let lane = (0..4).fold(fail(lane), |lane, _| fail(lane.wake())).phase("awaiting_retry");
    // Half of the wait is left from the first outage; the fallback still has nearly all of its own.
    let lane = fail(lane.wait(WAIT_MS * 3 / 4)).phase("awaiting_retry");
    fail(lane.wait(WAIT_MS)).ends(StopCause::ProviderFailed);
}

#[test]
fn a_lasting_failure_is_not_waited_for() {
    Lane::with(two_models)
        .prompt("hi")
        .fails(passing(FailureClass::Permanent))
        .ends(StopCause::ProviderFailed);
}

#[test]
fn the_other_models_window_and_output_count() {
    let lane = Lane::with(|settings| {
        two_models(settings);
        let tiny = settings.fallback.as_mut().unwrap();
        tiny.window_tokens = 1_000;
        tiny.max_tokens = 77;
    });
    let small = lane.clone().prompt("hi");
    down(small).so(|lane| assert_eq!(lane.run().pending_model_call().unwrap().max_tokens, 77));
    down(lane.prompt(&"x".repeat(8_000))).ends(StopCause::BlockingLimit);
}
