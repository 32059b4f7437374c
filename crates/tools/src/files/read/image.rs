//! Images, for models with vision.

use std::io::Read;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use windlass_core::call::outcome::ToolError;
use windlass_core::message::raw_json::RawJson;

use super::file_kind::read_whole;
use crate::limits::MAX_IMAGE_BYTES;

#[derive(Serialize)]
struct ImageBlock {
    r#type: &'static str,
    source: ImageSource,
}

#[derive(Serialize)]
struct ImageSource {
    r#type: &'static str,
    media_type: &'static str,
    data: String,
}

/// Returns the media type of an image by its first bytes, if models accept it.
pub(crate) fn media_type(start: &[u8]) -> Option<&'static str> {
    let is_webp = start.starts_with(b"RIFF") && start.get(8..12) == Some(b"WEBP");
    match start {
        _ if start.starts_with(b"\x89PNG\r\n\x1a\n") => Some("image/png"),
        _ if start.starts_with(b"\xff\xd8\xff") => Some("image/jpeg"),
        _ if start.starts_with(b"GIF87a") || start.starts_with(b"GIF89a") => Some("image/gif"),
        _ if is_webp => Some("image/webp"),
        _ => None,
    }
}

/// Reads an image as a list of one content block.
pub(crate) fn read_image(
    file: impl Read,
    path: &Path,
    media_type: &'static str,
) -> Result<RawJson, ToolError> {
    let bytes = read_whole(file, path, MAX_IMAGE_BYTES)?;
    Ok(RawJson::encode(&[image_block(media_type, &bytes)]))
}

fn image_block(media_type: &'static str, bytes: &[u8]) -> ImageBlock {
    let source = ImageSource { r#type: "base64", media_type, data: STANDARD.encode(bytes) };
    ImageBlock { r#type: "image", source }
}
