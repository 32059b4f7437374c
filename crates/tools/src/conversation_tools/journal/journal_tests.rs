//! Valid inputs of the journal's tools, and the errors about invalid ones.

use windlass_core::call::call_facts::AnsweredBy;
use windlass_core::message::raw_json::RawJson;
use windlass_core::run::journal::{JournalChange, JournalField, JournalList, JournalRequest};
use windlass_runtime::ports::Tool;

use super::JournalTool;

fn parse_request(tool: JournalTool, input: &str) -> JournalRequest {
    let facts = tool.assess(&RawJson::parse(input).unwrap());
    assert_eq!(facts.answered_by, AnsweredBy::Journal, "{:?}", facts.problem);
    facts.journal.unwrap()
}

fn validation_message(tool: JournalTool, input: &str) -> String {
    tool.assess(&RawJson::parse(input).unwrap()).problem.unwrap().message.to_string()
}

// spec: JOURNAL-03
#[test]
fn fields_are_set_and_lists_grow() {
    assert_eq!(parse_request(JournalTool::Get, "{}"), JournalRequest::Read);
    let set = |field, text: &str| JournalChange::Set { field, text: text.into() };
    assert_eq!(
        parse_request(JournalTool::Update, r#"{"current_state":"half","objective":"all"}"#),
        JournalRequest::Change(vec![
            set(JournalField::Objective, "all"),
            set(JournalField::CurrentState, "half")
        ])
    );
    let entry = JournalChange::Append { list: JournalList::Blockers, text: "no key".into() };
    assert_eq!(
        parse_request(JournalTool::Append, r#"{"section":"blockers","entry":"no key"}"#),
        JournalRequest::Change(vec![entry])
    );
}

// spec: JOURNAL-03, JOURNAL-06
#[test]
fn entries_are_edited_as_of_the_version_that_was_read() {
    let as_of = |change| JournalRequest::ChangeIfUnmodified { version: 7, changes: vec![change] };
    let edit = |action: &str, text: &str| {
        let input = format!(r#"{{"entry":3,"action":"{action}","version":7{text}}}"#);
        parse_request(JournalTool::Edit, &input)
    };
    let text = r#","text":"no rope""#;
    assert_eq!(
        edit("change", text),
        as_of(JournalChange::Edit { entry: 3, text: "no rope".into() })
    );
    assert_eq!(edit("resolve", ""), as_of(JournalChange::Resolve { entry: 3 }));
    assert_eq!(edit("reopen", ""), as_of(JournalChange::Reopen { entry: 3 }));
    assert_eq!(edit("remove", ""), as_of(JournalChange::Remove { entry: 3 }));
    let set = JournalChange::Set { field: JournalField::Objective, text: "all".into() };
    assert_eq!(
        parse_request(JournalTool::Update, r#"{"objective":"all","version":7}"#),
        as_of(set)
    );
    let complain = |input| validation_message(JournalTool::Edit, input);
    assert!(complain(r#"{"entry":3,"action":"change","version":7}"#).contains("text"));
    assert!(complain(r#"{"entry":3,"action":"change","version":7,"text":" "}"#).contains("text"));
    assert!(complain(r#"{"entry":3,"action":"remove","version":7,"text":"x"}"#).contains("text"));
    assert!(complain(r#"{"entry":3,"action":"resolve"}"#).contains("version"));
    assert!(complain(r#"{"entry":-1,"action":"resolve","version":1}"#).contains("-1"));
    assert!(complain(r#"{"entry":3,"action":"burn","version":1}"#).contains("burn"));
}

#[test]
fn what_does_not_fit_is_told() {
    assert!(validation_message(JournalTool::Update, "{}").contains("objective"));
    assert!(validation_message(JournalTool::Update, r#"{"mood":"good"}"#).contains("mood"));
    let poem = r#"{"section":"poems","entry":"x"}"#;
    assert!(validation_message(JournalTool::Append, poem).contains("poems"));
    assert!(
        validation_message(JournalTool::Append, r#"{"section":"blockers","entry":" "}"#)
            .contains("empty")
    );
    assert!(validation_message(JournalTool::Get, r#"{"all":true}"#).contains("all"));
}
