//! Limits: a run that reaches one ends with a result that says which.
//!
//! `cargo run --example limits`

use windlass::QueryError;
use windlass::scripted::Script;

const SCRIPT: &str = r#"
when any
  call Glob {"pattern": "${ask}.txt"}
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let query = windlass::query("Look everywhere")
        .script(Script::parse(SCRIPT)?) // or .model("sonnet")
        .tools(["Glob"])
        .max_turns(3);
    match query.text().await {
        Ok(answer) => println!("{answer}"),
        Err(QueryError::NoResult(result)) => {
            println!("stopped ({}): {:?}", result.terminal_reason, result.errors);
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
