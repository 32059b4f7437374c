//! Asks the program before a call runs: allow, deny with a reason, allow with other arguments.
//!
//! `cargo run --example approval`

use windlass::Approval;
use windlass::scripted::Script;

const SCRIPT: &str = r#"
when ask 1
  call Bash {"command": "rm -rf build"}
when ask 2
  call Bash {"command": "echo built"}
when any
  say "Finished: ${result}"
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let answer = windlass::query("Build it again from scratch")
        .script(Script::parse(SCRIPT)?) // or .model("sonnet")
        .tools(["Bash"])
        .approve(|request| async move {
            println!("{} wants {}", request.tool_name, request.input);
            match request.input.get("command").and_then(|command| command.as_str()) {
                Some(command) if command.starts_with("rm ") => Approval::deny("nothing is removed"),
                _ => Approval::Allow,
            }
        })
        .text()
        .await?;
    println!("{answer}");
    Ok(())
}
