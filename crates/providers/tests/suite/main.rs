//! Every adapter, on recorded streams and over real sockets. All of it offline: whatever answers
//! is a listener of the test itself.

mod adapter;
mod append_only;
mod bad_input;
mod conformance;
mod connections;
mod fuzz;
mod heard;
mod rich;
mod scenarios;
mod server;
mod settings;
mod waiting;
