//! Ids. All of them are given from outside or counted; none is generated here, because that needs
//! randomness and the core has none.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::message::raw_json::sha256_hex;

/// Milliseconds since the Unix epoch, stamped on an input by the driver.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct UnixMillis(pub u64);

impl UnixMillis {
    /// Milliseconds of a day.
    pub(crate) const DAY_MS: u64 = 86_400_000;

    /// Returns the time `ms` later. Saturates: absurd numbers stay numbers.
    #[must_use]
    pub fn plus_ms(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }

    /// Returns the milliseconds since `earlier`; zero if the clock went backwards.
    #[must_use]
    pub fn ms_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// Sequence number of an entry in a lane's log, counted from 1.
pub type Seq = u64;

/// How often a lane has changed owner: the fencing token.
pub type Epoch = u64;

/// Ordinal of a model call within its conversation. Never reused, also not by a retry.
pub type ModelCallId = u32;

/// Ordinal of a question to a human within its conversation.
pub type QuestionId = u32;

/// Ordinal of an inbox message within its lane, given by the store.
pub type InboxMessageId = u64;

macro_rules! name_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Arc<str>);

        impl $name {
            /// Returns the id as text.
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
    /// The key a conversation runs under; it has one owner at a time.
    LaneId
);
/// Prefix of generated conversation names.
const CONVERSATION_PREFIX: &str = "conversation:";

impl LaneId {
    /// Returns the id by which programs know the conversation: its name without the prefix.
    #[must_use]
    pub fn session_id(&self) -> &str {
        self.0.strip_prefix(CONVERSATION_PREFIX).unwrap_or(&self.0)
    }
}

name_type!(
    /// A run: a UUID chosen by the sender of the prompt.
    RunId
);

impl RunId {
    /// Returns the UUID (version 8) that is derived from a name: the same name always gives the
    /// same run.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        let hex = sha256_hex(name.as_bytes());
        let part = |from: usize, upto: usize| hex.get(from..upto).unwrap_or_default();
        // Version and variant replace the bits of the hash (RFC 9562).
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

    /// Returns whether the id is a UUID in its usual spelling, as the tables of runs require it.
    #[must_use]
    pub fn is_uuid(&self) -> bool {
        let place = |(at, byte): (usize, u8)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
        };
        self.0.len() == 36 && self.0.bytes().enumerate().all(place)
    }
}

/// Id of a tool call: the model call that made it and the index of its block in that reply.
///
/// The provider's own id is an attribute, echoed verbatim and not trusted to be unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CallId {
    /// The model call.
    pub model_call: ModelCallId,
    /// Index of the content block in its reply.
    pub index: u16,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.model_call, self.index)
    }
}

#[cfg(test)]
#[path = "ids_tests.rs"]
mod ids_tests;
