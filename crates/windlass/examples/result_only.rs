//! The shortest program: a prompt, and its answer.
//!
//! `cargo run --example result_only`

use windlass::scripted::Script;

const SCRIPT: &str = r#"
when any
  say "Forty-two."
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let query = windlass::query("What is the answer?").script(Script::parse(SCRIPT)?); // or .model("sonnet")
    let result = query.result().await?;
    println!("{} [{}]", result.result.unwrap_or_default(), result.terminal_reason);
    Ok(())
}
