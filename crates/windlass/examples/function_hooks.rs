//! Hooks in Rust: one checks tool calls before they run, one reviews answers before they are
//! accepted.
//!
//! `cargo run --example function_hooks`

use windlass::core::call::call_state::Call;
use windlass::core::log::input::HookDecision;
use windlass::core::run::review::{Review, ReviewResult};
use windlass::core::settings::conversation_settings::{HookPoints, HookPresence};
use windlass::memory::MemoryStore;
use windlass::ports::{BoxFuture, HookContext, HookResponse, Hooks};
use windlass::scripted::Script;
use windlass::{RunOutcome, SystemClock, Windlass};

struct HouseRules;

impl Hooks for HouseRules {
    fn points(&self) -> HookPoints {
        let present = HookPresence::Present;
        HookPoints { before_tool: present, answer: present, ..HookPoints::default() }
    }

    fn before_tool_call(&self, _scene: HookContext, call: Call) -> BoxFuture<'_, HookResponse> {
        let answer = match call.tool_use.input.text().contains("rm -rf") {
            true => HookDecision::Deny { reason: "nothing is removed here".into() },
            false => HookDecision::Allow {},
        };
        Box::pin(std::future::ready(answer.into()))
    }

    fn review(&self, scene: HookContext, review: Review) -> BoxFuture<'_, ReviewResult> {
        let is_short = scene.answer_text().len() < 400;
        let advice = match review {
            Review::Answer { .. } if !is_short => {
                ReviewResult::Block { reason: "say it in one line".into() }
            }
            _ => ReviewResult::Pass { context: None },
        };
        Box::pin(std::future::ready(advice))
    }
}

const SCRIPT: &str = r#"
when user is "tidy up" and results 0
  call Bash {"command": "rm -rf build"}
when results 1+
  say "this came back: ${result}"
when any
  say "done"
"#;

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let clock = std::sync::Arc::new(SystemClock::start());
    let windlass = Windlass::builder()
        .scripted_model(Script::parse(SCRIPT)?)
        .store(MemoryStore::new())
        .tool(windlass::tools::BashTool::new(".", clock))
        .hooks(HouseRules)
        .start()
        .await?;
    if let RunOutcome::Finished(ended) =
        windlass.session("demo").send("tidy up").await?.wait_for_end().await?
    {
        println!("{}", ended.text);
    }
    Ok(())
}
