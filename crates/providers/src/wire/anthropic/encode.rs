//! Encodes the messages of a request; blocks are copied as they are.

use memchr::memmem;
use serde::Deserialize;
use windlass_core::message::content_block::{BlockKind, ContentBlock};
use windlass_core::message::loaded_tools::ToolLoading;
use windlass_core::message::raw_json::RawJson;
use windlass_core::message::transcript::{Role, TranscriptSegment};

use crate::request_cache::body_cache::{SegmentEncoder, SegmentOutput};
use crate::wire::wire_protocol::PriorThinking;
use crate::wire::{content, foreign_blocks};

/// Encodes messages: adjacent segments of one role are one message.
#[derive(Debug)]
pub(crate) struct MessagesEncoder {
    pub(crate) prior_thinking: PriorThinking,
    pub(crate) tool_loading: ToolLoading,
}

impl SegmentEncoder for MessagesEncoder {
    /// The role of the open message.
    type OpenState = Option<Role>;

    fn encode_segment(
        &self,
        open: Option<Role>,
        segment: &TranscriptSegment,
        out: &mut Vec<u8>,
    ) -> SegmentOutput<Option<Role>> {
        let mut written = SegmentOutput { open, cache_marker_at: None };
        for block in segment.blocks.iter().filter(|block| self.is_sent(block)) {
            out.extend_from_slice(message_separator(written.open, segment.role));
            match self.reworded(block) {
                Some(reworded) => out.extend_from_slice(reworded.text().as_bytes()),
                None => out.extend_from_slice(block.raw().text().as_bytes()),
            }
            written.open = Some(segment.role);
            if can_carry_cache_marker(block) {
                written.cache_marker_at = Some(out.len() - 1);
            }
        }
        written
    }

    fn closing_bytes(&self, open: Option<Role>) -> &'static [u8] {
        if open.is_some() { b"]}" } else { b"" }
    }
}

impl MessagesEncoder {
    /// Returns a result that refers to tools in words, where the service knows no references.
    fn reworded(&self, block: &ContentBlock) -> Option<RawJson> {
        match (self.tool_loading, block.kind()) {
            (ToolLoading::ByRequest, BlockKind::ToolResult { .. }) => {
                content::without_references(block)
            }
            _ => None,
        }
    }

    fn is_sent(&self, block: &ContentBlock) -> bool {
        let hidden = self.prior_thinking == PriorThinking::Omitted && block.is_thinking();
        !hidden && is_anthropic_block(block)
    }
}

/// The bytes before a block.
fn message_separator(open: Option<Role>, role: Role) -> &'static [u8] {
    match (open, role) {
        (Some(Role::User), Role::User) | (Some(Role::Assistant), Role::Assistant) => b",",
        (None, Role::User) => b"{\"role\":\"user\",\"content\":[",
        (None, Role::Assistant) => b"{\"role\":\"assistant\",\"content\":[",
        (Some(Role::Assistant), Role::User) => b"]},{\"role\":\"user\",\"content\":[",
        (Some(Role::User), Role::Assistant) => b"]},{\"role\":\"assistant\",\"content\":[",
    }
}

/// Returns whether the block can be sent. Thinking of other providers' models has no signature, and
/// their other blocks mean nothing here: the API would reject the request.
fn is_anthropic_block(block: &ContentBlock) -> bool {
    match block.kind() {
        BlockKind::Other(name) if &**name == "thinking" => is_signed(block),
        BlockKind::Other(name) => !foreign_blocks::is_foreign(name),
        BlockKind::Text(_) | BlockKind::ToolUse(_) | BlockKind::ToolResult { .. } => true,
    }
}

fn is_signed(block: &ContentBlock) -> bool {
    #[derive(Deserialize)]
    struct ThinkingSignature {
        #[serde(default)]
        signature: Option<String>,
    }
    let signature =
        block.raw().read::<ThinkingSignature>().ok().and_then(|signed| signed.signature);
    signature.is_some_and(|signature| !signature.is_empty())
}

/// Returns whether a cache marker may be inserted into the block: thinking must stay as it is, and
/// a block with a marker of its own takes no second one.
fn can_carry_cache_marker(block: &ContentBlock) -> bool {
    let known = match block.kind() {
        BlockKind::Text(_) | BlockKind::ToolUse(_) | BlockKind::ToolResult { .. } => true,
        BlockKind::Other(name) => matches!(&**name, "image" | "document"),
    };
    let text = block.raw().text();
    known && text.ends_with('}') && memmem::find(text.as_bytes(), b"\"cache_control\"").is_none()
}
