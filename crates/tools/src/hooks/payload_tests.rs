//! The payload of a hook for compactions.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::Conversation;
use windlass_core::log::ids::LaneId;
use windlass_core::log::record::Transition;
use windlass_core::message::content_block::{ContentBlock, ErrorFlag};
use windlass_core::message::raw_json::RawJson;
use windlass_core::run::review::{PruneGoal, Review, ReviewResult};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{HookContext, Hooks};

use super::{CommandHooks, HookConfig};

fn hook_context(result: &str) -> HookContext {
    let mut conversation = Conversation::default();
    conversation.transcript.push_prompt(&[ContentBlock::text("look")]);
    let call = ContentBlock::tool_use("t1", "Read", &RawJson::parse("{}").unwrap());
    let found = ContentBlock::tool_result("t1", &RawJson::string(result), ErrorFlag::Success);
    conversation.transcript.push_round(&[call], vec![found]).unwrap();
    HookContext::new(LaneId::from("conversation:1"), conversation)
}

// spec: HOOKS-06
#[tokio::test]
async fn a_compaction_is_told_with_every_message_in_full() {
    let folder = tempfile::tempdir().unwrap();
    let command = r#"{"type": "command", "command": "cat > heard.json"}"#;
    let config = format!(r#"{{"PreCompact": [{{"hooks": [{command}]}}]}}"#);
    let config = HookConfig::parse(&config).unwrap();
    let hooks = CommandHooks::new(config, folder.path(), Arc::new(SystemClock::start()));
    let long = "x".repeat(200_000);
    let review = Review::Pruning {
        goal: PruneGoal::CompactionTarget,
        next_transition: Transition::ToolResults,
    };
    let advice = hooks.review(hook_context(&long), review).await;
    assert_eq!(advice, ReviewResult::Pass { context: None });
    let heard = std::fs::read_to_string(folder.path().join("heard.json")).unwrap();
    let heard: Value = serde_json::from_str(&heard).unwrap();
    assert_eq!(
        (&heard["hook_event_name"], &heard["trigger"]),
        (&json!("PreCompact"), &json!("auto"))
    );
    let [prompt, call, result] = heard["messages"].as_array().unwrap().as_slice() else {
        panic!("{} messages", heard["messages"]);
    };
    assert_eq!(prompt, &json!({"role": "user", "content": [{"type": "text", "text": "look"}]}));
    assert_eq!(call["content"][0]["name"], "Read");
    assert_eq!(result["content"][0]["content"], long);
}
