//! The folder a conversation's commands begin in.
//!
//! Every call is a shell of its own; what lasts is the folder in which the last one ended. It lasts
//! from the next reply on: calls of one reply are judged before the first of them runs, so all of
//! them begin where they were judged to begin.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_core::ids::AskId;

use crate::desk::Desk;
use crate::files::Zones;

/// Where commands begin.
#[derive(Debug, Serialize, Deserialize)]
struct Moved {
    /// The reply whose call moved.
    ask: AskId,
    /// Where calls of later replies begin.
    to: PathBuf,
    /// Where the others of its own still do.
    from: PathBuf,
}

const NOTE: &str = "folder";

/// Where a call of the reply that is being judged begins.
pub(super) fn now(desk: &Desk, zones: &Zones) -> PathBuf {
    of_reply(desk, zones, AskId::MAX)
}

/// Where a call of this reply begins. A folder that is gone by now, or no longer ours to work in,
/// is the workspace.
pub(super) fn of_reply(desk: &Desk, zones: &Zones, ask: AskId) -> PathBuf {
    let folder = desk.get::<Moved>(NOTE).map(|moved| match moved.ask < ask {
        true => moved.to,
        false => moved.from,
    });
    folder.filter(|folder| is_ours(folder, zones)).unwrap_or_else(|| zones.root().to_owned())
}

/// Where a command went.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Went {
    /// It stayed, or did not say.
    Nowhere,
    /// To another folder of the session.
    To(PathBuf),
    /// Out of it: the next one begins in the workspace.
    Away(PathBuf),
}

/// A file for a shell to write its folder to, with nothing in it yet.
pub(super) fn slate(desk: &Desk) -> Option<PathBuf> {
    let path = desk.path("ended-in").ok()?;
    // What a command that was cut off wrote there is not this one's.
    fs::remove_file(&path).unwrap_or_default();
    Some(path)
}

/// Reads where a command ended, and remembers it.
pub(super) fn remember(
    desk: &Desk,
    zones: &Zones,
    ask: AskId,
    said: Option<&Path>,
    from: &Path,
) -> Went {
    let said = said.and_then(read);
    let went = match said {
        Some(to) if to == from => Went::Nowhere,
        Some(to) if is_ours(&to, zones) => Went::To(to),
        Some(to) => Went::Away(to),
        None => Went::Nowhere,
    };
    let to = match &went {
        Went::Nowhere => return went,
        Went::To(folder) => folder.clone(),
        Went::Away(_) => zones.root().to_owned(),
    };
    // Without the note the next command begins where this one did.
    desk.put(NOTE, &Moved { ask, to, from: from.to_owned() }).unwrap_or_default();
    went
}

/// The folder a shell wrote down, once.
fn read(file: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(file).ok()?;
    fs::remove_file(file).unwrap_or_default();
    let folder = PathBuf::from(text.strip_suffix('\n')?);
    folder.is_absolute().then_some(folder)
}

fn is_ours(folder: &Path, zones: &Zones) -> bool {
    let real = folder.canonicalize().ok();
    real.is_some_and(|real| real == folder && real.is_dir() && zones.root_of(&real).is_some())
}
