//! What a hook that hears of a compaction finds on its standard input.

use std::sync::Arc;

use serde_json::{Value, json};
use windlass_core::Conversation;
use windlass_core::block::{Block, ErrorFlag};
use windlass_core::counsel::{Advice, Counsel, Goal};
use windlass_core::ids::LaneId;
use windlass_core::raw::Raw;
use windlass_core::record::Transition;
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{Hooks, Scene};

use super::{CommandHooks, HookConfig};

fn scene(result: &str) -> Scene {
    let mut conversation = Conversation::default();
    conversation.transcript.push_prompt(&[Block::text("look")]);
    let call = Block::tool_use("t1", "Read", &Raw::parse("{}").unwrap());
    let found = Block::tool_result("t1", &Raw::string(result), ErrorFlag::Fine);
    conversation.transcript.push_round(&[call], vec![found]).unwrap();
    Scene { lane: LaneId::from("conversation:1"), conversation }
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
    let about = Counsel::Pruning { goal: Goal::Gain, then: Transition::ToolResults };
    let advice = hooks.counsel(scene(&long), about).await;
    assert_eq!(advice, Advice::Pass { context: None });
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
