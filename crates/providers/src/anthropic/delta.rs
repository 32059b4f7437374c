//! What deltas add to a block that is open.

use windlass_runtime::ports::Stream;

use super::block::OpenBlock;
use super::event::{AnyDelta, Delta};
use super::quick::{Of, Piece};
use crate::lossless;

/// Adds a piece that was read quickly.
pub(super) fn add_piece(open: &mut OpenBlock, of: Of, piece: &Piece<'_>, stream: &dyn Stream) {
    match of {
        Of::Arguments => piece.add_to(open.arguments()),
        Of::Text => {
            open.append_escaped("text", piece.escaped);
            stream.text(&piece.text());
        }
        Of::Thinking => {
            open.append_escaped("thinking", piece.escaped);
            stream.thinking(&piece.text());
        }
    }
}

/// Known deltas first, the commonest first of all.
pub(super) fn add(open: &mut OpenBlock, delta: &Delta<'_>, data: &str, stream: &dyn Stream) {
    match delta.kind.as_ref() {
        "text_delta" => {
            if let Some(piece) = delta.text {
                open.append("text", piece);
                stream.text(&lossless::text(piece).unwrap_or_default());
            }
        }
        "input_json_delta" => {
            let piece = delta.partial_json.and_then(lossless::text).unwrap_or_default();
            open.arguments().push_str(&piece);
        }
        "thinking_delta" => {
            if let Some(piece) = delta.thinking {
                open.append("thinking", piece);
                stream.thinking(&lossless::text(piece).unwrap_or_default());
            }
        }
        "signature_delta" => {
            if let Some(piece) = delta.signature {
                open.append("signature", piece);
            }
        }
        "citations_delta" => {
            if let Some(citation) = delta.citation {
                open.push("citations", citation);
            }
        }
        _ => {
            if let Ok(any) = serde_json::from_str::<AnyDelta<'_>>(data) {
                open.merge(&any.delta);
            }
        }
    }
}
