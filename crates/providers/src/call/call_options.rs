//! Options of model calls beyond a conversation's settings.

use std::sync::Arc;

use windlass_core::settings::conversation_settings::CacheLifetime;

/// Options of model calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallOptions {
    /// The end user of the call, as an opaque name that the provider may see.
    pub user: Option<Arc<str>>,
    /// What is added to the name of this program in the `user-agent` header, in parentheses.
    pub client_comment: Option<Arc<str>>,
    /// How long the provider caches the prompt, where the settings do not say.
    pub cache: CacheLifetime,
    /// Whether the reply is streamed.
    pub delivery: ReplyDelivery,
    /// The deadlines of a call.
    pub deadlines: CallDeadlines,
}

/// Whether the reply is streamed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReplyDelivery {
    /// The reply is sent while the model produces it.
    #[default]
    Streamed,
    /// The reply is sent when it is complete.
    Whole,
}

/// The deadlines of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallDeadlines {
    /// The time limit for connecting, in milliseconds.
    pub connect_ms: u64,
    /// The longest time between two pieces of a reply, in milliseconds; pings do not count. Models
    /// may think for minutes without output.
    pub idle_ms: u64,
    /// The time limit for the whole call, in milliseconds.
    pub total_ms: u64,
}

impl Default for CallDeadlines {
    fn default() -> Self {
        Self { connect_ms: 10_000, idle_ms: 300_000, total_ms: 3_600_000 }
    }
}
