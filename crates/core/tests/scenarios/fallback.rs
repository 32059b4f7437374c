//! Providers that are down: retries, another model, and waiting.

use windlass_core::input::FailureClass;
use windlass_core::settings::{Model, Settings};
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, passing, price, text};

const THOUGHT: &str = r#"{"type":"thinking","thinking":"hm","signature":"s"}"#;

fn two_models(settings: &mut Settings) {
    let mut other = price();
    other.input_usd_micros = 2_000_000;
    settings.model.price = Some(price());
    settings.fallback = Some(Model { price: Some(other), ..Model::named("other") });
    settings.limits.model_retries = 1;
}

fn down(lane: Lane) -> Lane {
    lane.fails(passing(FailureClass::Passing)).wake().fails(passing(FailureClass::Passing))
}

fn thoughts(lane: &Lane) -> usize {
    lane.live.transcript.thoughts().len()
}

#[test]
fn after_its_retries_the_other_model_is_asked() {
    let lane = down(Lane::with(two_models).prompt("hi"));
    let lane = lane.settles("attempt_abandoned fell_back asked").so(|lane| {
        assert_eq!(&*lane.live.request().unwrap().settings.model.name, "other");
    });
    // It is charged at the other's price, and has retries of its own.
    let lane =
        lane.fails(passing(FailureClass::Passing)).settles("attempt_abandoned deferred").wake();
    let lane = lane.reply(text("up").usage(1_000, 0));
    lane.ends(StopCause::EndTurn).so(|lane| assert_eq!(lane.ended().spent.usd_micros, 2_000));
}

#[test]
fn another_model_is_asked_long_before_the_provider_counts_as_down() {
    let patient = |settings: &mut Settings| {
        two_models(settings);
        settings.limits.model_retries = 10;
    };
    let fails = |lane: Lane| lane.fails(passing(FailureClass::Passing));
    let lane =
        fails(down(Lane::with(patient).prompt("hi")).settles("attempt_abandoned deferred").wake());
    let lane = lane.settles("attempt_abandoned fell_back asked");
    // There is no third: that one is waited for.
    let lane = fails(down(lane).wake());
    lane.settles("attempt_abandoned deferred").so(|lane| {
        assert_eq!(lane.live.run.as_ref().unwrap().counters.failures, 3);
    });
}

#[test]
fn a_fallback_is_fallen_back_on_once() {
    let lane = down(down(Lane::with(two_models).prompt("hi")));
    lane.settles("attempt_abandoned finished").ends(StopCause::ProviderFailed);
}

// spec: TRANSCRIPT-09
#[test]
fn thoughts_of_one_model_are_not_sent_to_another() {
    let thinking = |id: &str| calls([]).json(THOUGHT).block(call(id, "read", id));
    let lane = Lane::with(two_models).prompt("hi").reply(thinking("t1")).returns(0, "A");
    let lane = lane.so(|lane| assert_eq!(thoughts(lane), 1));
    let lane = down(lane).so(|lane| assert_eq!(thoughts(lane), 0));
    // The next run asks the first model again, and the other's thoughts are not for it either.
    let lane = lane.reply(thinking("t2")).returns(0, "B").so(|lane| assert_eq!(thoughts(lane), 1));
    let lane = lane.reply(text("done")).prompt("more").so(|lane| assert_eq!(thoughts(lane), 0));
    // So it is when the settings name another model.
    let lane = lane.reply(thinking("t3")).returns(0, "C").reply(text("done"));
    let mut settings = crate::kit::settings();
    settings.model = Model::named("third");
    let lane = lane.configure(settings).so(|lane| assert_eq!(thoughts(lane), 1));
    lane.prompt("again").so(|lane| assert_eq!(thoughts(lane), 0));
}

// spec: TRANSCRIPT-09
#[test]
fn the_same_model_gets_its_thoughts_back_unchanged() {
    let reply = calls([]).json(THOUGHT).block(call("t1", "read", "/a"));
    let lane = Lane::new().prompt("hi").reply(reply).returns(0, "A").adopted();
    lane.so(|lane| assert!(format!("{:?}", lane.live.transcript).contains(THOUGHT)));
}

#[test]
fn a_provider_that_stays_down_is_waited_for_and_nothing_is_lost() {
    let patient = |settings: &mut Settings| {
        settings.limits.model_retries = 2;
        settings.limits.provider_wait_ms = 3_600_000;
        settings.limits.model_calls = 3;
    };
    let fail = |lane: Lane| lane.fails(passing(FailureClass::Passing));
    let lane = fail(Lane::with(patient).prompt("hi"));
    let lane = (0..30).fold(lane, |lane, _| fail(lane.wake()));
    // Asking again does not use up the calls of the run.
    let lane = lane.phase("deferred").so(|lane| assert!(lane.run().counters.model_calls > 30));
    lane.clone().wake().reply(text("up")).ends(StopCause::EndTurn);
    lane.clone().cancel().ends(StopCause::UserCancel);
    let given_up = fail(lane.wait(3_600_000));
    given_up.ends(StopCause::ProviderFailed).so(|lane| assert!(lane.ended().cause.is_resumable()));
}

#[test]
fn the_other_model_has_a_waiting_time_of_its_own() {
    const WAIT_MS: u64 = 3_600_000;
    let fail = |lane: Lane| lane.fails(passing(FailureClass::Passing));
    let lane = Lane::with(|settings| {
        two_models(settings);
        settings.limits.provider_wait_ms = WAIT_MS;
        settings.limits.model_retries = 2;
        settings.limits.fallback_failures = 2;
    });
    // The first model is down for a while before the other one is asked.
    let lane = fail(fail(lane.prompt("hi")).later(WAIT_MS / 2).wake());
    let lane = lane.settles("attempt_abandoned fell_back asked");
    let lane = (0..4).fold(fail(lane), |lane, _| fail(lane.wake())).phase("deferred");
    // Half of the time is left from the first outage; the other model still has nearly all of its own.
    let lane = fail(lane.wait(WAIT_MS * 3 / 4)).phase("deferred");
    fail(lane.wait(WAIT_MS)).ends(StopCause::ProviderFailed);
}

#[test]
fn a_lasting_failure_is_not_waited_for() {
    Lane::with(two_models)
        .prompt("hi")
        .fails(passing(FailureClass::Lasting))
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
    down(small).so(|lane| assert_eq!(lane.run().asking().unwrap().max_tokens, 77));
    down(lane.prompt(&"x".repeat(8_000))).ends(StopCause::BlockingLimit);
}
