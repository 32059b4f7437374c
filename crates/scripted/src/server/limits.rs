//! The limits of the server, which bound what a client can cost it.

/// The most connections at a time. When the limit is reached, the oldest connection without a
/// request is closed; if there is none, further ones wait.
pub const MAX_CONNECTIONS: usize = 2_048;
/// The longest head of a request, in bytes; what arrived in one piece with its end may be longer.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;
/// The longest body of a request, in bytes: the limit of the real services.
pub const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;
/// The most bytes of bodies held at a time, over all connections; beyond it the server responds
/// that it is overloaded.
pub const MAX_HELD_BYTES: usize = 512 * 1024 * 1024;
/// How much of a body that is too long is read and discarded, so that the client can read its
/// rejection; beyond it the connection is closed.
pub const MAX_DISCARDED_BYTES: usize = 128 * 1024 * 1024;
/// How long a client may take over the head of a request, and how long a connection may be idle.
pub const HEAD_MS: u64 = 60 * 1_000;
/// How long a client may take over the body of a request.
pub const BODY_MS: u64 = 20 * 1_000;
/// How long `fail timeout` sends nothing before the connection is closed.
pub const SILENCE_MS: u64 = 10 * 60 * 1_000;
/// How often an Anthropic stream sends a ping during a `delay`.
pub const PING_MS: u64 = 10 * 1_000;
/// How long answers in progress may take to finish once the server is told to stop.
pub const STOP_MS: u64 = 1_000;
/// How long the server waits when the system has no socket left.
pub const ACCEPT_RETRY_MS: u64 = 50;
/// The longest piece of a streamed text, in characters.
pub const MAX_PIECE_CHARS: usize = 24;
/// Events waiting for a client that reads slowly.
pub const MAX_QUEUED_EVENTS: usize = 16;
/// How much of a client's text a rejection quotes, in characters.
pub const MAX_QUOTED_CHARS: usize = 100;
