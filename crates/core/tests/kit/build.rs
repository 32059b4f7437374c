//! Builders for replies and failures.

use std::sync::Arc;

use windlass_core::log::input::{FailureClass, ModelFailure};
use windlass_core::message::content_block::ContentBlock;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::reply::{ModelReply, StopReason, TokenUsage, TruncatedBlock};

/// Builder of a reply.
#[derive(Debug, Clone)]
pub(crate) struct ReplyBuilder(pub(crate) ModelReply);

/// A reply of one text, ending its turn.
pub(crate) fn text(text: &str) -> ReplyBuilder {
    nothing().text(text)
}

/// A reply of calls, asking for tools.
pub(crate) fn calls<const N: usize>(blocks: [ContentBlock; N]) -> ReplyBuilder {
    let mut answer = nothing().stop("tool_use");
    answer.0.blocks.extend(blocks);
    answer
}

/// A reply without content, ending its turn.
pub(crate) fn nothing() -> ReplyBuilder {
    ReplyBuilder(ModelReply {
        blocks: Vec::new(),
        truncated_block: None,
        stop_reason: StopReason::EndTurn,
        stop_sequence: None,
        usage: TokenUsage { input_tokens: 10, output_tokens: 5, ..TokenUsage::default() },
        envelope: None,
    })
}

/// A call: id, tool, and what it is about (`{"on": …}`).
pub(crate) fn call(id: &str, tool: &str, on: &str) -> ContentBlock {
    ContentBlock::tool_use(
        id,
        tool,
        &RawJson::encode(&std::collections::BTreeMap::from([("on", on)])),
    )
}

/// Returns the content of a user's message.
pub(crate) fn say(text: &str) -> Vec<ContentBlock> {
    vec![ContentBlock::text(text)]
}

/// Returns a model failure of the given class.
pub(crate) fn passing(class: FailureClass) -> ModelFailure {
    ModelFailure { class, message: Arc::from("down"), retry_after_ms: None, raw: None }
}

impl ReplyBuilder {
    pub(crate) fn text(self, text: &str) -> Self {
        self.block(ContentBlock::text(text))
    }

    pub(crate) fn block(mut self, block: ContentBlock) -> Self {
        self.0.blocks.push(block);
        self
    }

    pub(crate) fn json(self, json: &str) -> Self {
        self.block(ContentBlock::new(RawJson::parse(json).unwrap()))
    }

    pub(crate) fn stop(mut self, reason: &str) -> Self {
        self.0.stop_reason = StopReason::from(reason);
        self
    }

    /// Sets the stop string that ended the reply.
    pub(crate) fn matched(mut self, string: &str) -> Self {
        self.0.stop_sequence = Some(Arc::from(string));
        self.stop("stop_sequence")
    }

    /// Truncates the reply in the middle of a call.
    pub(crate) fn cut(mut self, tool: &str) -> Self {
        self.0.truncated_block =
            Some(TruncatedBlock { name: Arc::from(tool), partial: Arc::from("{\"on\": \"ha") });
        self.stop("max_tokens")
    }

    pub(crate) fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.0.usage = TokenUsage { input_tokens, output_tokens, ..TokenUsage::default() };
        self
    }
}
