use crate::audit::{Refusal, audit};
use crate::block::{Block, ErrorFlag};
use crate::raw::Raw;
use crate::request::Message;
use crate::transcript::Role::{self, Assistant, User};

fn call(id: &str) -> Block {
    Block::tool_use(id, "read", &Raw::parse("{}").unwrap())
}

fn result(id: &str) -> Block {
    Block::tool_result(id, &Raw::string("ok"), ErrorFlag::Fine)
}

fn text() -> Block {
    Block::text("x")
}

fn thought() -> Block {
    Block::new(Raw::parse(r#"{"type":"thinking","thinking":"hm"}"#).unwrap())
}

fn judged(history: &[(Role, Vec<Block>)]) -> Result<(), Refusal> {
    let messages: Vec<Message<'_>> = history
        .iter()
        .map(|(role, blocks)| Message { role: *role, blocks: blocks.iter().collect() })
        .collect();
    audit(&messages)
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
        (vec![], Refusal::Empty),
        (vec![(Assistant, vec![text()])], Refusal::NotUserFirst),
        (vec![(User, vec![])], Refusal::Blank(0)),
        (vec![(User, vec![text(), Block::text(" ")])], Refusal::Blank(0)),
        (vec![(User, vec![text()]), (User, vec![text()])], Refusal::SameRole(1)),
        (
            vec![(User, vec![text()]), (Assistant, vec![call("a")])],
            Refusal::Unanswered { at: 1, id: id("a") },
        ),
        (
            vec![
                (User, vec![text()]),
                (Assistant, vec![call("a"), call("b")]),
                (User, vec![result("a")]),
            ],
            Refusal::Unanswered { at: 1, id: id("b") },
        ),
        (vec![(User, vec![result("a")])], Refusal::Orphan { at: 0, id: id("a") }),
        (
            vec![
                (User, vec![text()]),
                (Assistant, vec![call("a")]),
                (User, vec![result("a"), result("a")]),
            ],
            Refusal::Orphan { at: 2, id: id("a") },
        ),
        (
            vec![
                (User, vec![text()]),
                (Assistant, vec![call("a")]),
                (User, vec![text(), result("a")]),
            ],
            Refusal::ResultNotFirst(2),
        ),
        (
            vec![(User, vec![text()]), (Assistant, vec![call("a"), call("a")])],
            Refusal::RepeatedId { at: 1, id: id("a") },
        ),
        (
            vec![(User, vec![text()]), (Assistant, vec![text(), thought()])],
            Refusal::EndsInThought(1),
        ),
        (vec![(User, vec![call("a")])], Refusal::WrongSide(0)),
        (vec![(User, vec![text()]), (Assistant, vec![result("a")])], Refusal::WrongSide(1)),
    ];
    for (history, refusal) in rows {
        assert!(!refusal.to_string().is_empty());
        assert_eq!(judged(&history), Err(refusal), "{history:?}");
    }
}
