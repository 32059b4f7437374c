//! The session in a real terminal: the binary in a pty, a terminal emulator, and expected screens.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../suite/test_home.rs"]
#[expect(dead_code, reason = "the other suite uses the rest")]
mod test_home;

mod pty_screen;

mod approvals;
mod background;
mod commands;
mod conversation;
mod durability;
mod editing;
mod performance;
mod random_keys;
mod window;
