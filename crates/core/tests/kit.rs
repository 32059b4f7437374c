//! A lane in a test: `Lane::new().prompt("hi").reply(text("hello")).ends(StopCause::EndTurn)`.
//!
//! When a lane goes out of scope, its whole log is checked: see `check`.

mod build;
mod check;
mod expect;
mod filling;
mod lane;
mod state;
mod tools;
mod view;

pub(crate) use build::{ReplyBuilder, call, calls, nothing, passing, say, text};
pub(crate) use check::is_acceptable;
pub(crate) use filling::{page, paid_only, small, summed_up};
pub(crate) use lane::{Lane, child_result};
pub(crate) use state::judgement_digest;
pub(crate) use tools::{facts_for, price, rule, settings};
pub(crate) use view::{digest, messages, tag, tags, versioned_tag};
