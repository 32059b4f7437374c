//! Checks the promises in `spec/` against the tests that prove them.
//!
//! A promise without a test can be broken unnoticed; a test for a promise that is missing or not
//! marked as kept is reported.

mod citation;
mod item_id;
mod spec_item;
mod spec_ledger;

#[cfg(test)]
mod citation_tests;
#[cfg(test)]
mod item_id_tests;
#[cfg(test)]
mod spec_item_tests;
#[cfg(test)]
mod spec_ledger_tests;

use super::finding::TidyFinding;
use super::source_tree::SourceTree;

pub(super) use spec_ledger::SpecLedger;

pub(super) fn findings(tree: &SourceTree) -> Vec<TidyFinding> {
    SpecLedger::from_tree(tree).findings()
}
