use serde_json::json;
use windlass::HumanAnswer;
use windlass::core::call::input_request::{InputRequest, RequestedInput};
use windlass::core::message::raw_json::RawJson;

use super::{to_answer, to_request};

fn form() -> InputRequest {
    let schema = json!({"properties": {"n": {"type": "integer", "default": 1}}});
    let wants = RequestedInput::Form { schema: RawJson::encode(&schema) };
    InputRequest { from: "desk".into(), message: "How many?".into(), wants }
}

#[test]
fn an_answer_of_the_program_is_taken_if_it_fits() {
    let answered = |reply| to_answer(&form(), Some(&reply));
    let three = json!({"action": "accept", "content": {"n": 3}});
    assert_eq!(answered(three), HumanAnswer::Text { text: r#"{"n":3}"#.into() });
    assert_eq!(answered(json!({"action": "accept"})), HumanAnswer::Continue {});
    let wrong = json!({"action": "accept", "content": {"n": "many"}});
    assert!(matches!(answered(wrong), HumanAnswer::Deny { .. }));
    assert!(matches!(answered(json!({"action": "decline"})), HumanAnswer::Deny { .. }));
    assert!(matches!(answered(json!({"action": "cancel"})), HumanAnswer::Deny { .. }));
}

#[test]
fn a_program_that_cannot_be_asked_sends_defaults_and_opens_no_page() {
    assert_eq!(to_answer(&form(), None), HumanAnswer::Continue {});
    let wants = RequestedInput::Page { url: "https://example.com/".into() };
    let page = InputRequest { wants, ..form() };
    assert!(matches!(to_answer(&page, None), HumanAnswer::Deny { .. }));
    let sent = to_request(&page);
    assert_eq!(sent["url"], "https://example.com/");
    assert_eq!(sent["mode"], "url");
}
