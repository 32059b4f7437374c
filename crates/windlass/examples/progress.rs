//! Prints one line per committed step, so that a program can show what the agent is doing.
//!
//! `cargo run --example progress`

use windlass::core::log::record::Record;
use windlass::memory::MemoryStore;
use windlass::scripted::Script;
use windlass::tools::ReadTool;
use windlass::{StreamItem, Windlass};

const SCRIPT: &str = r#"
when results 0
  call Read {"file_path": "Cargo.toml"}

when any
  say "It is a Rust package."
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let windlass = Windlass::builder()
        .scripted_model(Script::parse(SCRIPT)?)
        .store(MemoryStore::default())
        .tool(ReadTool::new(env!("CARGO_MANIFEST_DIR")))
        .allow("Read")
        .start()
        .await?;

    let mut run = windlass.session("conversation:example").send("What is this?").await?;
    while let Some(item) = run.next().await? {
        let StreamItem::Entry(entry) = item else { continue };
        for record in &entry.records {
            match record {
                Record::ModelCallStarted { model_call, .. } => {
                    println!("{}: asked the model ({model_call})", entry.seq);
                }
                Record::CallReturned { call } => println!("{}: call {call} came back", entry.seq),
                Record::RunFinished { cause, .. } => println!("{}: {}", entry.seq, cause.as_str()),
                _ => {}
            }
        }
    }
    Ok(())
}
