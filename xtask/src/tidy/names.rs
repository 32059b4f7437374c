//! Files say what they hold: no drawer for everything, and nothing hidden in a `mod.rs`.

use super::finding::Finding;
use super::nesting::{bracketed, leading_name, line_of, whole_words};
use super::rust;
use super::tree::{File, Tree};

/// Words that say nothing, so everything fits.
const EMPTY: &[&str] = &["util", "utils", "helper", "helpers", "manager", "managers"];

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    tree.rust_files().flat_map(of_file).collect()
}

fn of_file(file: &File) -> Vec<Finding> {
    let code = rust::code(&file.text);
    let mut findings = inline_modules(file, &code);
    findings.extend(path_name(file));
    findings.extend(logic_in_mod_rs(file, &code));
    findings
}

fn path_name(file: &File) -> Option<Finding> {
    let name = file.folders().chain([file.stem()]).find(|name| is_empty(name))?;
    Some(Finding::new(&file.path, 1, drawer(name)))
}

fn inline_modules(file: &File, code: &str) -> Vec<Finding> {
    let modules = whole_words(code, "mod").filter_map(|at| {
        let name = leading_name(code.get(at..)?.strip_prefix("mod ")?);
        is_empty(name).then(|| Finding::new(&file.path, line_of(code, at), drawer(name)))
    });
    modules.collect()
}

fn is_empty(name: &str) -> bool {
    name.split('_').any(|word| EMPTY.contains(&word))
}

fn drawer(name: &str) -> String {
    format!("`{name}` says nothing about what is inside: name it after the thing it knows")
}

/// A `mod.rs` declares and re-exports; whatever else stands there should have a name.
fn logic_in_mod_rs(file: &File, code: &str) -> Option<Finding> {
    if file.stem() != "mod" {
        return None;
    }
    let says = "logic in a mod.rs: move it to a file with a name of its own";
    first_item_with_logic(code).map(|line| Finding::new(&file.path, line, says))
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

/// `mod x;`, `use x::{y, z};`, either with a visibility, or nothing.
fn only_declares(item: &str) -> bool {
    let item = without_visibility(item.trim());
    let module = item.starts_with("mod ") && !item.contains('{');
    item.is_empty() || module || item.starts_with("use ")
}

fn without_visibility(item: &str) -> &str {
    let Some(rest) = item.strip_prefix("pub") else {
        return item;
    };
    let scope = bracketed(rest, '(', ')').filter(|_| rest.starts_with('('));
    rest.get(scope.unwrap_or_default()..).unwrap_or_default().trim_start()
}

/// The same length, with every `#[…]` and `#![…]` turned into spaces.
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
    let inside = bracketed(code.get(bracket..)?, '[', ']')?;
    Some((start, bracket - start + inside))
}
