//! A conversation of several prompts, and a copy of it that goes its own way.
//!
//! `cargo run --example conversation`

use windlass::scripted::Script;

const SCRIPT: &str = r#"
when any
  say "You said ${user}"
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = Script::parse(SCRIPT)?; // or .model("sonnet")
    let client = windlass::client().script(script).system_prompt("Answer briefly.").open().await?;
    println!("{}", client.ask("one").await?);
    println!("{}", client.ask("two").await?);

    let copy = client.fork().await?;
    println!("{}", copy.ask("three, in the copy").await?);
    Ok(())
}
