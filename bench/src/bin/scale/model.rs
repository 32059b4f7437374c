//! A model that takes its time, and a tool that does not.

use std::sync::Arc;
use std::time::Duration;

use windlass::core::block::Block;
use windlass::core::facts::{Facts, Repeat};
use windlass::core::input::Failure;
use windlass::core::order::Touches;
use windlass::core::outcome::Outcome;
use windlass::core::raw::Raw;
use windlass::core::reply::{Reply, StopReason, Usage};
use windlass::core::request::Request;
use windlass::core::settings::ToolSpec;
use windlass::core::transcript::Part;
use windlass::ports::{CallContext, Model, Stream, Task, Tool};

/// Time to the first token.
const WAIT: Duration = Duration::from_millis(200);

/// Asks for the tool so many times, and then answers.
pub(crate) struct Slow {
    pub(crate) rounds: u32,
}

impl Model for Slow {
    fn ask(&self, request: Request, _stream: Arc<dyn Stream>) -> Task<'_, Result<Reply, Failure>> {
        Box::pin(async move {
            wait().await;
            let replies = request.transcript.segments().iter().filter(|s| s.part == Part::Reply);
            let round = u32::try_from(replies.count()).unwrap_or(u32::MAX);
            Ok(if round < self.rounds { looks(round) } else { answers() })
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "a model that takes its time")]
async fn wait() {
    tokio::time::sleep(WAIT).await;
}

fn looks(round: u32) -> Reply {
    let input = Raw::encode(&std::collections::BTreeMap::from([("at", round)]));
    let block = Block::tool_use(&format!("call_{round}"), "look", &input);
    reply(vec![block], "tool_use")
}

fn answers() -> Reply {
    reply(vec![Block::text("done")], "end_turn")
}

fn reply(blocks: Vec<Block>, stop: &str) -> Reply {
    Reply {
        blocks,
        cut: None,
        stop_reason: StopReason::from(stop),
        stop_sequence: None,
        usage: Usage { input_tokens: 100, output_tokens: 10, ..Usage::default() },
        envelope: None,
    }
}

/// Looks, and sees something else each time.
pub(crate) struct Look;

impl Tool for Look {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from("look"),
            description: Arc::from("looks"),
            input_schema: Raw::encode(&serde_json::json!({ "type": "object" })),
        }
    }

    fn assess(&self, _input: &Raw) -> Facts {
        Facts {
            touches: Touches::Reads(Vec::new()),
            repeat: Repeat::Repeatable,
            ..Facts::default()
        }
    }

    fn run(&self, _context: CallContext, input: Raw) -> Task<'_, Outcome> {
        let seen = Raw::string(&format!("seen at {}", input.text()));
        Box::pin(std::future::ready(Outcome::Done(seen)))
    }
}
