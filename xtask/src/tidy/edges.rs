//! Which of our crates may see which: the picture of the architecture, kept true.
//!
//! Only what ends up in a user's build counts; a test may look wherever it likes.

use super::finding::Finding;
use super::tree::{File, Tree};

/// A crate and the crates of ours it may depend on.
type Row = (&'static str, &'static [&'static str]);

/// The adapters (providers, tools, store) are siblings and never see each other.
pub(super) const ALLOWED: &[Row] = &[
    ("windlass-core", &[]),
    ("windlass-runtime", &["windlass-core"]),
    ("windlass-providers", &["windlass-core", "windlass-runtime"]),
    ("windlass-tools", &["windlass-core", "windlass-runtime"]),
    ("windlass-store", &["windlass-core", "windlass-runtime"]),
    (
        "windlass",
        &[
            "windlass-core",
            "windlass-runtime",
            "windlass-providers",
            "windlass-tools",
            "windlass-store",
        ],
    ),
    (
        "windlass-cli",
        &[
            "windlass-core",
            "windlass-runtime",
            "windlass-providers",
            "windlass-tools",
            "windlass-store",
            "windlass",
        ],
    ),
    (
        "windlass-sim",
        &["windlass-core", "windlass-runtime", "windlass-store", "windlass-providers"],
    ),
    // A server for tests; what is stored in it is none of its business.
    ("windlass-cluster", &[]),
    // It judges the binary from outside, so it sees the formats and nothing that runs.
    ("windlass-torture", &["windlass-core", "windlass-store", "windlass-cluster"]),
    (
        "windlass-bench",
        &[
            "windlass-core",
            "windlass-runtime",
            "windlass-providers",
            "windlass-tools",
            "windlass-store",
            "windlass",
            "windlass-cli",
            "windlass-sim",
            "windlass-cluster",
        ],
    ),
    ("xtask", &[]),
];

pub(super) fn findings(tree: &Tree) -> Vec<Finding> {
    let manifests = tree.files().filter(|file| file.path.ends_with("Cargo.toml"));
    manifests.flat_map(of_manifest).collect()
}

fn of_manifest(manifest: &File) -> Vec<Finding> {
    let Some((name, line)) = package(&manifest.text) else {
        return Vec::new();
    };
    let Some((_, allowed)) = ALLOWED.iter().find(|(row, _)| *row == name) else {
        return vec![Finding::new(&manifest.path, line, without_row(name))];
    };
    let edges = dependencies(&manifest.text).into_iter();
    let forbidden = edges.filter(|(edge, _)| !allowed.contains(edge));
    forbidden.map(|(edge, line)| Finding::new(&manifest.path, line, refused(name, edge))).collect()
}

fn without_row(name: &str) -> String {
    format!("the crate `{name}` is not in the table of allowed edges: add it to tidy/edges.rs")
}

fn refused(name: &str, edge: &str) -> String {
    format!("`{name}` may not depend on `{edge}`: move the code, or the line in the architecture")
}

/// The package's name and its line.
fn package(manifest: &str) -> Option<(&str, usize)> {
    let mut lines = in_sections(manifest).filter(|entry| entry.section == "package");
    lines.find_map(|entry| Some((quoted_after(entry.text, "name")?, entry.line)))
}

/// Dependencies on crates of ours with their lines, however they are written.
fn dependencies(manifest: &str) -> Vec<(&str, usize)> {
    let named = in_sections(manifest).filter_map(|entry| Some((dependency(&entry)?, entry.line)));
    named.filter(|(name, _)| is_ours(name)).collect()
}

fn dependency<'a>(entry: &Entry<'a>) -> Option<&'a str> {
    if let Some((table, name)) = entry.section.rsplit_once('.')
        && is_dependency_table(table)
    {
        return entry.text.starts_with('[').then_some(name);
    }
    let key = entry.text.split(['=', '.', ' ']).next()?.trim_matches('"');
    let renamed = entry.text.split_once("package").and_then(|(_, tail)| quoted(tail));
    is_dependency_table(entry.section).then_some(renamed.unwrap_or(key))
}

/// Also `target.'cfg(…)'.dependencies`; not `dev-dependencies`.
fn is_dependency_table(section: &str) -> bool {
    let last = section.rsplit('.').next().unwrap_or_default();
    matches!(last, "dependencies" | "build-dependencies") && section != "workspace.dependencies"
}

fn is_ours(name: &str) -> bool {
    name == "xtask" || name == "windlass" || name.starts_with("windlass-")
}

/// A line of a manifest and the section it is in; a section's heading is in itself.
struct Entry<'a> {
    section: &'a str,
    text: &'a str,
    line: usize,
}

fn in_sections(manifest: &str) -> impl Iterator<Item = Entry<'_>> {
    let mut section = "";
    manifest.lines().enumerate().map(move |(index, text)| {
        let text = text.trim();
        if text.starts_with('[') {
            section = text.trim_matches(['[', ']']);
        }
        Entry { section, text, line: index + 1 }
    })
}

fn quoted_after<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    quoted(text.strip_prefix(key)?.trim_start().strip_prefix('=')?)
}

fn quoted(text: &str) -> Option<&str> {
    text.split('"').nth(1)
}
