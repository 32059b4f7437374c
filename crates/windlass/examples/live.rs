//! Streams text while the model produces it. The reader sets the pace; dropping the stream cancels
//! the run.
//!
//! `cargo run --example live`

use std::io::Write;

use windlass::memory::MemoryStore;
use windlass::scripted::Script;
use windlass::{StreamItem, Windlass};

const SCRIPT: &str = r#"
when any
  pace 20ms
  say "One word after the other, as they come."
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let windlass = Windlass::builder()
        .scripted_model(Script::parse(SCRIPT)?)
        .store(MemoryStore::default())
        .start()
        .await?;

    let mut run = windlass.session("conversation:example").send("Talk to me.").await?;
    while let Some(item) = run.next().await? {
        match item {
            StreamItem::TextDelta { text, .. } => {
                print!("{text}");
                std::io::stdout().flush()?;
            }
            StreamItem::RunEnded(end) => println!("\n[{}]", end.cause.as_str()),
            _ => {}
        }
    }
    Ok(())
}
