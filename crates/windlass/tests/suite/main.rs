//! The library from the outside: real driver, real stores, the scripted model.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod kit;

mod blocking;
mod calls;
mod children;
mod consuming;
mod crashing;
mod early_calls;
mod examples;
mod fencing;
mod full_disk;
mod hooking;
mod keeping;
mod leases;
mod live_text;
mod model_names;
mod panicking;
mod reconciling;
mod recording;
mod rounds;
mod schemas;
mod sharing;
mod stopping;
mod talking;
mod tracing_events;
mod workers;
mod working;
