//! Makes it happen: ports to the world, and the driver that carries out what the core decides.
//!
//! Not here: judgement (that is `windlass-core`) and vendors (those are the adapters).

pub mod ports;
