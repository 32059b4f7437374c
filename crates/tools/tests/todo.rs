//! The task list.

use windlass_core::call::call_order::TouchedResources;
use windlass_runtime::ports::Tool;
use windlass_tools::{TodoStatus, TodoWriteTool};

use crate::fixture::{TestWorkspace, call_context, json, success_text};

#[tokio::test]
async fn a_list_is_kept_for_its_conversation() {
    let workspace = TestWorkspace::new();
    let tool = TodoWriteTool::new(&workspace.context);
    let list = r#"{"todos": [
        {"content": "look", "status": "completed"},
        {"content": "build", "status": "in_progress", "activeForm": "building"},
        {"content": "test", "status": "pending"}]}"#;
    let output = success_text(tool.run(call_context(), json(list)).await);
    assert_eq!(output, "[x] look\n[>] build\n[ ] test\n");
    let kept = workspace.context.todos(&call_context().lane);
    assert_eq!((kept.len(), kept[1].status), (3, TodoStatus::InProgress));
    assert_eq!(kept[1].active_form.as_deref(), Some("building"));
    assert!(workspace.context.todos(&"conversation:other".into()).is_empty());
    assert_eq!(
        success_text(tool.run(call_context(), json(r#"{"todos": []}"#)).await),
        "the list is empty"
    );
}

#[test]
fn a_list_that_nobody_can_read_is_refused() {
    let tool = TodoWriteTool::new(&TestWorkspace::new().context);
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
    assert_eq!(facts.touches, TouchedResources::Reads(vec![]));
}
