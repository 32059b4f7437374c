use std::fs;
use std::path::PathBuf;

use crate::bench::find_benches;

/// A temporary folder for one test, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("xtask-{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("store")).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

#[test]
fn benches_are_listed_by_name_with_their_first_line() {
    let folder = Folder::new("benches");
    fs::write(folder.0.join("store/main.rs"), "//! Appends a second.\nfn main() {}").unwrap();
    fs::write(folder.0.join("core.rs"), "//! One step.\n//! More.").unwrap();
    fs::write(folder.0.join("notes.md"), "not a bench").unwrap();
    let expected = [("core", "One step."), ("store", "Appends a second.")];
    assert_eq!(find_benches(&folder.0), expected.map(|(name, does)| (name.into(), does.into())));
}

#[test]
fn no_folder_means_no_benches() {
    assert!(find_benches("no/such/folder".as_ref()).is_empty());
}
