//! What the benches share.
pub mod trace;
