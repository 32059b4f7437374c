//! Replies and failures, written short.

use std::sync::Arc;

use windlass_core::block::Block;
use windlass_core::input::{Failure, FailureClass};
use windlass_core::raw::Raw;
use windlass_core::reply::{CutBlock, Reply, StopReason, Usage};

/// A reply in the making.
#[derive(Debug, Clone)]
pub(crate) struct Answering(pub(crate) Reply);

/// A reply of one text, ending its turn.
pub(crate) fn text(text: &str) -> Answering {
    nothing().text(text)
}

/// A reply of calls, asking for tools.
pub(crate) fn calls<const N: usize>(blocks: [Block; N]) -> Answering {
    let mut answer = nothing().stop("tool_use");
    answer.0.blocks.extend(blocks);
    answer
}

/// A reply without content, ending its turn.
pub(crate) fn nothing() -> Answering {
    Answering(Reply {
        blocks: Vec::new(),
        cut: None,
        stop_reason: StopReason::EndTurn,
        stop_sequence: None,
        usage: Usage { input_tokens: 10, output_tokens: 5, ..Usage::default() },
        envelope: None,
    })
}

/// A call: id, tool, and what it is about (`{"on": …}`).
pub(crate) fn call(id: &str, tool: &str, on: &str) -> Block {
    Block::tool_use(id, tool, &Raw::encode(&std::collections::BTreeMap::from([("on", on)])))
}

/// What a person says.
pub(crate) fn say(text: &str) -> Vec<Block> {
    vec![Block::text(text)]
}

/// A failure of the model of the given class.
pub(crate) fn passing(class: FailureClass) -> Failure {
    Failure { class, message: Arc::from("down"), retry_after_ms: None, raw: None }
}

impl Answering {
    pub(crate) fn text(self, text: &str) -> Self {
        self.block(Block::text(text))
    }

    pub(crate) fn block(mut self, block: Block) -> Self {
        self.0.blocks.push(block);
        self
    }

    pub(crate) fn json(self, json: &str) -> Self {
        self.block(Block::new(Raw::parse(json).unwrap()))
    }

    pub(crate) fn stop(mut self, reason: &str) -> Self {
        self.0.stop_reason = StopReason::from(reason);
        self
    }

    /// Stopped by a stop string.
    pub(crate) fn matched(mut self, string: &str) -> Self {
        self.0.stop_sequence = Some(Arc::from(string));
        self.stop("stop_sequence")
    }

    /// Cut in the middle of a call.
    pub(crate) fn cut(mut self, tool: &str) -> Self {
        self.0.cut = Some(CutBlock { name: Arc::from(tool), partial: Arc::from("{\"on\": \"ha") });
        self.stop("max_tokens")
    }

    pub(crate) fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.0.usage = Usage { input_tokens, output_tokens, ..Usage::default() };
        self
    }
}
