use crate::message::content_block::{ContentBlock, ErrorFlag};
use crate::message::raw_json::RawJson;
use crate::message::request::RequestMessage;
use crate::message::request_check::{RequestViolation, check_messages};
use crate::message::transcript::Role::{self, Assistant, User};

fn call(id: &str) -> ContentBlock {
    ContentBlock::tool_use(id, "read", &RawJson::parse("{}").unwrap())
}

fn result(id: &str) -> ContentBlock {
    ContentBlock::tool_result(id, &RawJson::string("ok"), ErrorFlag::Success)
}

fn text() -> ContentBlock {
    ContentBlock::text("x")
}

fn thought() -> ContentBlock {
    ContentBlock::new(RawJson::parse(r#"{"type":"thinking","thinking":"hm"}"#).unwrap())
}

fn judged(history: &[(Role, Vec<ContentBlock>)]) -> Result<(), RequestViolation> {
    let messages: Vec<RequestMessage<'_>> = history
        .iter()
        .map(|(role, blocks)| RequestMessage { role: *role, blocks: blocks.iter().collect() })
        .collect();
    check_messages(&messages)
}

#[test]
fn good_histories_pass() {
    let good = [
        vec![(User, vec![text()])],
        vec![(User, vec![text()]), (Assistant, vec![text()])],
        vec![
            (User, vec![text()]),
            (Assistant, vec![thought(), call("a")]),
            (User, vec![result("a"), text()]),
        ],
        vec![
            (User, vec![text()]),
            (Assistant, vec![call("a"), call("b")]),
            (User, vec![result("b"), result("a")]),
            (Assistant, vec![call("a")]),
            (User, vec![result("a")]),
        ],
    ];
    for history in good {
        assert_eq!(judged(&history), Ok(()), "{history:?}");
    }
}

#[test]
fn each_fault_has_its_refusal() {
    let id = |id: &str| id.to_owned();
    let rows = [
        (vec![], RequestViolation::Empty),
        (vec![(Assistant, vec![text()])], RequestViolation::NotUserFirst),
        (vec![(User, vec![])], RequestViolation::BlankBlock(0)),
        (vec![(User, vec![text(), ContentBlock::text(" ")])], RequestViolation::BlankBlock(0)),
        (vec![(User, vec![text()]), (User, vec![text()])], RequestViolation::SameRole(1)),
        (
            vec![(User, vec![text()]), (Assistant, vec![call("a")])],
            RequestViolation::UnansweredCall { at: 1, id: id("a") },
        ),
        (
            vec![
                (User, vec![text()]),
                (Assistant, vec![call("a"), call("b")]),
                (User, vec![result("a")]),
            ],
            RequestViolation::UnansweredCall { at: 1, id: id("b") },
        ),
        (vec![(User, vec![result("a")])], RequestViolation::OrphanResult { at: 0, id: id("a") }),
        (
            vec![
                (User, vec![text()]),
                (Assistant, vec![call("a")]),
                (User, vec![result("a"), result("a")]),
            ],
            RequestViolation::OrphanResult { at: 2, id: id("a") },
        ),
        (
            vec![
                (User, vec![text()]),
                (Assistant, vec![call("a")]),
                (User, vec![text(), result("a")]),
            ],
            RequestViolation::ResultNotFirst(2),
        ),
        (
            vec![(User, vec![text()]), (Assistant, vec![call("a"), call("a")])],
            RequestViolation::RepeatedId { at: 1, id: id("a") },
        ),
        (
            vec![(User, vec![text()]), (Assistant, vec![text(), thought()])],
            RequestViolation::EndsInThought(1),
        ),
        (vec![(User, vec![call("a")])], RequestViolation::WrongSide(0)),
        (
            vec![(User, vec![text()]), (Assistant, vec![result("a")])],
            RequestViolation::WrongSide(1),
        ),
    ];
    for (history, refusal) in rows {
        assert!(!refusal.to_string().is_empty());
        assert_eq!(judged(&history), Err(refusal), "{history:?}");
    }
}
