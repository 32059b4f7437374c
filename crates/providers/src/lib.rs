//! Models. Today: the scripted model, which answers offline from a text file.
//!
//! A provider's adapter turns a `Request` into its wire format and what comes back into a `Reply`
//! or a `Failure`. How HTTP faults are classed is the same for all of them and lives here.
//!
//! Not here: retries, back-off and fallbacks. Those are judgement, and judgement is in the core.

mod faults;
mod retry_after;
pub mod scripted;

#[cfg(test)]
mod faults_tests;
#[cfg(test)]
mod retry_after_tests;
