//! Hooks that are functions: one checks calls before they run, one adds to a prompt.
//!
//! `cargo run --example function_hooks`

use windlass::HookReply;
use windlass::scripted::Script;

const SCRIPT: &str = r#"
when user contains "tidy up" and results 0
  call Bash {"command": "rm -rf build"}
when results 1+
  say "this came back: ${result}"
when any
  say "done"
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let answer = windlass::query("tidy up")
        .script(Script::parse(SCRIPT)?) // or .model("sonnet")
        .tools(["Bash"])
        .allow("Bash")
        .hook_for("PreToolUse", "Bash", |event| async move {
            match event.tool_input()["command"].as_str() {
                Some(command) if command.contains("rm -rf") => {
                    HookReply::deny("nothing is removed here")
                }
                _ => HookReply::Pass,
            }
        })
        .hook("UserPromptSubmit", |event| async move {
            println!("prompt: {}", event.prompt());
            HookReply::Pass
        })
        .text()
        .await?;
    println!("{answer}");
    Ok(())
}
