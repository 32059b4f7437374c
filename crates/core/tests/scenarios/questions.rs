//! Answers that fit, and answers that do not.

use std::sync::Arc;

use windlass_core::mail::Answer;

use crate::kit::{Lane, call, calls, text};

fn words(text: &str) -> Answer {
    Answer::Text { text: Arc::from(text) }
}

fn all_answers() -> Vec<(&'static str, Answer)> {
    vec![
        ("allow", Answer::allow()),
        ("deny", Answer::Deny { reason: Arc::from("no") }),
        ("retry", Answer::Retry {}),
        ("mark done", Answer::MarkDone { text: Arc::from("it did") }),
        ("abandon", Answer::Abandon {}),
        ("continue", Answer::Continue {}),
        ("text", words("blue")),
    ]
}

/// Every answer to this lane's open question: taken if it is named, refused otherwise.
fn takes(lane: &Lane, taken: &[&str]) {
    for (name, answer) in all_answers() {
        let after = lane.clone().answer(answer);
        if taken.contains(&name) {
            assert_eq!(after.count("answered"), 1, "{name}");
        } else {
            after.settles("mail_refused").refused("takes");
        }
    }
}

#[test]
fn each_question_takes_its_own_answers() {
    let lane = Lane::new().prompt("hi");
    takes(&lane.clone().reply(calls([call("t1", "deploy", "x")])), &["allow", "deny"]);
    takes(&lane.clone().reply(calls([call("t1", "ask_human", "colour?")])), &["text", "deny"]);
    let lost = lane.clone().reply(calls([call("t1", "write", "/a")])).adopted();
    takes(&lost, &["retry", "mark done", "abandon"]);
    takes(&lane.adopted_with("another prompt"), &["continue", "abandon"]);
}

// spec: LANES-13
// spec: FAULT-11, FAULT-35
#[test]
fn an_answer_sent_twice_is_applied_once() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "deploy", "x")]))
        .answer_to(1, Answer::allow())
        .settles("answered judged started")
        .answer_to(1, Answer::allow())
        .refused("not open")
        .returns(0, "done")
        .answer_to(1, Answer::Deny { reason: Arc::from("too late") })
        .refused("not open")
        .reply(text("ok"))
        .answer_to(1, Answer::allow())
        .refused("not open");
}

// spec: FAULT-35
#[test]
fn an_answer_to_no_question_is_refused() {
    Lane::new().answer_to(0, Answer::allow()).refused("not open");
    Lane::new().prompt("hi").answer_to(u32::MAX, Answer::allow()).refused("not open");
}

// spec: LANES-13
#[test]
fn a_tool_answered_by_a_human_brings_the_answer() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "ask_human", "colour?"), call("t2", "read", "/a")]))
        .settles("replied round_opened judged questioned judged launched")
        .returns(1, "A")
        .parked()
        .answer(words("blue"))
        .settles("answered settled round_closed asked")
        .shows_last("user: <t1 ok: blue> | <t2 ok: A>");
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "ask_human", "colour?")]))
        .deny("I would rather not say")
        .shows_last("user: <t1 denied: I would rather not say>");
}

#[test]
fn long_words_of_a_human_are_cut() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "ask_human", "colour?")]))
        .answer(words(&"blue ".repeat(20_000)))
        .so(|lane| {
            let shown = crate::kit::messages(&lane.live).pop().unwrap();
            assert!(shown.chars().count() < 32_100);
        });
}
