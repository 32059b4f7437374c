//! Code shared by the benchmarks.

pub mod bare_loop;
pub mod child_process;
pub mod discarding_stream;
pub mod loop_traces;
pub mod model_server;
pub mod read_job;
pub mod reqwest_loop;
pub mod time_stats;
