//! The library from the outside: real driver, real stores, the scripted model.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod kit;

mod blocking;
mod calls;
mod children;
mod crash_recovery;
mod early_calls;
mod examples;
mod fencing;
mod full_disk;
mod hooks;
mod leases;
mod live_text;
mod model_names;
mod panics;
mod reconcile;
mod recorded_rows;
mod retention;
mod rounds;
mod run_streams;
mod schemas;
mod sessions;
mod several_workers;
mod stopping;
mod tool_state;
mod tracing_events;
mod workers;
