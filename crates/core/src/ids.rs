//! Names of things. All of them are given from outside or counted; none is invented here, because
//! inventing needs randomness and the core has none.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::raw::sha256_hex;

/// Milliseconds since the Unix epoch, as stamped on an input by whoever delivered it.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Millis(pub u64);

impl Millis {
    /// This moment, `ms` later. Saturates: absurd numbers stay numbers.
    #[must_use]
    pub fn plus(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// How long ago `earlier` was; zero if the clock went backwards.
    #[must_use]
    pub fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Position of an entry in a lane's log, counted from 1.
pub type Seq = u64;

/// How often a lane has changed owner: the fence.
pub type Epoch = u64;

/// Ordinal of a model call within its conversation. Never reused, also not by a retry.
pub type AskId = u32;

/// Ordinal of a question to a human within its conversation.
pub type QuestionId = u32;

/// Ordinal of a mail within its lane, given by the store.
pub type MailId = u64;

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Arc<str>);

        impl $name {
            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(Arc::from(text))
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(Arc::from(text))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name_type!(
    /// The key a conversation runs under; one owner at a time.
    LaneId
);
/// What names of conversations begin with that nobody chose.
const KIND: &str = "conversation:";

impl LaneId {
    /// The id by which programs know the conversation: its name without what says that it is one.
    #[must_use]
    pub fn session_id(&self) -> &str {
        self.0.strip_prefix(KIND).unwrap_or(&self.0)
    }
}

name_type!(
    /// One supervised execution: a UUID minted by whoever sent the prompt.
    RunId
);

impl RunId {
    /// The UUID (version 8) that follows from a name: the same name gives the same run wherever and
    /// however often it is asked for.
    #[must_use]
    pub fn derived(name: &str) -> Self {
        let hex = sha256_hex(name.as_bytes());
        let part = |from: usize, upto: usize| hex.get(from..upto).unwrap_or_default();
        // Version and variant take the place of what the hash says there (RFC 9562).
        let variant = match part(16, 17) {
            "0" | "4" | "8" | "c" => '8',
            "1" | "5" | "9" | "d" => '9',
            "2" | "6" | "a" | "e" => 'a',
            _ => 'b',
        };
        let (low, mid, high) = (part(0, 8), part(8, 12), part(13, 16));
        let (clock, node) = (part(17, 20), part(20, 32));
        Self::from(format!("{low}-{mid}-8{high}-{variant}{clock}-{node}"))
    }

    /// Whether it is a UUID in its usual spelling, as the tables that name runs require it.
    #[must_use]
    pub fn is_uuid(&self) -> bool {
        let place = |(at, byte): (usize, u8)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        };
        self.0.len() == 36 && self.0.bytes().enumerate().all(place)
    }
}

/// Identity of a tool call: the model call that made it and the place of its block in that reply.
///
/// The provider's own id is an attribute, echoed verbatim and not trusted to be unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallId {
    /// Which model call.
    pub ask: AskId,
    /// Which content block of its reply.
    pub index: u16,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.ask, self.index)
    }
}

#[cfg(test)]
#[path = "ids_tests.rs"]
mod ids_tests;
