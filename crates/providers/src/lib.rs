//! Models: Anthropic, OpenAI and everything that speaks like them, and the scripted model, which
//! answers offline from a text file.
//!
//! A provider's adapter turns a `Request` into its wire format and what comes back into a `Reply`
//! or a `Failure`. How HTTP faults are classed is the same for all of them and lives here.
//!
//! Not here: retries, back-off and fallbacks. Those are judgement, and judgement is in the core.

mod anthropic;
mod asked;
mod base64;
pub mod capabilities;
mod content;
pub mod describe;
mod draft;
mod encoding;
mod encodings;
mod endpoint;
mod exchange;
mod fault;
mod faults;
mod few;
mod fields;
mod foreign;
mod heads;
mod http;
mod json;
mod lesson;
mod limiter;
pub mod limits;
mod lossless;
mod memory;
mod models;
pub mod names;
mod notice;
mod numbers;
mod openai;
mod openai_chat;
mod openai_responses;
mod options;
pub mod overrides;
mod plan;
pub mod prices;
mod race;
mod received;
mod refusal;
mod remote;
mod replay;
mod retry_after;
mod rfc3339;
mod rope;
pub mod scripted;
mod secret;
pub mod sse;
mod stops;
mod thinking;
mod watch;
mod wire;
mod wires;

#[cfg(test)]
mod base64_tests;
#[cfg(test)]
mod capabilities_tests;
#[cfg(test)]
mod describe_tests;
#[cfg(test)]
mod encodings_tests;
#[cfg(test)]
mod faults_tests;
#[cfg(test)]
mod lesson_tests;
#[cfg(test)]
mod names_tests;
#[cfg(test)]
mod retry_after_tests;
#[cfg(test)]
mod rope_tests;
#[cfg(test)]
mod secret_tests;
#[cfg(test)]
mod sse_tests;

pub use endpoint::{Endpoint, Shared};
pub use http::{BadProxy, Client, Connections, Proxies};
pub use limiter::{GateView, Limiter};
pub use models::{Models, Variables};
pub use notice::{Notice, notices};
pub use options::{Deadlines, Delivery, Options};
pub use remote::Remote;
pub use replay::{Recorded, replay};
pub use secret::{Redactor, Secret};
pub use windlass_core::settings::CacheLifetime;
