use std::time::Duration;

use windlass::core::stop::RunState;

use super::{MAX_ATTEMPTS, MAX_BACKOFF, RunChange, backoff, bounded, sign};
use crate::webhooks::{WebhookEvent, WebhookRecord};

fn change(state: RunState) -> RunChange {
    RunChange {
        run_id: "r".to_owned(),
        lane: "conversation:c".to_owned(),
        state,
        stop_cause: None,
        at_ms: 0,
    }
}

#[test]
fn a_change_gives_the_same_message_each_time_and_another_one_for_each_reminder() {
    let change = change(RunState::WaitingOnHuman);
    let (first, again) = (change.message("k", 0), change.message("k", 0));
    assert_eq!(first.delivery_id, again.delivery_id);
    assert_eq!(first.payload, again.payload);
    assert_ne!(first.delivery_id, change.message("k", 1).delivery_id);
    assert_ne!(first.delivery_id, change.message("l", 0).delivery_id);
}

#[test]
fn every_end_is_an_event() {
    for (state, event) in [
        (RunState::Completed, WebhookEvent::Finished),
        (RunState::Cancelled, WebhookEvent::Finished),
        (RunState::Failed, WebhookEvent::Failed),
        (RunState::TimedOut, WebhookEvent::Failed),
        (RunState::WaitingOnHuman, WebhookEvent::Waiting),
    ] {
        assert_eq!(change(state).event(), event);
    }
}

/// The example of the specification of Standard Webhooks.
#[test]
fn signatures_are_those_of_standard_webhooks() {
    let webhook = WebhookRecord {
        url: String::new(),
        events: Vec::new(),
        secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned(),
        remind_after_seconds: None,
        created_at_ms: 0,
    };
    let mut message = change(RunState::Completed).message("k", 0);
    message.delivery_id = "msg_p5jXN8AQM9LWM0D4loKWxJek".to_owned();
    message.payload = r#"{"test": 2432232314}"#.to_owned();
    let signature = sign(&webhook, &message, 1_614_265_330);
    assert_eq!(signature, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

#[test]
fn pauses_grow_to_a_limit() {
    assert_eq!(backoff(1), Duration::from_secs(5));
    assert_eq!(backoff(3), Duration::from_secs(45));
    assert_eq!(backoff(MAX_ATTEMPTS), MAX_BACKOFF);
    assert_eq!(backoff(u32::MAX), MAX_BACKOFF);
    assert!(bounded("é".repeat(1_000)).len() <= 500);
}
