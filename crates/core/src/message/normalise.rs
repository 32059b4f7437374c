//! Normalises foreign histories: messages from files, other tools and SDK transcripts become a
//! transcript that the API accepts, and every change is reported.
//!
//! Not here: reading files, and deciding whether a history may be used at all.

mod call_pairing;
mod message_reader;
mod repair;

pub use repair::HistoryRepair;

use crate::message::transcript::Transcript;

/// Maximum bytes of one history. Larger ones are split before they are imported.
pub const MAX_HISTORY_BYTES: usize = 64 * 1024 * 1024;

/// Maximum nesting depth of a history's JSON.
pub const MAX_HISTORY_DEPTH: usize = 128;

/// A normalised history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NormalisedHistory {
    /// The transcript that the model will see.
    pub transcript: Transcript,
    /// The changes that were made, in the order of the messages.
    pub repairs: Vec<HistoryRepair>,
}

/// Why a history cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is not JSON.
    #[error("the history is not JSON ({reason}); give it as one JSON array of messages")]
    NotJson {
        /// The message of the parser.
        reason: String,
    },
    /// The JSON is not an array.
    #[error("the history is not a JSON array; give it as one JSON array of messages")]
    NotAnArray,
    /// The JSON is nested too deeply.
    #[error(
        "the history is nested more than {limit} levels deep; flatten or remove the deepest parts"
    )]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// The history is too large.
    #[error(
        "the history has {bytes} bytes, more than the limit of {limit}; import it in parts, the newest last"
    )]
    TooLarge {
        /// Size of the history.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
}

/// Normalises a history.
///
/// `history` is a JSON array of messages in the format of the Messages API. Whatever it contains,
/// the transcript passes the request check; every change is listed in the repairs.
pub fn normalise(history: &str) -> Result<NormalisedHistory, Error> {
    if history.len() > MAX_HISTORY_BYTES {
        return Err(Error::TooLarge { bytes: history.len(), limit: MAX_HISTORY_BYTES });
    }
    if message_reader::is_deeper_than(history, MAX_HISTORY_DEPTH) {
        return Err(Error::TooDeep { limit: MAX_HISTORY_DEPTH });
    }
    let mut repairs = Vec::new();
    let turns = message_reader::read_turns(history, &mut repairs)?;
    let transcript = call_pairing::pair_calls(turns, &mut repairs);
    repairs.sort_by_key(HistoryRepair::message_index);
    Ok(NormalisedHistory { transcript, repairs })
}
