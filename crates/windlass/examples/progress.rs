//! Progress: one item per committed step, so a program can show what the agent is doing.
//!
//! `cargo run --example progress`

use windlass::core::record::Record;
use windlass::memory::MemoryStore;
use windlass::scripted::Script;
use windlass::tools::Read;
use windlass::{Item, Windlass};

const SCRIPT: &str = r#"
when results 0
  call Read {"file_path": "Cargo.toml"}

when any
  say "It is a Rust package."
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let windlass = Windlass::builder()
        .scripted(Script::parse(SCRIPT)?)
        .store(MemoryStore::default())
        .tool(Read::new(env!("CARGO_MANIFEST_DIR")))
        .allow("Read")
        .start()
        .await?;

    let mut run = windlass.session("conversation:example").send("What is this?").await?;
    while let Some(item) = run.next().await? {
        let Item::Entry(entry) = item else { continue };
        for record in &entry.records {
            match record {
                Record::Asked { ask, .. } => println!("{}: asked the model ({ask})", entry.seq),
                Record::Completed { call } => println!("{}: call {call} came back", entry.seq),
                Record::Finished { cause, .. } => println!("{}: {}", entry.seq, cause.name()),
                _ => {}
            }
        }
    }
    Ok(())
}
