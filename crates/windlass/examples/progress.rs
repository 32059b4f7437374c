//! Follows a run: each message as it is recorded.
//!
//! `cargo run --example progress`

use windlass::messages::{ContentBlock, Message};
use windlass::scripted::Script;

const SCRIPT: &str = r#"
when results 0
  say "I look for it."
  call Glob {"pattern": "*.none"}
when any
  say "Nothing is there."
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut messages = windlass::query("Is there anything?")
        .script(Script::parse(SCRIPT)?) // or .model("sonnet")
        .tools(["Glob"])
        .stream()
        .await?;
    while let Some(message) = messages.try_next().await? {
        match &message {
            Message::Assistant(reply) => match reply.message.content.first() {
                Some(ContentBlock::ToolUse(call)) => println!("calls {} {}", call.name, call.input),
                _ => println!("says {}", reply.text().unwrap_or_default()),
            },
            Message::User(_) => println!("gets a result"),
            Message::Result(result) => {
                println!("ends ({}) after {} turns", result.terminal_reason, result.num_turns);
            }
            _ => {}
        }
    }
    Ok(())
}
