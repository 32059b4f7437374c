//! Code shared by the benchmarks.

pub mod discarding_stream;
pub mod loop_traces;
pub mod time_stats;
