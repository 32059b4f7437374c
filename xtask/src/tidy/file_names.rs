//! Checks that files are named after their content: no catch-all names, and no logic in a `mod.rs`.

use super::finding::TidyFinding;
use super::rust_lexer;
use super::source_tree::{SourceFile, SourceTree};
use super::text_search::{bracketed_length, find_words, leading_name, line_of};

/// Words without meaning, which fit any content.
const MEANINGLESS_NAMES: &[&str] = &["util", "utils", "helper", "helpers", "manager", "managers"];

pub(super) fn findings(tree: &SourceTree) -> Vec<TidyFinding> {
    tree.rust_files().flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<TidyFinding> {
    let code = rust_lexer::code_only(&file.text);
    let mut findings = check_inline_modules(file, &code);
    findings.extend(check_path_name(file));
    findings.extend(check_mod_rs(file, &code));
    findings
}

fn check_path_name(file: &SourceFile) -> Option<TidyFinding> {
    let name = file.folders().chain([file.stem()]).find(|name| is_meaningless(name))?;
    Some(TidyFinding::new(&file.path, 1, meaningless_name_message(name)))
}

fn check_inline_modules(file: &SourceFile, code: &str) -> Vec<TidyFinding> {
    let modules = find_words(code, "mod").filter_map(|at| {
        let name = leading_name(code.get(at..)?.strip_prefix("mod ")?);
        is_meaningless(name).then(|| {
            TidyFinding::new(&file.path, line_of(code, at), meaningless_name_message(name))
        })
    });
    modules.collect()
}

fn is_meaningless(name: &str) -> bool {
    name.split('_').any(|word| MEANINGLESS_NAMES.contains(&word))
}

fn meaningless_name_message(name: &str) -> String {
    format!("`{name}` says nothing about what is inside: name it after the thing it knows")
}

/// Checks that a `mod.rs` only declares and re-exports; anything else should have a file with a
/// name.
fn check_mod_rs(file: &SourceFile, code: &str) -> Option<TidyFinding> {
    if file.stem() != "mod" {
        return None;
    }
    let says = "logic in a mod.rs: move it to a file with a name of its own";
    first_item_with_logic(code).map(|line| TidyFinding::new(&file.path, line, says))
}

fn first_item_with_logic(code: &str) -> Option<usize> {
    let items = without_attributes(code);
    let mut offset = 0;
    for item in items.split_inclusive(';') {
        if !only_declares(item) {
            let start = offset + (item.len() - item.trim_start().len());
            return Some(line_of(&items, start));
        }
        offset += item.len();
    }
    None
}

/// Returns whether an item is `mod x;`, `use x::{y, z};`, either with a visibility, or empty.
fn only_declares(item: &str) -> bool {
    let item = without_visibility(item.trim());
    let module = item.starts_with("mod ") && !item.contains('{');
    item.is_empty() || module || item.starts_with("use ")
}

fn without_visibility(item: &str) -> &str {
    let Some(rest) = item.strip_prefix("pub") else {
        return item;
    };
    let scope = bracketed_length(rest, '(', ')').filter(|_| rest.starts_with('('));
    rest.get(scope.unwrap_or_default()..).unwrap_or_default().trim_start()
}

/// The code with every `#[…]` and `#![…]` replaced by spaces, at the same length.
fn without_attributes(code: &str) -> String {
    let mut kept = code.to_owned();
    while let Some((start, length)) = first_attribute(&kept) {
        let attribute = kept.get(start..start + length).unwrap_or_default();
        let blanks: String = attribute.chars().map(|c| if c == '\n' { c } else { ' ' }).collect();
        kept.replace_range(start..start + length, &blanks);
    }
    kept
}

fn first_attribute(code: &str) -> Option<(usize, usize)> {
    let start = code.find("#[").into_iter().chain(code.find("#![")).min()?;
    let bracket = start + code.get(start..)?.find('[')?;
    let inside = bracketed_length(code.get(bracket..)?, '[', ']')?;
    Some((start, bracket - start + inside))
}
