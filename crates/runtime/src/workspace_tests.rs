//! Tests: which folders are the same workspace.

use std::fs;
use std::os::unix::fs::symlink;

use super::{ID_FILE, Workspace, host_name};

// spec: SCALE-09
#[test]
fn the_id_travels_with_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    fs::create_dir(&one).unwrap();
    let first = Workspace::from_trusted_folder(&one);
    assert_eq!(Workspace::from_trusted_folder(&one), first, "asked twice it is the same");
    fs::rename(&one, &two).unwrap();
    let moved = Workspace::from_trusted_folder(&two);
    assert_eq!(moved.id(), first.id());
    assert!(uuid::Uuid::parse_str(first.id()).is_ok());
    assert_eq!(fs::read_to_string(two.join(".windlass/.gitignore")).unwrap(), "*\n");
}

#[test]
fn a_repository_keeps_it_where_nobody_commits_it() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join(".git")).unwrap();
    let id = Workspace::from_trusted_folder(dir.path()).id().clone();
    let file = dir.path().join(".git/windlass").join(ID_FILE);
    assert_eq!(fs::read_to_string(file).unwrap().trim(), &*id);
    assert!(!dir.path().join(".windlass").exists());
}

#[test]
fn two_folders_are_two_workspaces_and_an_untrusted_one_goes_by_its_place() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_ne!(
        Workspace::from_trusted_folder(one.path()).id(),
        Workspace::from_trusted_folder(two.path()).id()
    );
    let local = Workspace::from_folder(one.path());
    assert_eq!(&**local.id(), format!("{}:{}", host_name(), one.path().display()));
    assert!(
        Workspace::from_trusted_folder(one.path()).ids().contains(local.id()),
        "older ones are served too"
    );
}

#[test]
fn an_id_that_is_none_is_not_believed() {
    for text in ["", "not an id", "../../etc", &"a".repeat(1_000)] {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".windlass")).unwrap();
        fs::write(dir.path().join(".windlass").join(ID_FILE), text).unwrap();
        assert_eq!(
            Workspace::from_trusted_folder(dir.path()),
            Workspace::from_folder(dir.path()),
            "{text}"
        );
    }
}

#[test]
fn links_are_not_followed() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let theirs = Workspace::from_trusted_folder(other.path());
    symlink(other.path().join(".windlass"), dir.path().join(".windlass")).unwrap();
    assert_ne!(Workspace::from_trusted_folder(dir.path()).id(), theirs.id());
    fs::remove_file(dir.path().join(".windlass")).unwrap();
    fs::create_dir(dir.path().join(".windlass")).unwrap();
    let file = other.path().join(".windlass").join(ID_FILE);
    symlink(file, dir.path().join(".windlass").join(ID_FILE)).unwrap();
    assert_ne!(Workspace::from_trusted_folder(dir.path()).id(), theirs.id());
}
