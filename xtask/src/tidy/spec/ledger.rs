//! Promises on one side, tests on the other.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::finding::Finding;
use crate::tidy::tree::Tree;

use super::citation::{Citation, citations};
use super::item::{Item, State, items};

/// What the repository promises, what its tests prove, and the lines that could not be read.
pub(in crate::tidy) struct Ledger {
    items: Vec<Item>,
    citations: Vec<Citation>,
    unreadable: Vec<Finding>,
}

impl Ledger {
    pub(in crate::tidy) fn of(tree: &Tree) -> Self {
        let mut unreadable = Vec::new();
        let items = readable(items(tree), &mut unreadable);
        let citations = readable(citations(tree), &mut unreadable);
        Self { items, citations, unreadable }
    }

    pub(in crate::tidy) fn findings(&self) -> Vec<Finding> {
        let mut findings = self.unreadable.clone();
        findings.extend(self.repeated());
        findings.extend(self.unproven());
        findings.extend(self.citations.iter().filter_map(|citation| self.unfounded(citation)));
        findings
    }

    pub(in crate::tidy) fn summary(&self) -> String {
        let all = self.items.len();
        let implemented = self.implemented().count();
        let proven = self.implemented().filter(|item| self.is_proven(item)).count();
        format!("spec: {implemented} of {all} items implemented, {proven} proven by tests")
    }

    /// One line for each item: its state and who names it.
    pub(in crate::tidy) fn listing(&self) -> Vec<String> {
        self.items.iter().map(|item| self.listed(item)).collect()
    }

    fn listed(&self, item: &Item) -> String {
        let mark = match item.state {
            State::Implemented => 'x',
            State::Promised => ' ',
        };
        let files: BTreeSet<_> = self.naming(item).map(|citation| citation.path.as_str()).collect();
        let files: Vec<_> = files.into_iter().collect();
        let named = if files.is_empty() { "no test".to_owned() } else { files.join(", ") };
        format!("[{mark}] {:12} {named}", item.id)
    }

    fn naming(&self, item: &Item) -> impl Iterator<Item = &Citation> {
        self.citations.iter().filter(|citation| citation.id == item.id)
    }

    fn is_proven(&self, item: &Item) -> bool {
        self.naming(item).next().is_some()
    }

    fn implemented(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.state == State::Implemented)
    }

    fn repeated(&self) -> Vec<Finding> {
        let mut first: BTreeMap<&str, &Item> = BTreeMap::new();
        let again = self.items.iter().filter_map(|item| {
            let earlier = *first.entry(&item.id).or_insert(item);
            (earlier != item).then(|| repeated(item, earlier))
        });
        again.collect()
    }

    fn unproven(&self) -> impl Iterator<Item = Finding> {
        let unproven = self.implemented().filter(|item| !self.is_proven(item));
        unproven.map(|Item { id, path, line, .. }| {
            let says =
                format!("{id} is implemented and no test names it: write `spec: {id}` on one");
            Finding::new(path, *line, says)
        })
    }

    /// Something is wrong when a test proves what nobody promised, or what is not marked as kept.
    fn unfounded(&self, Citation { id, path, line }: &Citation) -> Option<Finding> {
        let says = match self.items.iter().find(|item| item.id == *id) {
            None => format!("{id} is not in spec/: correct the id, or write the promise"),
            Some(item) if item.state == State::Promised => still_open(item),
            Some(_) => return None,
        };
        Some(Finding::new(path, *line, says))
    }
}

fn readable<T>(lines: Vec<Result<T, Finding>>, unreadable: &mut Vec<Finding>) -> Vec<T> {
    lines
        .into_iter()
        .filter_map(|line| line.map_err(|finding| unreadable.push(finding)).ok())
        .collect()
}

fn repeated(item: &Item, earlier: &Item) -> Finding {
    let says =
        format!("{} is already at {}:{}: ids are unique", item.id, earlier.path, earlier.line);
    Finding::new(&item.path, item.line, says)
}

fn still_open(Item { id, path, line, .. }: &Item) -> String {
    format!("{id} is still `[ ]` at {path}:{line}: mark it `[x]`, or do not name it yet")
}
