//! The shortest program: sends a prompt and waits for the result.
//!
//! `cargo run --example result_only`

use windlass::memory::MemoryStore;
use windlass::scripted::Script;
use windlass::{RunOutcome, Windlass};

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = Script::parse("when any\n  say \"Forty-two.\"\n")?;
    let windlass =
        Windlass::builder().scripted_model(script).store(MemoryStore::default()).start().await?;

    let run = windlass.session("conversation:example").send("What is the answer?").await?;
    match run.wait_for_end().await? {
        RunOutcome::Finished(end) => println!("{} [{}]", end.text, end.cause.as_str()),
        other => println!("it did not finish: {other:?}"),
    }
    Ok(())
}
