//! The promises in `spec/` and the tests that prove them, held against each other.
//!
//! A promise kept without a test is a promise that can be broken unnoticed; a test that names a
//! promise not yet made, or not marked as kept, is news that somebody forgot to write down.

mod citation;
mod id;
mod item;
mod ledger;

#[cfg(test)]
mod citation_tests;
#[cfg(test)]
mod id_tests;
#[cfg(test)]
mod item_tests;
#[cfg(test)]
mod ledger_tests;

use super::finding::Finding;
use super::tree::Tree;

pub(super) use ledger::Ledger;

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    Ledger::of(tree).findings()
}
