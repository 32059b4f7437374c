//! Checks which of our crates depend on which, as the architecture has it.
//!
//! Only dependencies of a user's build count; tests may depend on any crate.

use super::finding::TidyFinding;
use super::source_tree::{SourceFile, SourceTree};

/// A crate and those of our crates that it may depend on.
type AllowedEdges = (&'static str, &'static [&'static str]);

/// The allowed dependencies. The adapters (providers, tools, store) are siblings and never depend
/// on each other; the scripted model stands in for a provider and fails like one.
pub(super) const ALLOWED_EDGES: &[AllowedEdges] = &[
    ("windlass-core", &[]),
    ("windlass-runtime", &["windlass-core"]),
    // A pure projection of the log: it knows no runtime.
    ("windlass-messages", &["windlass-core"]),
    ("windlass-providers", &["windlass-core", "windlass-runtime"]),
    ("windlass-scripted", &["windlass-core", "windlass-runtime", "windlass-providers"]),
    ("windlass-tools", &["windlass-core", "windlass-runtime"]),
    ("windlass-mcp", &["windlass-core", "windlass-runtime"]),
    ("windlass-web", &["windlass-core", "windlass-runtime"]),
    // It confines processes and knows nothing of what they are for.
    ("windlass-sandbox", &["windlass-runtime"]),
    ("windlass-store", &["windlass-core", "windlass-runtime"]),
    // It tests the port, so it depends on no store.
    ("windlass-store-testkit", &["windlass-core", "windlass-runtime"]),
    (
        "windlass",
        &[
            "windlass-core",
            "windlass-runtime",
            "windlass-messages",
            "windlass-providers",
            "windlass-scripted",
            "windlass-tools",
            "windlass-mcp",
            "windlass-store",
        ],
    ),
    // A front end: a client of the facade.
    ("windlass-mcp-server", &["windlass"]),
    ("windlass-server", &["windlass", "windlass-mcp-server"]),
    ("windlass-acp", &["windlass"]),
    (
        "windlass-cli",
        &[
            "windlass-acp",
            "windlass-core",
            "windlass-runtime",
            "windlass-server",
            "windlass-tools",
            "windlass-store",
            "windlass-mcp",
            "windlass-mcp-server",
            "windlass-sandbox",
            "windlass-web",
            "windlass",
        ],
    ),
    (
        "windlass-sim",
        &["windlass-core", "windlass-runtime", "windlass-store", "windlass-providers"],
    ),
    // A server for tests; it does not know what is stored in it.
    ("windlass-cluster", &[]),
    // It tests the binary from outside, so it depends on the formats and on nothing that runs.
    ("windlass-torture", &["windlass-core", "windlass-store", "windlass-cluster"]),
    (
        "windlass-bench",
        &[
            "windlass-core",
            "windlass-runtime",
            "windlass-providers",
            "windlass-sandbox",
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

pub(super) fn findings(tree: &SourceTree) -> Vec<TidyFinding> {
    let manifests = tree.files().filter(|file| file.path.ends_with("Cargo.toml"));
    manifests.flat_map(check_manifest).collect()
}

fn check_manifest(manifest: &SourceFile) -> Vec<TidyFinding> {
    let Some((name, line)) = parse_package(&manifest.text) else {
        return Vec::new();
    };
    let Some((_, allowed)) = ALLOWED_EDGES.iter().find(|(row, _)| *row == name) else {
        return vec![TidyFinding::new(&manifest.path, line, missing_row_message(name))];
    };
    let edges = parse_dependencies(&manifest.text).into_iter();
    let forbidden = edges.filter(|(edge, _)| !allowed.contains(edge));
    forbidden
        .map(|(edge, line)| TidyFinding::new(&manifest.path, line, edge_message(name, edge)))
        .collect()
}

fn missing_row_message(name: &str) -> String {
    format!(
        "the crate `{name}` is not in the table of allowed edges: add it to tidy/crate_edges.rs"
    )
}

fn edge_message(name: &str, edge: &str) -> String {
    format!("`{name}` may not depend on `{edge}`: move the code, or the line in the architecture")
}

/// The package's name and its line.
fn parse_package(manifest: &str) -> Option<(&str, usize)> {
    let mut lines = manifest_lines(manifest).filter(|entry| entry.section == "package");
    lines.find_map(|entry| Some((quoted_value(entry.text, "name")?, entry.line)))
}

/// Dependencies on our crates with their lines, in any notation.
fn parse_dependencies(manifest: &str) -> Vec<(&str, usize)> {
    let named =
        manifest_lines(manifest).filter_map(|entry| Some((parse_dependency(&entry)?, entry.line)));
    named.filter(|(name, _)| is_ours(name)).collect()
}

fn parse_dependency<'a>(entry: &ManifestLine<'a>) -> Option<&'a str> {
    if let Some((table, name)) = entry.section.rsplit_once('.')
        && is_dependency_table(table)
    {
        return entry.text.starts_with('[').then_some(name);
    }
    let key = entry.text.split(['=', '.', ' ']).next()?.trim_matches('"');
    let renamed = entry.text.split_once("package").and_then(|(_, tail)| quoted_text(tail));
    is_dependency_table(entry.section).then_some(renamed.unwrap_or(key))
}

/// Returns whether a section is a table of dependencies, also `target.'cfg(…)'.dependencies`; not
/// `dev-dependencies`.
fn is_dependency_table(section: &str) -> bool {
    let last = section.rsplit('.').next().unwrap_or_default();
    matches!(last, "dependencies" | "build-dependencies") && section != "workspace.dependencies"
}

fn is_ours(name: &str) -> bool {
    name == "xtask" || name == "windlass" || name.starts_with("windlass-")
}

/// A line of a manifest and its section; the heading of a section belongs to it.
struct ManifestLine<'a> {
    section: &'a str,
    text: &'a str,
    line: usize,
}

fn manifest_lines(manifest: &str) -> impl Iterator<Item = ManifestLine<'_>> {
    let mut section = "";
    manifest.lines().enumerate().map(move |(index, text)| {
        let text = text.trim();
        if text.starts_with('[') {
            section = text.trim_matches(['[', ']']);
        }
        ManifestLine { section, text, line: index + 1 }
    })
}

fn quoted_value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    quoted_text(text.strip_prefix(key)?.trim_start().strip_prefix('=')?)
}

fn quoted_text(text: &str) -> Option<&str> {
    text.split('"').nth(1)
}
