//! The shortest way: send a prompt, wait for the result.
//!
//! `cargo run --example result_only`

use windlass::memory::MemoryStore;
use windlass::scripted::Script;
use windlass::{End, Windlass};

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = Script::parse("when any\n  say \"Forty-two.\"\n")?;
    let windlass =
        Windlass::builder().scripted(script).store(MemoryStore::default()).start().await?;

    let run = windlass.session("conversation:example").send("What is the answer?").await?;
    match run.end().await? {
        End::Finished(end) => println!("{} [{}]", end.text, end.cause.name()),
        other => println!("it did not finish: {other:?}"),
    }
    Ok(())
}
