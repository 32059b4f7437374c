//! Delegates a task to a sub-agent, and shows what the sub-agent does.
//!
//! `cargo run --example sub_agent`

use windlass::AgentDefinition;
use windlass::messages::{ContentBlock, Message};
use windlass::scripted::Script;

const SCRIPT: &str = r#"
when user is "go" and results 0
  call Agent {"description": "count files", "prompt": "count", "subagent_type": "counter"}
when user is "go"
  say "The counter says: ${result}"
when results 0
  call Glob {"pattern": "*.none"}
when any
  say "no file at all"
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let counter = AgentDefinition::new("Counts files");
    let mut messages = windlass::query("go")
        .script(Script::parse(SCRIPT)?) // or .model("sonnet")
        .tools(["Glob"])
        .allow("Agent")
        .sub_agent("counter", counter)
        .stream()
        .await?;
    while let Some(message) = messages.try_next().await? {
        if let Message::Assistant(reply) = &message
            && let Some(ContentBlock::ToolUse(call)) = reply.message.content.first()
        {
            let who = if reply.parent_tool_use_id.is_some() { "sub-agent" } else { "agent" };
            println!("{who} calls {}", call.name);
        }
        if let Some(result) = message.as_result() {
            println!("{}", result.result.as_deref().unwrap_or("no result"));
        }
    }
    Ok(())
}
