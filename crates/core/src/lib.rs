//! What happens next: the judgement of an agent loop as three pure functions over plain data.
//!
//! ```text
//! decide(&Conversation, at, &Input) -> Vec<Record>    all judgement: rules, limits, tables
//! apply (&mut Conversation, &Record)                  all bookkeeping: no opinions
//! wanted(&Conversation)             -> Wanted         what should be in the air now
//! ```
//!
//! Not here: I/O, async, clocks, randomness, user-facing text. Time arrives inside inputs, pauses
//! are derived from ids, and nothing panics whatever the bytes.

pub mod apply;
pub mod audit;
pub mod block;
pub mod call;
pub mod conversation;
pub mod cut;
pub mod decide;
pub mod facts;
pub mod ids;
pub mod input;
pub mod jitter;
pub mod limits;
pub mod log;
pub mod mail;
pub mod order;
pub mod outcome;
pub mod policy;
pub mod project;
pub mod question;
pub mod raw;
pub mod record;
pub mod reply;
pub mod request;
pub mod run;
pub mod settings;
pub mod stop;
pub mod transcript;
pub mod wanted;
pub mod words;

pub use conversation::Conversation;
pub use decide::decide;
pub use input::Input;
pub use log::Entry;
pub use record::Record;
pub use wanted::wanted;
