//! Models: Anthropic, OpenAI and everything that speaks like them, and the scripted model, which
//! answers offline from a text file.
//!
//! A provider's adapter turns a `Request` into its wire format and what comes back into a `Reply`
//! or a `Failure`. How HTTP faults are classed is the same for all of them and lives here.
//!
//! Not here: retries, back-off and fallbacks. Those are judgement, and judgement is in the core.

mod anthropic;
pub mod capabilities;
mod draft;
mod encodings;
mod fault;
mod faults;
mod foreign;
mod json;
pub mod limits;
mod lossless;
mod notice;
mod numbers;
mod options;
mod plan;
mod retry_after;
mod rope;
pub mod scripted;
mod secret;
pub mod sse;
mod wire;

#[cfg(test)]
mod capabilities_tests;
#[cfg(test)]
mod faults_tests;
#[cfg(test)]
mod retry_after_tests;
#[cfg(test)]
mod secret_tests;
#[cfg(test)]
mod sse_tests;

pub use notice::{Notice, notices};
pub use options::{CacheLife, Deadlines, Delivery, Effort, Options, Thinking, ToolChoice};
pub use secret::{Redactor, Secret};
