//! Names of things. All of them are given from outside or counted; none is invented here, because
//! inventing needs randomness and the core has none.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

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
name_type!(
    /// One supervised execution: a UUID minted by whoever sent the prompt.
    RunId
);

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
