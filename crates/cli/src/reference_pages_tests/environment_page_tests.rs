//! `docs/environment.md` against the variables that the sources name.

use std::collections::BTreeSet;
use std::path::Path;

use super::{quoted_names, read_page};

/// Variables that libraries read: the time zone, and the root certificates.
const READ_BY_LIBRARIES: [&str; 3] = ["TZ", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/// Texts of capital letters that no process reads at run time.
const NOT_READ: [&str; 1] = ["CARGO_PKG_VERSION"];

/// Variables of tests, which the last section of the page names in its text.
const OF_TESTS: [&str; 2] = ["WINDLASS_FAULT", "WINDLASS_BREAK"];

/// Returns the variables in the tables of the page.
fn variables_of_page() -> BTreeSet<String> {
    let page = read_page("environment.md");
    let first_cells = page.iter().flat_map(|section| &section.rows).map(|row| &row[0]);
    let names = first_cells.flat_map(|cell| quoted_names(cell));
    names.filter(|name| is_variable(name) || name.ends_with("_proxy")).collect()
}

fn is_variable(name: &str) -> bool {
    let fits =
        |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    name.len() > 1
        && name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.chars().all(fits)
}

/// Returns the texts of capital letters in the sources of the product and in its tables.
fn texts_of_sources() -> BTreeSet<String> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut texts = BTreeSet::new();
    for one in std::fs::read_dir(crates).unwrap() {
        collect_texts(&one.unwrap().path().join("src"), &mut texts);
    }
    texts
}

fn collect_texts(folder: &Path, texts: &mut BTreeSet<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_test = name.ends_with("_tests.rs") || name == "reference_pages_tests";
        if path.is_dir() && !is_test {
            collect_texts(&path, texts);
        } else if !is_test && (name.ends_with(".rs") || name == "providers.json") {
            let text = std::fs::read_to_string(&path).unwrap();
            // Each text between quotes, whether it is a string or what stands between two.
            let quoted = text.split('"').filter(|text| is_variable(text));
            texts.extend(quoted.map(str::to_owned));
        }
    }
}

#[test]
fn the_page_names_no_variable_that_is_not_read() {
    let texts = texts_of_sources();
    for name in variables_of_page() {
        let is_known = texts.contains(&name.to_uppercase()) || READ_BY_LIBRARIES.contains(&&*name);
        assert!(is_known, "{name} is on the page and nowhere in the sources");
    }
}

#[test]
fn the_page_names_every_variable() {
    let listed = variables_of_page();
    // With an underscore a text of capital letters is a variable; without one it may be anything.
    let variables = texts_of_sources().into_iter().filter(|text| text.contains('_'));
    for name in variables {
        let is_elsewhere = NOT_READ.contains(&&*name) || OF_TESTS.contains(&&*name);
        let is_family = name.ends_with('_');
        assert!(listed.contains(&name) || is_elsewhere || is_family, "{name} is not on the page");
    }
}
