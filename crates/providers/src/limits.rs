//! The limits of the adapters.

/// The largest number of bytes of one server-sent event.
pub const MAX_EVENT_BYTES: usize = 16 << 20;

/// The largest number of bytes of one reply, all blocks together, streamed or not.
pub const MAX_REPLY_BYTES: usize = 64 << 20;

/// The number of bytes of a raw response that are kept, beside the log; of a longer one, its
/// beginning.
pub const MAX_RAW_RESPONSE_BYTES: usize = 8 << 20;

/// The number of bytes of an error body that are read.
pub const MAX_ERROR_BODY_BYTES: usize = 64 << 10;

/// The largest number of characters of a failure's message.
pub const MAX_MESSAGE_CHARS: u64 = 1_000;

/// The number of conversations whose encoded requests are cached.
pub const MAX_CACHED_CONVERSATIONS: usize = 4_096;

/// The number of bytes of encoded requests that are cached, all conversations together.
pub const MAX_CACHED_BODY_BYTES: usize = 256 << 20;

/// The largest number of idle connections, all servers together.
pub const MAX_IDLE_CONNECTIONS: usize = 8_192;

/// How long a connection may be idle, in milliseconds. Servers close theirs after a minute or more;
/// one that was closed is noticed and replaced.
pub const MAX_IDLE_CONNECTION_MS: u64 = 300_000;

/// The largest number of calls in the queue of one rate limit gate.
pub const MAX_QUEUED_CALLS: usize = 100_000;

/// How long a call waits at the rate limiter before the run is told to retry later, in
/// milliseconds: a run that waits longer is parked and costs nothing.
pub const MAX_LIMITER_WAIT_MS: u64 = 60_000;

/// The longest wait that is accepted when a provider asks for one, in milliseconds.
pub const MAX_RETRY_AFTER_MS: u64 = 3_600_000;

/// The largest number of tokens that is plausible for a single call. No model has a window near it;
/// a larger figure is a mistake or an attack, and the call is estimated by its bytes instead.
pub const MAX_PLAUSIBLE_TOKENS: u64 = 1_000_000_000;

/// The largest number of blocks, items or calls of one reply that are streamed at the same time.
pub const MAX_OPEN_BLOCKS: usize = 1_024;
