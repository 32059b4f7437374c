//! Who may run what: rules as people write them, the mode, and the order in which they are heard.
//!
//! Rules are for people; they see what the edge found out about a call and nothing else. What cannot
//! be taken apart is never allowed by a rule.

pub mod bounded;
pub mod glob;
mod grant;
mod harmless;
mod harmless_git;
mod hazard;
pub mod judge;
mod mention;
pub mod mode;
mod options;
mod program_text;
pub mod readonly;
pub mod rule;
pub mod scope;
mod script;
pub mod subject;
pub mod suggest;
pub mod verdict;

#[cfg(test)]
mod glob_tests;
#[cfg(test)]
mod judge_tests;
#[cfg(test)]
mod mode_tests;
#[cfg(test)]
mod readonly_tests;
#[cfg(test)]
mod rule_tests;
#[cfg(test)]
mod scope_tests;
#[cfg(test)]
mod verdict_tests;

pub use bounded::MAX_RULES;
pub use grant::Grant;
pub use hazard::has_harmless_options;
pub use judge::{Asked, Effect, Permissions, Ruling};
pub use mode::{Mode, Rights, RootRefused};
pub use program_text::{reads_programs, runs_no_words, shows_what_it_runs};
pub use readonly::{Depth, ReadOnlyUse, is_read_only, read_only_use};
pub use rule::{BadRule, Rule};
pub use scope::Places;
pub use subject::{Access, PathUse, Scan, Seen, Shell, SimpleCommand, Subject, Zone};
pub use suggest::suggest;
pub use verdict::{Human, Lean, Otherwise, Verdict};
