//! Requests about files of the workspace.

use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

use serde_json::{Value, json};

use super::{ControlAnswer, ControlRequest};
use crate::sdk_channel::channel_loop::Channel;

/// Maximum number of bytes that one request reads.
const MAX_BYTES: u64 = 16 << 20;

/// Reads a file for the program.
pub(super) fn read_file(channel: &Channel, request: &ControlRequest) -> ControlAnswer {
    let path = named_path(channel, request)?;
    let limit = request.fields.get("max_bytes").and_then(Value::as_u64).unwrap_or(MAX_BYTES);
    if !matches!(request.text("encoding"), None | Some("utf8" | "utf-8")) {
        return Err("only the encoding utf-8 is supported".to_owned());
    }
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    let limit = limit.min(MAX_BYTES);
    let mut bytes = Vec::new();
    let file = File::open(&path).map_err(failed)?;
    let size = file.metadata().map_err(failed)?.len();
    file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
    let text = String::from_utf8_lossy(&bytes);
    let is_lossy = matches!(text, std::borrow::Cow::Owned(_));
    Ok(json!({
        "contents": text,
        "absPath": path,
        "truncated": size > limit,
        "lossy": is_lossy,
    }))
}

/// Notes that the program has read a file, so that the model may edit it. A file that has changed
/// since is not noted.
pub(super) fn seed_read_state(channel: &Channel, request: &ControlRequest) -> ControlAnswer {
    let path = named_path(channel, request)?;
    let seen = request.fields.get("mtime").and_then(Value::as_u64);
    let changed = std::fs::metadata(&path).and_then(|file| file.modified()).ok();
    let changed = changed.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let changed_ms = changed.and_then(|time| u64::try_from(time.as_millis()).ok());
    if changed_ms.is_some() && seen >= changed_ms {
        let lane = channel.session.lane();
        // A file that may not be read is not noted, which is all that matters here.
        let _ = channel.setup.workplace.attach(lane, &path.to_string_lossy());
    }
    Ok(json!({}))
}

fn named_path(channel: &Channel, request: &ControlRequest) -> Result<PathBuf, String> {
    match request.text("path") {
        Some(path) if !path.is_empty() => Ok(channel.setup.workspace.join(path)),
        Some(_) | None => Err("`path` is missing".to_owned()),
    }
}
