//! Streams the provider's own events while a reply arrives.
//!
//! `cargo run --example partial_messages`

use std::io::Write;

use windlass::Message;
use windlass::scripted::Script;

const SCRIPT: &str = r#"
when any
  pace 5ms
  say "Piece by piece, as the provider sends them."
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut messages = windlass::query("Talk to me.")
        .script(Script::parse(SCRIPT)?) // or .model("sonnet")
        .partial_messages()
        .stream()
        .await?;
    while let Some(message) = messages.try_next().await? {
        if let Some(piece) = message.text_delta() {
            print!("{piece}");
            std::io::stdout().flush()?;
        }
        if let Message::Result(result) = message {
            println!("\n[{}]", result.terminal_reason);
        }
    }
    Ok(())
}
