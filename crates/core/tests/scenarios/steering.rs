//! Words said to a run while it works.

use windlass_core::record::{Record, Transition};
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, text};

// spec: LANES-04
#[test]
fn a_steer_in_the_middle_is_read_after_the_round() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a")]))
        .steer("in French, please")
        .settles("steered")
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
        .settles("replied reply_kept asked")
        .so(|lane| {
            let steer = |record: &Record| {
                matches!(record, Record::Asked { transition: Transition::Steer, .. })
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
        .settles("queued run_started asked")
        .reply(text("ok"))
        .steer("and again")
        .settles("queued run_started asked");
    Lane::new().prompt("hi").cancel().steer("then this").settles("queued");
}

#[test]
fn an_empty_steer_is_refused() {
    Lane::new().prompt("hi").steer("  ").refused("empty");
    Lane::new().steer("").refused("empty");
}

#[test]
fn steers_are_bounded() {
    Lane::with(|settings| settings.limits.waiting_steers = 1)
        .prompt("hi")
        .steer("one")
        .steer("two")
        .refused("too many steers");
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
    Lane::new().prompt("hi").steer("more").adopted().shows_last("user: hi | more");
}
