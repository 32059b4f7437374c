//! Hooks written in Rust: one looks at calls before they run, one at answers before they count.
//!
//! `cargo run --example function_hooks`

use windlass::core::call::Call;
use windlass::core::counsel::{Advice, Counsel};
use windlass::core::input::HookAnswer;
use windlass::core::settings::Listening;
use windlass::memory::MemoryStore;
use windlass::ports::{Heard, Hooks, Scene, Task};
use windlass::scripted::Script;
use windlass::{End, SystemClock, Windlass};

struct HouseRules;

impl Hooks for HouseRules {
    fn before(&self, _scene: Scene, call: Call) -> Task<'_, Heard> {
        let answer = match call.tool_use.input.text().contains("rm -rf") {
            true => HookAnswer::Deny { reason: "nothing is removed here".into() },
            false => HookAnswer::Allow {},
        };
        Box::pin(std::future::ready(answer.into()))
    }

    fn counsel(&self, scene: Scene, about: Counsel) -> Task<'_, Advice> {
        let is_short = scene.answer().len() < 400;
        let advice = match about {
            Counsel::Answer { .. } if !is_short => {
                Advice::Block { reason: "say it in one line".into() }
            }
            _ => Advice::Pass { context: None },
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
        .scripted(Script::parse(SCRIPT)?)
        .store(MemoryStore::new())
        .tool(windlass::tools::Bash::new(".", clock))
        .hooks(HouseRules)
        .settings(|settings| {
            settings.hooks.before_tool = Listening::Hooked;
            settings.hooks.answer = Listening::Hooked;
        })
        .start()
        .await?;
    if let End::Finished(ended) = windlass.session("demo").send("tidy up").await?.end().await? {
        println!("{}", ended.text);
    }
    Ok(())
}
