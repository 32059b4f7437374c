//! Steering messages: sent to a run while it works.

use windlass_core::log::record::{Record, Transition};
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, text};

// spec: LANES-04
#[test]
fn a_steer_in_the_middle_is_read_after_the_round() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a")]))
        .steer("in French, please")
        .records("steering_queued")
        .shows(["user: hi"])
        .returns(0, "A")
        .shows(["user: hi", "assistant: <read t1>", "user: <t1 ok: A> | in French, please"])
        .reply(text("voilà"))
        .ends(StopCause::EndTurn);
}

// spec: LANES-04
#[test]
fn a_steer_before_the_end_keeps_the_run_going() {
    Lane::new()
        .prompt("hi")
        .steer("one more thing")
        .reply(text("done"))
        .records("model_replied reply_kept model_call_started")
        .so(|lane| {
            let steer = |record: &Record| {
                matches!(record, Record::ModelCallStarted { transition: Transition::Steer, .. })
            };
            assert!(lane.last.iter().any(steer));
        })
        .shows(["user: hi", "assistant: done", "user: one more thing"])
        .reply(text("that too"))
        .ends(StopCause::EndTurn)
        .saying("that too");
}

// spec: LANES-04
#[test]
fn a_steer_to_nobody_is_a_prompt() {
    Lane::new()
        .steer("begin")
        .records("prompt_queued run_started model_call_started")
        .reply(text("ok"))
        .steer("and again")
        .records("prompt_queued run_started model_call_started");
    Lane::new().prompt("hi").cancel().steer("then this").records("prompt_queued");
}

#[test]
fn an_empty_steer_is_refused() {
    Lane::new().prompt("hi").steer("  ").command_rejected("empty_prompt");
    Lane::new().steer("").command_rejected("empty_prompt");
}

#[test]
fn steers_are_bounded() {
    Lane::with(|settings| settings.limits.waiting_steers = 1)
        .prompt("hi")
        .steer("one")
        .steer("two")
        .command_rejected("too_many_steers");
}

#[test]
fn steers_keep_their_order() {
    Lane::new()
        .prompt("hi")
        .steer("one")
        .steer("two")
        .reply(text("a"))
        .shows_last("user: one | two");
}

#[test]
fn a_finished_answer_is_not_lost_to_a_steer_that_cannot_be_asked() {
    Lane::with(|settings| settings.limits.model_calls = 1)
        .prompt("hi")
        .steer("more")
        .reply(text("the answer"))
        .ends(StopCause::EndTurn)
        .saying("the answer");
    Lane::with(|settings| settings.limits.run_tokens = Some(5_000))
        .prompt("hi")
        .steer("more")
        .reply(text("the answer").usage(10, 4_500))
        .ends(StopCause::EndTurn)
        .saying("the answer");
}

// spec: LANES-02
#[test]
fn words_of_a_run_that_ended_stay_in_the_conversation() {
    Lane::with(|settings| settings.limits.model_calls = 1)
        .prompt("hi")
        .steer("and mind the cat")
        .reply(text("the answer"))
        .shows(["user: hi", "assistant: the answer", "user: and mind the cat"]);
    Lane::new()
        .prompt("hi")
        .steer("and mind the cat")
        .abort()
        .shows(["user: hi | and mind the cat"]);
}

#[test]
fn a_steer_survives_a_crash() {
    Lane::new().prompt("hi").steer("more").owner_changes().shows_last("user: hi | more");
}
