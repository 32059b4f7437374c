//! Compares promises with the tests that prove them.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::finding::TidyFinding;
use crate::tidy::source_tree::SourceTree;

use super::citation::{SpecCitation, find_citations};
use super::spec_item::{ItemState, SpecItem, find_items};

/// The promises of the repository, the citations of its tests, and the lines that could not be
/// parsed.
pub(in crate::tidy) struct SpecLedger {
    items: Vec<SpecItem>,
    citations: Vec<SpecCitation>,
    unreadable: Vec<TidyFinding>,
}

impl SpecLedger {
    pub(in crate::tidy) fn from_tree(tree: &SourceTree) -> Self {
        let mut unreadable = Vec::new();
        let items = split_readable(find_items(tree), &mut unreadable);
        let citations = split_readable(find_citations(tree), &mut unreadable);
        Self { items, citations, unreadable }
    }

    pub(in crate::tidy) fn findings(&self) -> Vec<TidyFinding> {
        let mut findings = self.unreadable.clone();
        findings.extend(self.find_repeated());
        findings.extend(self.find_unproven());
        findings.extend(self.citations.iter().filter_map(|citation| self.check_citation(citation)));
        findings
    }

    pub(in crate::tidy) fn summary(&self) -> String {
        let all = self.items.len();
        let implemented = self.implemented_items().count();
        let proven = self.implemented_items().filter(|item| self.is_proven(item)).count();
        format!("spec: {implemented} of {all} items implemented, {proven} proven by tests")
    }

    /// One line for each promise: its state and the citations of it.
    pub(in crate::tidy) fn listing(&self) -> Vec<String> {
        self.items.iter().map(|item| self.list_line(item)).collect()
    }

    fn list_line(&self, item: &SpecItem) -> String {
        let mark = match item.state {
            ItemState::Implemented => 'x',
            ItemState::Promised => ' ',
        };
        let files: BTreeSet<_> =
            self.citations_of(item).map(|citation| citation.path.as_str()).collect();
        let files: Vec<_> = files.into_iter().collect();
        let named = if files.is_empty() { "no test".to_owned() } else { files.join(", ") };
        format!("[{mark}] {:12} {named}", item.id)
    }

    fn citations_of(&self, item: &SpecItem) -> impl Iterator<Item = &SpecCitation> {
        self.citations.iter().filter(|citation| citation.id == item.id)
    }

    fn is_proven(&self, item: &SpecItem) -> bool {
        self.citations_of(item).next().is_some()
    }

    fn implemented_items(&self) -> impl Iterator<Item = &SpecItem> {
        self.items.iter().filter(|item| item.state == ItemState::Implemented)
    }

    fn find_repeated(&self) -> Vec<TidyFinding> {
        let mut first: BTreeMap<&str, &SpecItem> = BTreeMap::new();
        let again = self.items.iter().filter_map(|item| {
            let earlier = *first.entry(&item.id).or_insert(item);
            (earlier != item).then(|| repeated_finding(item, earlier))
        });
        again.collect()
    }

    fn find_unproven(&self) -> impl Iterator<Item = TidyFinding> {
        let unproven = self.implemented_items().filter(|item| !self.is_proven(item));
        unproven.map(|SpecItem { id, path, line, .. }| {
            let says =
                format!("{id} is implemented and no test names it: write `spec: {id}` on one");
            TidyFinding::new(path, *line, says)
        })
    }

    /// Checks a citation: a test that cites an unknown or open item is a finding.
    fn check_citation(
        &self,
        SpecCitation { id, path, line }: &SpecCitation,
    ) -> Option<TidyFinding> {
        let says = match self.items.iter().find(|item| item.id == *id) {
            None => format!("{id} is not in spec/: correct the id, or write the promise"),
            Some(item) if item.state == ItemState::Promised => open_item_message(item),
            Some(_) => return None,
        };
        Some(TidyFinding::new(path, *line, says))
    }
}

fn split_readable<T>(
    lines: Vec<Result<T, TidyFinding>>,
    unreadable: &mut Vec<TidyFinding>,
) -> Vec<T> {
    lines
        .into_iter()
        .filter_map(|line| line.map_err(|finding| unreadable.push(finding)).ok())
        .collect()
}

fn repeated_finding(item: &SpecItem, earlier: &SpecItem) -> TidyFinding {
    let says =
        format!("{} is already at {}:{}: ids are unique", item.id, earlier.path, earlier.line);
    TidyFinding::new(&item.path, item.line, says)
}

fn open_item_message(SpecItem { id, path, line, .. }: &SpecItem) -> String {
    format!("{id} is still `[ ]` at {path}:{line}: mark it `[x]`, or do not name it yet")
}
