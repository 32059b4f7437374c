//! Guards of the loop: loop detection and the completion gate.

pub mod completion_gate;
#[cfg(test)]
mod completion_gate_tests;
pub mod loop_detection;
#[cfg(test)]
mod loop_detection_tests;
