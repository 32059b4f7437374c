//! Compares the reference pages of `docs/` with the code: what a page lists exists, with the default
//! it states, and everything that exists is listed.

mod configuration_page_tests;
mod environment_page_tests;
mod tools_page_tests;

use std::collections::BTreeSet;
use std::path::Path;

/// A section of a page: its heading, and what stands below it up to the next heading.
struct PageSection {
    heading: String,
    /// The rows of its tables, without headers.
    rows: Vec<Vec<String>>,
    /// The text of its `json` blocks.
    examples: Vec<String>,
}

impl PageSection {
    /// Returns the names in the first column.
    fn names(&self) -> BTreeSet<String> {
        self.rows.iter().filter_map(|row| row.first()).flat_map(|cell| quoted_names(cell)).collect()
    }
}

/// Reads a page of `docs/` and splits it into sections.
fn read_page(name: &str) -> Vec<PageSection> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let mut sections: Vec<PageSection> = Vec::new();
    let mut block: Option<String> = None;
    for line in text.lines() {
        match (&mut block, line.strip_prefix("```"), sections.last_mut()) {
            (Some(_), Some(_), section) => {
                let text = block.take().unwrap_or_default();
                if let Some((section, example)) = section.zip(text.strip_prefix("json\n")) {
                    section.examples.push(example.to_owned());
                }
            }
            (Some(text), None, _) => text.extend([line, "\n"]),
            (None, Some(language), _) => block = Some(format!("{language}\n")),
            (None, None, _) if line.starts_with('#') => sections.push(PageSection {
                heading: line.trim_start_matches('#').trim().to_owned(),
                rows: Vec::new(),
                examples: Vec::new(),
            }),
            (None, None, Some(section)) if line.starts_with('|') => {
                section.rows.push(split_row(line));
            }
            (None, None, _) => {}
        }
    }
    sections.iter_mut().for_each(remove_headers);
    sections
}

fn find_section<'a>(page: &'a [PageSection], heading: &str) -> &'a PageSection {
    page.iter().find(|section| section.heading == heading).unwrap_or_else(|| {
        panic!("the page has no section {heading:?}");
    })
}

/// Splits a row at its bars; `\|` is a bar within a cell.
fn split_row(line: &str) -> Vec<String> {
    let cells = line.trim_matches('|').replace("\\|", "\u{0}");
    cells.split('|').map(|cell| cell.trim().replace('\u{0}', "|")).collect()
}

/// Removes the header of each table, which is the row before the line of dashes.
fn remove_headers(section: &mut PageSection) {
    let is_rule = |row: &[String]| row.iter().all(|cell| cell.starts_with("---"));
    while let Some(rule) = section.rows.iter().position(|row| is_rule(row)) {
        section.rows.drain(rule.saturating_sub(1)..=rule);
    }
}

/// Returns the texts in backquotes.
fn quoted_names(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}
