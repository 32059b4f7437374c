//! Write intents: a change is announced in the tool state before it is made, so that a probe can
//! tell after a crash whether it happened.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use windlass_core::call::call_facts::{CallFacts, ProbeSupport};
use windlass_core::call::outcome::ToolError;
use windlass_core::log::ids::CallId;
use windlass_core::log::input::ProbeResult;
use windlass_core::run::child_runs::root_lane;
use windlass_runtime::ports::CallContext;

use super::atomic_write;
use super::content_hash;
use super::write_target;
use super::write_target::FileSnapshot;
use crate::file_history::{self, ChangeOrigin};
use crate::files::open_files;
use crate::files::paths::resolved_path::ResolvedPath;
use crate::tool_context::ToolContext;
use crate::tool_context::tool_state::ToolState;
use crate::tool_definition::tool_input;

/// The change that a call is about to make, recorded before it is made.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct WriteIntent {
    key: String,
    path: PathBuf,
    before: Option<String>,
    after: String,
}

/// Writes `bytes` and records the file as read: the model that wrote a file knows its contents.
pub(crate) fn write_with_intent(
    tool_context: &ToolContext,
    context: &CallContext,
    resolved: &ResolvedPath,
    before: Option<&FileSnapshot>,
    bytes: &[u8],
) -> Result<(), ToolError> {
    let state = tool_context.tool_state(&context.lane);
    let after = content_hash::hash_bytes(bytes);
    let intent = WriteIntent {
        key: context.idempotency_key.to_string(),
        path: resolved.real_path(),
        before: before.map(|before| before.hash.clone()),
        after: after.clone(),
    };
    // Without the intent a human is asked after a crash in the middle, who can tell as well.
    state.write_note(&intent_note(context.call), &intent).unwrap_or_default();
    let at = tool_context.clock().now();
    let origin = ChangeOrigin { lane: &context.lane, call: context.call, at };
    let root = tool_context.tool_state(&root_lane(&context.lane));
    file_history::note_change(&root, &origin, &resolved.real_path(), before, &after);
    let is_shown = match tool_context.open_files() {
        Some(open_files) => open_files::write_shown(open_files, resolved, bytes)?,
        None => false,
    };
    if !is_shown {
        atomic_write::replace_atomically(resolved, before, bytes)?;
    }
    state.record_read(&resolved.real_path(), &after).unwrap_or_default();
    Ok(())
}

/// Returns the facts of a call that changes the file at `path`.
pub(crate) fn write_call_facts(tool_context: &ToolContext, path: &str) -> CallFacts {
    let changes = tool_input::write_facts(tool_context.resource_keys(path), path);
    CallFacts {
        probe: ProbeSupport::Supported,
        ..changes.with_subject(tool_context.write_subject(path))
    }
}

/// Probes whether an interrupted change of the file at `path` was made.
pub(crate) fn probe_change(
    tool_context: &ToolContext,
    context: &CallContext,
    path: &str,
) -> ProbeResult {
    match write_target::resolve_writable(tool_context.zones(), path) {
        Ok(resolved) => probe_intent(context, &tool_context.tool_state(&context.lane), &resolved),
        Err(_) => ProbeResult::Unknown {},
    }
}

fn probe_intent(context: &CallContext, state: &ToolState, resolved: &ResolvedPath) -> ProbeResult {
    let intent = state.read_note::<WriteIntent>(&intent_note(context.call));
    let Some(intent) = intent.filter(|intent| intent.key == *context.idempotency_key) else {
        return ProbeResult::Unknown {};
    };
    let Ok(now) = write_target::read_snapshot(resolved) else { return ProbeResult::Unknown {} };
    let now = now.map(|now| now.hash);
    match now {
        _ if intent.path != resolved.real_path() => ProbeResult::Unknown {},
        Some(now) if now == intent.after => {
            state.record_read(&resolved.real_path(), &now).unwrap_or_default();
            ProbeResult::Happened {
                text: format!("{} was written", resolved.display_path.display()).into(),
            }
        }
        now if now == intent.before => ProbeResult::DidNotHappen {},
        _ => ProbeResult::Unknown {},
    }
}

/// Returns the name of a call's intent. A round ends before the next one begins, so intents are
/// named by the position of the call in its reply.
fn intent_note(call: CallId) -> String {
    format!("changes/{}", call.index)
}
