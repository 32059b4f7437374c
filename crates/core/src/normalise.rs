//! Foreign histories made fit for the model: messages from files, other tools and SDK transcripts
//! become a transcript the API accepts, and every change is told.
//!
//! Not here: reading files, and deciding whether a history may be used at all.

mod pairing;
mod reading;
mod repair;

pub use repair::Repair;

use crate::transcript::Transcript;

/// Bytes of one history. Larger ones are split before they are imported.
pub const MOST_BYTES: usize = 64 * 1024 * 1024;

/// How deeply a history's JSON may be nested.
pub const MOST_DEPTH: usize = 128;

/// A history that was made fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Normalised {
    /// What the model will see.
    pub transcript: Transcript,
    /// What was changed on the way, in the order of the messages.
    pub repairs: Vec<Repair>,
}

/// Why a history cannot be used at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It is not JSON.
    #[error("the history is not JSON ({reason}); give it as one JSON array of messages")]
    NotJson {
        /// What the parser said.
        reason: String,
    },
    /// It is JSON of another shape.
    #[error("the history is not a JSON array; give it as one JSON array of messages")]
    NotAnArray,
    /// It is nested too deeply.
    #[error("the history is nested more than {limit} levels deep; flatten or drop what is so deep")]
    TooDeep {
        /// The bound.
        limit: usize,
    },
    /// It is too large.
    #[error(
        "the history has {bytes} bytes, more than {limit}; import it in parts, the newest last"
    )]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
}

/// Makes a history fit.
///
/// `history` is a JSON array of messages in the shape of the Messages API. Whatever stands in it,
/// the transcript passes the audit; what could not stay as it was is in the repairs.
pub fn normalise(history: &str) -> Result<Normalised, Error> {
    if history.len() > MOST_BYTES {
        return Err(Error::TooLarge { bytes: history.len(), limit: MOST_BYTES });
    }
    if reading::is_deeper_than(history, MOST_DEPTH) {
        return Err(Error::TooDeep { limit: MOST_DEPTH });
    }
    let mut repairs = Vec::new();
    let turns = reading::turns(history, &mut repairs)?;
    let transcript = pairing::paired(turns, &mut repairs);
    repairs.sort_by_key(Repair::at);
    Ok(Normalised { transcript, repairs })
}
