//! The scripted server over real sockets: three wire formats, streaming and not, with their faults.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod client;
mod events;
mod test_server;

mod chat;
mod document;
mod faults;
mod http;
mod messages;
mod refusals;
mod responses;
