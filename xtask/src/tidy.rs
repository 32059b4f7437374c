//! `cargo xtask tidy`: rules of this repository that can be checked on plain text.
//!
//! Only what the compiler and clippy cannot check is here. A rule is one file with one function
//! from the tree to findings, and has no access to disk or git.

mod core_purity;
mod crate_docs;
mod crate_edges;
mod file_names;
mod finding;
mod forbidden_words;
mod function_sizes;
mod rust_lexer;
mod size_limits;
mod source_tree;
mod spec_citations;
mod test_files;
mod text_search;

#[cfg(test)]
mod core_purity_tests;
#[cfg(test)]
mod crate_docs_tests;
#[cfg(test)]
mod crate_edges_tests;
#[cfg(test)]
mod file_names_tests;
#[cfg(test)]
mod forbidden_words_tests;
#[cfg(test)]
mod function_sizes_tests;
#[cfg(test)]
mod rust_lexer_tests;
#[cfg(test)]
mod size_limits_tests;
#[cfg(test)]
mod source_tree_tests;
#[cfg(test)]
mod test_files_tests;
#[cfg(test)]
mod text_search_tests;
#[cfg(test)]
mod tidy_tests;

use std::process::ExitCode;

use anyhow::{Result, bail};

use finding::TidyFinding;
use source_tree::SourceTree;
use spec_citations::SpecLedger;

/// A rule: checks the whole tree and returns its findings.
type Rule = fn(&SourceTree) -> Vec<TidyFinding>;

const RULES: &[Rule] = &[
    crate_edges::findings,
    core_purity::findings,
    size_limits::findings,
    file_names::findings,
    forbidden_words::findings,
    spec_citations::findings,
    test_files::findings,
    crate_docs::findings,
];

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] => Ok(if is_clean()? { ExitCode::SUCCESS } else { ExitCode::FAILURE }),
        ["--spec"] => list_spec(),
        other => bail!("`tidy {}`: the only option is --spec", other.join(" ")),
    }
}

/// Applies every rule to the repository, prints the findings, and returns whether there were none.
pub(crate) fn is_clean() -> Result<bool> {
    let tree = SourceTree::from_git()?;
    let findings = all_findings(&tree);
    findings.iter().for_each(|finding| println!("{finding}"));
    println!("{}", SpecLedger::from_tree(&tree).summary());
    println!("{}", closing_line(&findings));
    Ok(findings.is_empty())
}

fn list_spec() -> Result<ExitCode> {
    let ledger = SpecLedger::from_tree(&SourceTree::from_git()?);
    ledger.listing().iter().for_each(|line| println!("{line}"));
    println!("{}", ledger.summary());
    Ok(ExitCode::SUCCESS)
}

fn all_findings(tree: &SourceTree) -> Vec<TidyFinding> {
    let mut findings: Vec<TidyFinding> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    findings.sort();
    findings
}

fn closing_line(findings: &[TidyFinding]) -> String {
    format!("tidy: {} rules, {} findings", RULES.len(), findings.len())
}
