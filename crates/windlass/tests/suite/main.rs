//! The library from the outside: real driver, real stores, the scripted model.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod kit;

mod blocking;
mod calls;
mod children;
mod crash_recovery;
mod early_calls;
mod examples;
mod features;
mod fencing;
mod full_disk;
mod hooks;
mod leases;
mod live_text;
mod messages;
mod model_names;
mod panics;
mod queries;
mod reconcile;
mod recorded_rows;
mod reply_events;
mod retention;
mod rounds;
mod run_streams;
mod schemas;
mod session_changes;
mod sessions;
mod several_workers;
mod stopping;
mod tool_state;
mod tracing_events;
mod workers;
