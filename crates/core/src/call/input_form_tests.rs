use super::input_form::{FormProblemKind, InputForm};
use super::input_request::{InputRequest, RequestAnswer, RequestedInput};
use crate::log::human_answer::HumanAnswer;
use crate::message::raw_json::RawJson;

const ORDER: &str = r#"{"type":"object","required":["size","count"],"properties":{
    "size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]},
    "count":{"type":"integer","minimum":1,"maximum":9,"default":1},
    "gift":{"type":"boolean"},
    "price":{"type":"number"},
    "extras":{"type":"array","maxItems":2,"items":{"type":"string","enum":["milk","ice","mint"]}},
    "note":{"type":"string","maxLength":5}}}"#;

fn fill(schema: &str, text: &str) -> Result<String, FormProblemKind> {
    let form = InputForm::parse(&RawJson::parse(schema).unwrap());
    form.fill_in(text).map(|values| values.text().to_owned()).map_err(|problem| problem.kind)
}

#[test]
fn typed_values_become_those_of_the_schema() {
    let typed = "size=Large; count=3; gift=yes; price=1.5\nextras=milk, mint; note=hi";
    let values: serde_json::Value = serde_json::from_str(&fill(ORDER, typed).unwrap()).unwrap();
    let expected = serde_json::json!({"size": "l", "count": 3, "gift": true, "price": 1.5,
        "extras": ["milk", "mint"], "note": "hi"});
    assert_eq!(values, expected);
    let same = fill(ORDER, &expected.to_string()).unwrap();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&same).unwrap(), expected);
}

#[test]
fn defaults_fill_what_is_not_given() {
    let values: serde_json::Value = serde_json::from_str(&fill(ORDER, "size=s").unwrap()).unwrap();
    assert_eq!(values, serde_json::json!({"size": "s", "count": 1}));
    assert_eq!(fill(ORDER, ""), Err(FormProblemKind::Missing));
    let bad = r#"{"properties":{"n":{"type":"integer","default":"many"}},"required":["n"]}"#;
    assert_eq!(fill(bad, ""), Err(FormProblemKind::Missing), "a default of another type is none");
}

#[test]
fn a_form_with_one_field_takes_its_value() {
    let one = r#"{"properties":{"name":{"type":"string"}},"required":["name"]}"#;
    assert_eq!(fill(one, "Ada; or a=b").unwrap(), r#"{"name":"Ada; or a=b"}"#);
    assert_eq!(fill(one, "name=Ada").unwrap(), r#"{"name":"Ada"}"#);
    let number = r#"{"properties":{"age":{"type":"integer"}}}"#;
    assert_eq!(fill(number, "42").unwrap(), r#"{"age":42}"#);
}

#[test]
fn what_does_not_fit_is_named() {
    use FormProblemKind::*;
    let cases = [
        ("size=huge", NotAChoice),
        ("size=s; count=0", TooSmall),
        ("size=s; count=10", TooLarge),
        ("size=s; count=1.5", NotAnInteger),
        ("size=s; count=x", NotANumber),
        ("size=s; gift=maybe", NotYesOrNo),
        ("size=s; note=too long", TooLarge),
        ("size=s; extras=milk,ice,mint", TooLarge),
        ("size=s; extras=salt", NotAChoice),
        ("size=s; colour=red", UnknownField),
        ("large", UnknownField),
        (r#"{"size":"s","role":"admin"}"#, UnknownField),
        (r#"{"size":7}"#, NotAChoice),
    ];
    for (typed, expected) in cases {
        assert_eq!(fill(ORDER, typed), Err(expected), "{typed}");
    }
}

#[test]
fn without_a_human_defaults_are_sent_or_nothing() {
    let request = |wants| InputRequest { from: "desk".into(), message: "?".into(), wants };
    let form =
        |schema: &str| request(RequestedInput::Form { schema: RawJson::parse(schema).unwrap() });
    assert_eq!(form(ORDER).unattended_answer(), RequestAnswer::Declined {});
    let optional = form(r#"{"properties":{"n":{"type":"integer","default":3}}}"#);
    let RequestAnswer::Accepted { content: Some(content) } = optional.unattended_answer() else {
        panic!("it has a default");
    };
    assert_eq!(content.text(), r#"{"n":3}"#);
    let page = request(RequestedInput::Page { url: "https://example.com/".into() });
    assert_eq!(page.unattended_answer(), RequestAnswer::Declined {});
    let opened = RequestAnswer::from_human(&page, &HumanAnswer::Continue {});
    assert_eq!(opened, Some(RequestAnswer::Accepted { content: None }));
}
