//! `cargo xtask tidy`: the house rules that plain text can show.
//!
//! What the compiler or clippy can check is theirs; here is only what they cannot see. A rule is
//! one file with one function from the tree to findings, and knows nothing of disk or git.

mod docs;
mod edges;
mod finding;
mod functions;
mod length;
mod names;
mod nesting;
mod purity;
mod rust;
mod spec;
mod tests_apart;
mod tree;
mod words;

#[cfg(test)]
mod docs_tests;
#[cfg(test)]
mod edges_tests;
#[cfg(test)]
mod functions_tests;
#[cfg(test)]
mod length_tests;
#[cfg(test)]
mod names_tests;
#[cfg(test)]
mod nesting_tests;
#[cfg(test)]
mod purity_tests;
#[cfg(test)]
mod rust_tests;
#[cfg(test)]
mod tests_apart_tests;
#[cfg(test)]
mod tidy_tests;
#[cfg(test)]
mod tree_tests;
#[cfg(test)]
mod words_tests;

use std::process::ExitCode;

use anyhow::{Result, bail};

use finding::Finding;
use spec::Ledger;
use tree::Tree;

/// A house rule: looks at the whole tree and says what is wrong.
type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: &[Rule] = &[
    edges::findings,
    purity::findings,
    length::findings,
    names::findings,
    words::findings,
    spec::findings,
    tests_apart::findings,
    docs::findings,
];

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Ok(if is_clean()? { ExitCode::SUCCESS } else { ExitCode::FAILURE }),
        ["--spec"] => list_spec(),
        other => bail!("`tidy {}`: the only option is --spec", other.join(" ")),
    }
}

/// Applies every rule to the repository, prints what they found, and tells whether it was nothing.
pub(crate) fn is_clean() -> Result<bool> {
    let tree = Tree::of_the_repository()?;
    let findings = all_findings(&tree);
    findings.iter().for_each(|finding| println!("{finding}"));
    println!("{}", Ledger::of(&tree).summary());
    println!("{}", closing_line(&findings));
    Ok(findings.is_empty())
}

fn list_spec() -> Result<ExitCode> {
    let ledger = Ledger::of(&Tree::of_the_repository()?);
    ledger.listing().iter().for_each(|line| println!("{line}"));
    println!("{}", ledger.summary());
    Ok(ExitCode::SUCCESS)
}

fn all_findings(tree: &Tree) -> Vec<Finding> {
    let mut findings: Vec<Finding> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    findings.sort();
    findings
}

fn closing_line(findings: &[Finding]) -> String {
    format!("tidy: {} rules, {} findings", RULES.len(), findings.len())
}
