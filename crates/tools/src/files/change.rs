//! Carrying out a change and being able to say afterwards, even after a crash, whether it was.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use windlass_core::facts::{Facts, Verify};
use windlass_core::ids::CallId;
use windlass_core::input::Finding;
use windlass_core::outcome::ToolError;
use windlass_runtime::ports::CallContext;

use super::place::Place;
use super::target::Before;
use super::{digest, replace, target};
use crate::desk::Desk;
use crate::input;
use crate::workplace::Workplace;

/// What a call is about to do, written down before it does.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Intent {
    key: String,
    path: PathBuf,
    before: Option<String>,
    after: String,
}

/// Puts `bytes` in place and remembers them as seen: who wrote a file knows what is in it.
pub(super) fn carry_out(
    context: &CallContext,
    desk: &Desk,
    place: &Place,
    before: Option<&Before>,
    bytes: &[u8],
) -> Result<(), ToolError> {
    let after = digest::of_bytes(bytes);
    let intent = Intent {
        key: context.idempotency_key.to_string(),
        path: place.real(),
        before: before.map(|before| before.hash.clone()),
        after: after.clone(),
    };
    // Without it a crash in the middle is put to a human, who can tell as well.
    desk.put(&note(context.call), &intent).unwrap_or_default();
    replace::replace(place, before, bytes)?;
    desk.note_seen(&place.real(), &after).unwrap_or_default();
    Ok(())
}

/// What is known of a call that changes the file at `path`.
pub(super) fn facts(workplace: &Workplace, path: &str) -> Facts {
    let changes = input::changes(workplace.keys(path), path);
    Facts { verify: Verify::CanTell, ..changes.about(workplace.changing(path)) }
}

/// What became of a change of the file at `path` that was interrupted.
pub(super) fn find_out(workplace: &Workplace, context: &CallContext, path: &str) -> Finding {
    match target::place(workplace.zones(), path) {
        Ok(place) => found(context, &workplace.desk(&context.lane), &place),
        Err(_) => Finding::Unknown {},
    }
}

fn found(context: &CallContext, desk: &Desk, place: &Place) -> Finding {
    let intent = desk.get::<Intent>(&note(context.call));
    let Some(intent) = intent.filter(|intent| intent.key == *context.idempotency_key) else {
        return Finding::Unknown {};
    };
    let Ok(now) = target::before(place) else { return Finding::Unknown {} };
    let now = now.map(|now| now.hash);
    match now {
        _ if intent.path != place.real() => Finding::Unknown {},
        Some(now) if now == intent.after => {
            desk.note_seen(&place.real(), &now).unwrap_or_default();
            Finding::Happened { text: format!("{} was written", place.shown.display()).into() }
        }
        now if now == intent.before => Finding::DidNotHappen {},
        _ => Finding::Unknown {},
    }
}

/// A round closes before the next one begins, so a place in a reply is a place for a note.
fn note(call: CallId) -> String {
    format!("changes/{}", call.index)
}
