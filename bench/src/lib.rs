//! Code shared by the benchmarks.
pub mod loop_traces;
