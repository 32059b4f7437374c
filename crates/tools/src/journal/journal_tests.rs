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

// spec: JOURNAL-03, JOURNAL-06
#[test]
fn entries_are_edited_as_of_the_version_that_was_read() {
    let as_of = |change| Wish::ChangeAsOf { version: 7, changes: vec![change] };
    let edit = |action: &str, text: &str| {
        let input = format!(r#"{{"entry":3,"action":"{action}","version":7{text}}}"#);
        wish(JournalTool::Edit, &input)
    };
    let text = r#","text":"no rope""#;
    assert_eq!(edit("change", text), as_of(Change::Edit { entry: 3, text: "no rope".into() }));
    assert_eq!(edit("resolve", ""), as_of(Change::Resolve { entry: 3 }));
    assert_eq!(edit("reopen", ""), as_of(Change::Reopen { entry: 3 }));
    assert_eq!(edit("remove", ""), as_of(Change::Remove { entry: 3 }));
    let set = Change::Set { field: Field::Objective, text: "all".into() };
    assert_eq!(wish(JournalTool::Update, r#"{"objective":"all","version":7}"#), as_of(set));
    let complain = |input| complaint(JournalTool::Edit, input);
    assert!(complain(r#"{"entry":3,"action":"change","version":7}"#).contains("text"));
    assert!(complain(r#"{"entry":3,"action":"change","version":7,"text":" "}"#).contains("text"));
    assert!(complain(r#"{"entry":3,"action":"remove","version":7,"text":"x"}"#).contains("text"));
    assert!(complain(r#"{"entry":3,"action":"resolve"}"#).contains("version"));
    assert!(complain(r#"{"entry":-1,"action":"resolve","version":1}"#).contains("-1"));
    assert!(complain(r#"{"entry":3,"action":"burn","version":1}"#).contains("burn"));
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
