//! The bounds of the server, so that no client costs it more than this.

/// The most connections at a time. When there are as many, the oldest on which nothing was asked
/// yet makes room; without one, further ones wait.
pub const MAX_CONNECTIONS: usize = 2_048;
/// The longest head of a request, in bytes; what arrived in one piece with its end may be longer.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;
/// The longest body of a request, in bytes: what the real services take.
pub const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;
/// The most bytes of bodies held at a time, over all connections; past it the server is
/// overloaded and says so.
pub const MAX_HELD_BYTES: usize = 512 * 1024 * 1024;
/// How much of a body that is too long is read and thrown away, so that the client gets to read
/// its refusal; past it the connection is closed.
pub const MAX_DISCARDED_BYTES: usize = 128 * 1024 * 1024;
/// How long a client may take over the head of a request, and how long a kept connection may lie
/// idle.
pub const HEAD_MS: u64 = 60 * 1_000;
/// How long a client may take over the body of a request.
pub const BODY_MS: u64 = 20 * 1_000;
/// How long `fail timeout` keeps silent before the connection is closed.
pub const SILENCE_MS: u64 = 10 * 60 * 1_000;
/// How often a stream of Anthropic's shows that it is alive during a `delay`.
pub const PING_MS: u64 = 10 * 1_000;
/// How long answers under way may take to finish once the server is asked to stop.
pub const STOP_MS: u64 = 1_000;
/// How long the server waits when the system has no socket to give.
pub const ACCEPT_RETRY_MS: u64 = 50;
/// The longest piece of a streamed text, in characters.
pub const MAX_PIECE_CHARS: usize = 24;
/// Events waiting for a client that reads slowly.
pub const MAX_QUEUED_EVENTS: usize = 16;
/// How much of a client's text a refusal quotes, in characters.
pub const MAX_QUOTED_CHARS: usize = 100;
