//! A model with a delay, and a tool without one.

use std::sync::Arc;
use std::time::Duration;

use windlass::core::call::call_facts::{CallFacts, Repeatability};
use windlass::core::call::call_order::TouchedResources;
use windlass::core::call::outcome::ToolOutcome;
use windlass::core::log::input::ModelFailure;
use windlass::core::message::content_block::ContentBlock;
use windlass::core::message::raw_json::RawJson;
use windlass::core::message::reply::{ModelReply, StopReason, TokenUsage};
use windlass::core::message::request::ModelRequest;
use windlass::core::message::transcript::SegmentKind;
use windlass::core::settings::conversation_settings::ToolSpec;
use windlass::ports::{BoxFuture, CallContext, Model, ReplyObserver, Tool};

/// Time to the first token.
const FIRST_TOKEN_DELAY: Duration = Duration::from_millis(200);

/// A model that calls the tool a number of times, and then answers.
pub(crate) struct SlowModel {
    pub(crate) rounds: u32,
}

impl Model for SlowModel {
    fn call(
        &self,
        request: ModelRequest,
        _stream: Arc<dyn ReplyObserver>,
    ) -> BoxFuture<'_, Result<ModelReply, ModelFailure>> {
        Box::pin(async move {
            wait_for_first_token().await;
            let replies =
                request.transcript.segments().iter().filter(|s| s.kind == SegmentKind::Reply);
            let round = u32::try_from(replies.count()).unwrap_or(u32::MAX);
            Ok(if round < self.rounds { call_reply(round) } else { final_reply() })
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "a model that takes its time")]
async fn wait_for_first_token() {
    tokio::time::sleep(FIRST_TOKEN_DELAY).await;
}

fn call_reply(round: u32) -> ModelReply {
    let input = RawJson::encode(&std::collections::BTreeMap::from([("at", round)]));
    let block = ContentBlock::tool_use(&format!("call_{round}"), "look", &input);
    build_reply(vec![block], "tool_use")
}

fn final_reply() -> ModelReply {
    build_reply(vec![ContentBlock::text("done")], "end_turn")
}

fn build_reply(blocks: Vec<ContentBlock>, stop: &str) -> ModelReply {
    ModelReply {
        blocks,
        truncated_block: None,
        stop_reason: StopReason::from(stop),
        stop_sequence: None,
        usage: TokenUsage { input_tokens: 100, output_tokens: 10, ..TokenUsage::default() },
        envelope: None,
    }
}

/// A tool with another result each time, so that loop detection does not stop the run.
pub(crate) struct LookTool;

impl Tool for LookTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: Arc::from("look"),
            description: Arc::from("looks"),
            input_schema: RawJson::encode(&serde_json::json!({ "type": "object" })),
        }
    }

    fn assess(&self, _input: &RawJson) -> CallFacts {
        CallFacts {
            touches: TouchedResources::Reads(Vec::new()),
            repeat: Repeatability::Repeatable,
            ..CallFacts::default()
        }
    }

    fn run(&self, _context: CallContext, input: RawJson) -> BoxFuture<'_, ToolOutcome> {
        let seen = RawJson::string(&format!("seen at {}", input.text()));
        Box::pin(std::future::ready(ToolOutcome::Done(seen)))
    }
}
