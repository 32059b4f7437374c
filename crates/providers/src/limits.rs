//! Every bound of the adapters, by name.

/// Bytes of one server-sent event.
pub const EVENT_BYTES: usize = 16 << 20;

/// Bytes of one reply, all blocks together, streamed or not.
pub const REPLY_BYTES: usize = 64 << 20;

/// Bytes of an answer that are kept as they came, beside the log; of a longer one, its beginning.
pub const RAW_RESPONSE_BYTES: usize = 8 << 20;

/// Bytes of an error's body that are read.
pub const ERROR_BODY_BYTES: usize = 64 << 10;

/// Characters of a failure's message.
pub const MESSAGE_CHARS: u64 = 1_000;

/// Conversations whose encoded requests are kept.
pub const KEPT_ENCODINGS: usize = 4_096;

/// Bytes of encoded requests that are kept, all conversations together.
pub const KEPT_ENCODING_BYTES: usize = 256 << 20;

/// Connections that wait for their next request, all servers together.
pub const IDLE_CONNECTIONS: usize = 8_192;

/// How long a connection waits for its next request. Servers close theirs after a minute or more;
/// one that was closed is noticed and replaced.
pub const IDLE_CONNECTION_MS: u64 = 300_000;

/// Calls that wait at one limiter.
pub const WAITING_CALLS: usize = 100_000;

/// How long a call waits at the limiter before the run is told to come back later: a run that
/// waits longer is parked and costs nothing.
pub const LIMITER_WAIT_MS: u64 = 60_000;

/// The longest wait that is believed when a provider asks for one.
pub const BELIEVED_WAIT_MS: u64 = 3_600_000;

/// The largest count of tokens that is believed of a single call. No model has a window near it; a
/// larger figure is a mistake or an attack, and the call is counted by its bytes instead.
pub const BELIEVED_TOKENS: u64 = 1_000_000_000;

/// Blocks, items or calls of one reply that are being streamed at the same time.
pub const OPEN_BLOCKS: usize = 1_024;
