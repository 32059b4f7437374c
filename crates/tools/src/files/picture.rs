//! Pictures, for models that see.

use std::io::Read;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use windlass_core::outcome::ToolError;
use windlass_core::raw::Raw;

use super::kind::whole;
use crate::limits::MAX_IMAGE_BYTES;

#[derive(Serialize)]
struct Image {
    r#type: &'static str,
    source: Source,
}

#[derive(Serialize)]
struct Source {
    r#type: &'static str,
    media_type: &'static str,
    data: String,
}

/// The kind of picture that begins like this, of those that models take.
pub(super) fn media_type(start: &[u8]) -> Option<&'static str> {
    let is_webp = start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP");
    match start {
        _ if start.starts_with(b"\x89PNG\r\n\x1a\n") => Some("image/png"),
        _ if start.starts_with(b"\xff\xd8\xff") => Some("image/jpeg"),
        _ if start.starts_with(b"GIF87a") || start.starts_with(b"GIF89a") => Some("image/gif"),
        _ if is_webp => Some("image/webp"),
        _ => None,
    }
}

/// A picture as a list of one block.
pub(super) fn read(
    file: impl Read,
    path: &Path,
    media_type: &'static str,
) -> Result<Raw, ToolError> {
    let bytes = whole(file, path, MAX_IMAGE_BYTES)?;
    Ok(Raw::encode(&[block(media_type, &bytes)]))
}

fn block(media_type: &'static str, bytes: &[u8]) -> Image {
    let source = Source { r#type: "base64", media_type, data: STANDARD.encode(bytes) };
    Image { r#type: "image", source }
}
