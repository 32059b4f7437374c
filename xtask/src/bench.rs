//! Benchmarks: one binary each in `bench/src/bin`.
//!
//! The list is read from the folder and the first line of each file's docs, so a new benchmark is
//! listed automatically.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;

use crate::{cargo, process, workspace};

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode> {
    match arguments.split_first() {
        Some((name, rest)) => process::run_all(&cargo::bench(name, rest)?),
        None => print_list(),
    }
}

fn print_list() -> Result<ExitCode> {
    println!("usage: cargo xtask bench NAME [ARGS]\n");
    for (name, does) in find_benches(&workspace::root()?.join("bench/src/bin")) {
        println!("  {name:12}  {does}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists name and first line of docs, by name.
pub(crate) fn find_benches(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut benches: Vec<_> = entries.filter_map(|entry| read_bench(&entry.path())).collect();
    benches.sort();
    benches
}

fn read_bench(path: &Path) -> Option<(String, String)> {
    let text = fs::read_to_string(main_file(path)?).ok()?;
    let name = path.file_stem()?.to_str()?;
    Some((name.to_owned(), first_line_of_docs(&text).to_owned()))
}

/// The main file of a benchmark: `bin/store.rs` or `bin/store/main.rs`, the two locations that
/// cargo knows.
fn main_file(path: &Path) -> Option<PathBuf> {
    if path.is_dir() {
        return Some(path.join("main.rs"));
    }
    let rust = path.extension().is_some_and(|extension| extension == "rs");
    rust.then(|| path.to_path_buf())
}

fn first_line_of_docs(text: &str) -> &str {
    let first = text.lines().next().unwrap_or_default();
    first.strip_prefix("//!").unwrap_or_default().trim()
}
