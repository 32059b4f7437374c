//! Answers that a question accepts, and answers that it rejects.

use std::sync::Arc;

use windlass_core::log::inbox::HumanAnswer;

use crate::kit::{Lane, call, calls, text};

fn words(text: &str) -> HumanAnswer {
    HumanAnswer::Text { text: Arc::from(text) }
}

fn all_answers() -> Vec<(&'static str, HumanAnswer)> {
    vec![
        ("allow", HumanAnswer::allow()),
        ("deny", HumanAnswer::deny("no")),
        ("retry", HumanAnswer::Retry {}),
        ("mark done", HumanAnswer::MarkDone { text: Arc::from("it did") }),
        ("abandon", HumanAnswer::Abandon {}),
        ("continue", HumanAnswer::Continue {}),
        ("text", words("blue")),
    ]
}

/// Checks every answer to this lane's open question: accepted if it is named, rejected otherwise.
fn takes(lane: &Lane, taken: &[&str]) {
    for (name, answer) in all_answers() {
        let after = lane.clone().answer(answer);
        if taken.contains(&name) {
            assert_eq!(after.count("question_answered"), 1, "{name}");
        } else {
            after.records("command_rejected").command_rejected("answer_not_accepted");
        }
    }
}

#[test]
fn each_question_takes_its_own_answers() {
    let lane = Lane::new().prompt("hi");
    takes(&lane.clone().reply(calls([call("t1", "deploy", "x")])), &["allow", "deny"]);
    takes(&lane.clone().reply(calls([call("t1", "ask_human", "colour?")])), &["text", "deny"]);
    let lost = lane.clone().reply(calls([call("t1", "write", "/a")])).owner_changes();
    takes(&lost, &["retry", "mark done", "abandon"]);
    takes(&lane.owner_changes_with_hash("another prompt"), &["continue", "abandon"]);
}

// spec: LANES-13
// spec: FAULT-11, FAULT-35
#[test]
fn an_answer_sent_twice_is_applied_once() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "deploy", "x")]))
        .answer_to(1, HumanAnswer::allow())
        .records("question_answered permission_decided call_started")
        .answer_to(1, HumanAnswer::allow())
        .command_rejected("question_not_open")
        .returns(0, "done")
        .answer_to(1, HumanAnswer::deny("too late"))
        .command_rejected("question_not_open")
        .reply(text("ok"))
        .answer_to(1, HumanAnswer::allow())
        .command_rejected("question_not_open");
}

// spec: FAULT-35
#[test]
fn an_answer_to_no_question_is_refused() {
    Lane::new().answer_to(0, HumanAnswer::allow()).command_rejected("question_not_open");
    Lane::new()
        .prompt("hi")
        .answer_to(u32::MAX, HumanAnswer::allow())
        .command_rejected("question_not_open");
}

// spec: LANES-13
#[test]
fn a_tool_answered_by_a_human_brings_the_answer() {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "ask_human", "colour?"), call("t2", "read", "/a")]))
        .records("model_replied round_opened permission_decided question_asked permission_decided repeatable_call_started")
        .returns(1, "A")
        .parked()
        .answer(words("blue"))
        .records("question_answered result_finalized round_closed model_call_started")
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
            let output = crate::kit::messages(&lane.live).pop().unwrap();
            assert!(output.chars().count() < 32_100);
        });
}
