//! Tools that ask the user in the middle of a call: the question, its answer, and what becomes of
//! the call.

use windlass_core::call::input_form::FormProblemKind;
use windlass_core::call::input_request::{InputRequest, RequestAnswer, RequestedInput};
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::inbox::HumanAnswer;
use windlass_core::message::raw_json::RawJson;
use windlass_core::permission::HumanAvailability;
use windlass_core::stop::StopCause;

use crate::kit::{Lane, call, calls, text};

/// A form with a required field, and one with a default.
const FORM: &str = r#"{"required":["size"],"properties":{"size":{"enum":["s","l"]},
    "count":{"type":"integer","default":1}}}"#;

fn asks(message: &str) -> ToolOutcome {
    let wants = RequestedInput::Form { schema: RawJson::parse(FORM).unwrap() };
    ToolOutcome::InputRequested(InputRequest {
        from: "desk".into(),
        message: message.into(),
        wants,
    })
}

fn words(text: &str) -> HumanAnswer {
    HumanAnswer::Text { text: text.into() }
}

fn asking() -> Lane {
    Lane::new()
        .prompt("hi")
        .reply(calls([call("t1", "write", "/a")]))
        .comes_back(0, asks("Which size?"))
        .records("question_asked")
}

#[test]
fn a_tool_that_asks_parks_the_run_and_starts_again_with_the_answer() {
    let lane = asking().parked().answer(words("size=l"));
    let lane = lane.records("question_answered call_requeued call_started");
    let given = &lane.run().round().unwrap().calls[0].answered_requests;
    let RequestAnswer::Accepted { content: Some(content) } = &given[0].answer else {
        panic!("it was accepted")
    };
    let values: serde_json::Value = content.read().unwrap();
    assert_eq!(values, serde_json::json!({"size": "l", "count": 1}));
    lane.returns(0, "ordered").reply(text("done")).ends(StopCause::EndTurn);
}

#[test]
fn an_answer_that_does_not_fill_in_the_form_leaves_the_question_open() {
    for (answer, problem) in [
        (words("size=huge"), FormProblemKind::NotAChoice),
        (HumanAnswer::Continue {}, FormProblemKind::Missing),
        (words("size=l; count=x"), FormProblemKind::NotANumber),
    ] {
        let lane = asking();
        let open = lane.run().open_questions().next().unwrap().clone();
        assert_eq!(open.kind.find_form_problem(&answer).unwrap().kind, problem);
        lane.answer(answer).command_rejected("form_not_filled").parked();
    }
    asking().answer(HumanAnswer::allow()).command_rejected("answer_not_accepted");
}

#[test]
fn the_question_and_earlier_answers_survive_a_crash() {
    let lane = asking().owner_changes().parked().answer(words("size=s"));
    let lane = lane.records("question_answered call_requeued call_started");
    let lane = lane.comes_back(0, asks("And the colour?")).owner_changes().parked();
    let lane = lane.answer(words("size=l"));
    let given = &lane.run().round().unwrap().calls[0].answered_requests;
    assert_eq!(given.len(), 2);
    // The start after the answer is one like any other of a once-only call.
    lane.owner_changes().records("owner_changed call_lost question_asked");
}

#[test]
fn a_run_that_is_stopped_says_that_the_call_was_not_answered() {
    asking().cancel().tells("was not answered");
    asking().answer(HumanAnswer::deny_and_interrupt("enough")).tells("was not answered");
}

#[test]
fn without_a_human_the_call_ends_unanswered() {
    let lane = Lane::with(|settings| settings.rules.human = HumanAvailability::Absent)
        .prompt("hi")
        .reply(calls([call("t1", "read", "/a")]))
        .comes_back(0, asks("Which size?"));
    assert_eq!(lane.count("question_asked"), 0);
    lane.tells("was not answered");
}
