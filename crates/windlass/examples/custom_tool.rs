//! A custom tool: a type for its input and a function. The schema is derived from the type, an
//! input that does not fit it never reaches the function, and an error tells the model what to do
//! instead.
//!
//! `cargo run --example custom_tool`

use serde::Deserialize;
use windlass::core::call::outcome::ToolError;
use windlass::memory::MemoryStore;
use windlass::ports::CallContext;
use windlass::scripted::Script;
use windlass::tools::FunctionTool;
use windlass::tools::schemars::{self, JsonSchema};
use windlass::{RunOutcome, Windlass};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Tide {
    /// The harbour, as on the chart
    harbour: String,
}

async fn tide(_call: CallContext, asked: Tide) -> Result<String, ToolError> {
    match asked.harbour.as_str() {
        "Cardiff" => Ok("high water at 07:12, 11.4 m".to_owned()),
        other => Err(ToolError::new(
            "unknown_harbour",
            &format!("no table for {other}"),
            "ask for Cardiff",
        )),
    }
}

const SCRIPT: &str = r#"
when ask 1
  call Tide {"harbour": "Cardiff"}

when any
  say "High water is at 07:12."
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let windlass = Windlass::builder()
        .scripted_model(Script::parse(SCRIPT)?)
        .store(MemoryStore::default())
        .tool(FunctionTool::new("Tide", "Tells the next high water.", tide).read_only())
        .allow("Tide")
        .start()
        .await?;

    let run = windlass.session("conversation:example").send("When is high water?").await?;
    match run.wait_for_end().await? {
        RunOutcome::Finished(end) => println!("{} [{}]", end.text, end.cause.as_str()),
        other => println!("it did not finish: {other:?}"),
    }
    Ok(())
}
