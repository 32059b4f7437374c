use super::crate_edges::{ALLOWED_EDGES, findings};
use super::source_tree::SourceTree;

fn found(manifest: &str) -> Vec<String> {
    let tree = SourceTree::from([("crates/x/Cargo.toml", manifest)]);
    findings(&tree).iter().map(ToString::to_string).collect()
}

fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\n{rest}")
}

#[test]
fn allowed_edges_pass() {
    let rest = "[dependencies]\nwindlass-core.workspace = true\nserde.workspace = true\n";
    assert!(found(&manifest("windlass-runtime", rest)).is_empty());
}

#[test]
fn a_sibling_is_refused_at_its_line() {
    let rest = "[dependencies]\nwindlass-core.workspace = true\nwindlass-store.workspace = true\n";
    let found = found(&manifest("windlass-tools", rest));
    assert_eq!(found.len(), 1);
    let start = "crates/x/Cargo.toml:5: `windlass-tools` may not depend on `windlass-store`";
    assert!(found[0].starts_with(start), "{}", found[0]);
}

#[test]
fn every_way_of_writing_an_edge_is_seen() {
    for rest in [
        "[dependencies]\nwindlass-runtime = { path = \"../runtime\" }",
        "[dependencies.windlass-runtime]\npath = \"../runtime\"",
        "[dependencies]\nrt = { package = \"windlass-runtime\", path = \"../runtime\" }",
        "[target.'cfg(unix)'.dependencies]\nwindlass-runtime.workspace = true",
        "[build-dependencies]\nwindlass-runtime.workspace = true",
    ] {
        assert_eq!(found(&manifest("windlass-core", rest)).len(), 1, "{rest}");
    }
}

#[test]
fn tests_may_look_wherever_they_like() {
    let rest = "[dev-dependencies]\nwindlass-store.workspace = true";
    assert!(found(&manifest("windlass-core", rest)).is_empty());
}

#[test]
fn the_workspace_manifest_has_no_edges() {
    assert!(found("[workspace.dependencies]\nwindlass-core = { path = \"x\" }").is_empty());
}

#[test]
fn a_crate_without_a_row_is_asked_for_one() {
    let found = found(&manifest("windlass-new", ""));
    assert!(found[0].contains("`windlass-new` is not in the table"), "{found:?}");
}

#[test]
fn the_table_keeps_siblings_apart() {
    let siblings = ["windlass-providers", "windlass-tools", "windlass-store"];
    let rows = ALLOWED_EDGES.iter().filter(|(name, _)| siblings.contains(name));
    assert!(rows.flat_map(|(_, edges)| *edges).all(|edge| !siblings.contains(edge)));
}

#[test]
fn the_table_has_no_cycle() {
    // Repeatedly remove the crates whose edges are all removed; a cycle would remain.
    let mut left: Vec<_> = ALLOWED_EDGES.to_vec();
    for _ in ALLOWED_EDGES {
        let names: Vec<_> = left.iter().map(|(name, _)| *name).collect();
        left.retain(|(_, edges)| edges.iter().any(|edge| names.contains(edge)));
    }
    assert!(left.is_empty(), "{left:?}");
}
