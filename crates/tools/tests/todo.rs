//! The list of tasks.

use windlass_core::order::Touches;
use windlass_runtime::ports::Tool;
use windlass_tools::{Status, TodoWrite};

use crate::fixture::{Workspace, context, done, json};

#[tokio::test]
async fn a_list_is_kept_for_its_conversation() {
    let workspace = Workspace::new();
    let tool = TodoWrite::new(&workspace.workplace);
    let list = r#"{"todos": [
        {"content": "look", "status": "completed"},
        {"content": "build", "status": "in_progress", "activeForm": "building"},
        {"content": "test", "status": "pending"}]}"#;
    let said = done(tool.run(context(), json(list)).await);
    assert_eq!(said, "[x] look\n[>] build\n[ ] test\n");
    let kept = workspace.workplace.todos(&context().lane);
    assert_eq!((kept.len(), kept[1].status), (3, Status::InProgress));
    assert_eq!(kept[1].active_form.as_deref(), Some("building"));
    assert!(workspace.workplace.todos(&"conversation:other".into()).is_empty());
    assert_eq!(done(tool.run(context(), json(r#"{"todos": []}"#)).await), "the list is empty");
}

#[test]
fn a_list_that_nobody_can_read_is_refused() {
    let tool = TodoWrite::new(&Workspace::new().workplace);
    let many = format!(
        r#"{{"todos": [{}]}}"#,
        vec![r#"{"content": "a", "status": "pending"}"#; 101].join(",")
    );
    let inputs = [
        "{}",
        r#"{"todos": [{"content": " ", "status": "pending"}]}"#,
        r#"{"todos": [{"content": "a", "status": "done"}]}"#,
        r#"{"todos": [{"content": "a", "content": "b", "status": "pending"}]}"#,
        &many,
    ];
    for input in inputs {
        assert!(tool.assess(&json(input)).problem.is_some(), "{input}");
    }
    let facts = tool.assess(&json(r#"{"todos": []}"#));
    assert_eq!(facts.touches, Touches::Reads(vec![]));
}
