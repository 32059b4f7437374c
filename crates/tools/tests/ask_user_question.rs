//! Questions to a human.

use windlass_core::call::call_facts::AnsweredBy;
use windlass_core::call::call_order::TouchedResources;
use windlass_runtime::ports::Tool;
use windlass_tools::AskUserQuestionTool;

use crate::fixture::{call_context, failure_of, json};

#[test]
fn a_question_is_a_persons_to_answer() {
    let input = r#"{"questions": [
        {"question": "Which one?", "header": "Pick", "multiSelect": false,
         "options": [{"label": "A", "description": "the first"}, {"label": "B"}]},
        {"question": "Sure?"}]}"#;
    let facts = AskUserQuestionTool.assess(&json(input));
    assert_eq!((facts.answered_by, facts.problem), (AnsweredBy::Human, None));
    assert_eq!(facts.touches, TouchedResources::Reads(vec![]));
    assert_eq!(facts.summary.as_deref(), Some("Which one? / Sure?"));
}

#[test]
fn a_question_that_nobody_could_answer_is_refused() {
    let inputs = [
        r#"{}"#,
        r#"{"questions": []}"#,
        r#"{"questions": [{"question": " "}]}"#,
        r#"{"questions": [{"question": "a", "options": [{"label": ""}]}]}"#,
        r#"{"questions": [{"question": "a", "question": "b"}]}"#,
        r#"{"questions": [{"question": "a", "hidden": 1}]}"#,
        r#"{"questions": [{"question":"1"},{"question":"2"},{"question":"3"},{"question":"4"},{"question":"5"}]}"#,
    ];
    for input in inputs {
        assert!(AskUserQuestionTool.assess(&json(input)).problem.is_some(), "{input}");
    }
}

#[tokio::test]
async fn a_question_that_reaches_the_tool_was_not_asked() {
    let error = failure_of(AskUserQuestionTool.run(call_context(), json("{}")).await);
    assert_eq!(&*error.code, "no_human_available");
}
