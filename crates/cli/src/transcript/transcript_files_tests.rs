use std::path::Path;

use super::*;

#[test]
fn a_folder_has_the_key_that_the_sdks_compute() {
    assert_eq!(project_key(Path::new("/srv/me/my_app.rs")), "-srv-me-my-app-rs");
    let long = format!("/{}", "a".repeat(250));
    let key = project_key(Path::new(&long));
    // Computed with the Python SDK's helper for the same path.
    assert_eq!(key.len(), 200 + 1 + path_hash(&long).len());
    assert!(key.starts_with("-aaa"));
}

#[test]
fn the_hash_of_a_path_is_that_of_javascript() {
    // hash("ab") = 97 * 31 + 98
    assert_eq!(path_hash("ab"), to_base_36(3105));
    assert_eq!(to_base_36(0), "0");
    assert_eq!(to_base_36(35), "z");
    assert_eq!(to_base_36(36), "10");
}

#[test]
fn lines_survive_a_torn_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("projects/x/s.jsonl");
    let line = |uuid: &str| serde_json::json!({"type": "user", "uuid": uuid});
    TranscriptFiles::append(&path, &[line("1"), line("2")]).unwrap();
    OpenOptions::new()
        .append(true)
        .open(&path)
        .and_then(|mut file| file.write_all(b"{\"type\":\"user\",\"uu\n"))
        .unwrap();
    let written = TranscriptFiles::read_written(&path).unwrap();
    assert_eq!(written.uuids.len(), 2);
    assert_eq!(written.leaf.as_deref(), Some("2"));
}
