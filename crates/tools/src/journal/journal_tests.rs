//! What the journal's tools take, and what they say of the rest.

use windlass_core::facts::AnsweredBy;
use windlass_core::journal::{Change, Field, List, Wish};
use windlass_core::raw::Raw;
use windlass_runtime::ports::Tool;

use super::JournalTool;

fn wish(tool: JournalTool, input: &str) -> Wish {
    let facts = tool.assess(&Raw::parse(input).unwrap());
    assert_eq!(facts.answered_by, AnsweredBy::Journal, "{:?}", facts.problem);
    facts.journal.unwrap()
}

fn complaint(tool: JournalTool, input: &str) -> String {
    tool.assess(&Raw::parse(input).unwrap()).problem.unwrap().message.to_string()
}

// spec: JOURNAL-03
#[test]
fn fields_are_set_and_lists_grow() {
    assert_eq!(wish(JournalTool::Get, "{}"), Wish::Read);
    let set = |field, text: &str| Change::Set { field, text: text.into() };
    assert_eq!(
        wish(JournalTool::Update, r#"{"current_state":"half","objective":"all"}"#),
        Wish::Change(vec![set(Field::Objective, "all"), set(Field::CurrentState, "half")])
    );
    let entry = Change::Append { list: List::Blockers, text: "no key".into() };
    assert_eq!(
        wish(JournalTool::Append, r#"{"section":"blockers","entry":"no key"}"#),
        Wish::Change(vec![entry])
    );
}

#[test]
fn what_does_not_fit_is_told() {
    assert!(complaint(JournalTool::Update, "{}").contains("objective"));
    assert!(complaint(JournalTool::Update, r#"{"mood":"good"}"#).contains("mood"));
    let poem = r#"{"section":"poems","entry":"x"}"#;
    assert!(complaint(JournalTool::Append, poem).contains("poems"));
    assert!(
        complaint(JournalTool::Append, r#"{"section":"blockers","entry":" "}"#).contains("empty")
    );
    assert!(complaint(JournalTool::Get, r#"{"all":true}"#).contains("all"));
}
