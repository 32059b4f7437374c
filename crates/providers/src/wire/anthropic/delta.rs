//! Applies deltas to an open block.

use windlass_runtime::ports::ReplyObserver;

use super::fast_events::{DeltaKind, DeltaText};
use super::open_block::OpenBlock;
use super::stream_event::{MessagesDelta, UnknownDelta};
use crate::json::json_string;

/// Applies a delta that was parsed by the fast path.
pub(super) fn apply_fast_delta(
    open: &mut OpenBlock,
    of: DeltaKind,
    piece: &DeltaText<'_>,
    stream: &dyn ReplyObserver,
) {
    match of {
        DeltaKind::Arguments => piece.append_to(open.arguments_mut()),
        DeltaKind::Text => {
            open.append_escaped("text", piece.escaped);
            stream.on_text(&piece.to_text());
        }
        DeltaKind::Thinking => {
            open.append_escaped("thinking", piece.escaped);
            stream.on_thinking(&piece.to_text());
        }
    }
}

/// Applies a delta. Known types are checked first, the most common one first of all.
pub(super) fn apply_delta(
    open: &mut OpenBlock,
    delta: &MessagesDelta<'_>,
    data: &str,
    stream: &dyn ReplyObserver,
) {
    match delta.kind.as_ref() {
        "text_delta" => {
            if let Some(raw) = delta.text {
                open.append("text", raw);
                stream.on_text(&json_string::decode_raw_string(raw).unwrap_or_default());
            }
        }
        "input_json_delta" => {
            let chunk =
                delta.partial_json.and_then(json_string::decode_raw_string).unwrap_or_default();
            open.arguments_mut().push_str(&chunk);
        }
        "thinking_delta" => {
            if let Some(raw) = delta.thinking {
                open.append("thinking", raw);
                stream.on_thinking(&json_string::decode_raw_string(raw).unwrap_or_default());
            }
        }
        "signature_delta" => {
            if let Some(item) = delta.signature {
                open.append("signature", item);
            }
        }
        "citations_delta" => {
            if let Some(citation) = delta.citation {
                open.push_list_item("citations", citation);
            }
        }
        _ => {
            if let Ok(any) = serde_json::from_str::<UnknownDelta<'_>>(data) {
                open.merge(&any.delta);
            }
        }
    }
}
