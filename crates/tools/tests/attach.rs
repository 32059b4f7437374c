//! What a person attaches to a prompt.

use std::os::unix::fs::symlink;

use windlass_core::ids::LaneId;
use windlass_core::permission::{Permissions, Rule};
use windlass_tools::limits::MAX_LISTED;
use windlass_tools::{Attached, Workplace};

use crate::fixture::{Workspace, context, done};

fn attach(workplace: &Workplace, path: &str) -> Result<Option<Attached>, String> {
    let lane: LaneId = context().lane;
    workplace.attach(&lane, path).map_err(|error| error.message.to_string())
}

fn names(workplace: &Workplace, path: &str) -> String {
    match attach(workplace, path) {
        Ok(Some(Attached::Folder(names))) => names,
        other => panic!("{other:?}"),
    }
}

// spec: CLI-02
#[tokio::test]
async fn a_file_comes_as_reading_it_shows_it_and_counts_as_read() {
    let workspace = Workspace::new();
    workspace.write("a.txt", "one\ntwo\n");
    let attached = attach(&workspace.workplace, "a.txt").unwrap();
    let Some(Attached::File(content)) = attached else { panic!("{attached:?}") };
    assert_eq!(content.read::<String>().unwrap(), "     1\tone\n     2\ttwo\n");
    done(workspace.edit("a.txt", "two", "three").await);
}

// spec: CLI-02
#[test]
fn a_folder_is_its_names_and_not_too_many() {
    let workspace = Workspace::new();
    std::fs::create_dir(workspace.path().join("src")).unwrap();
    workspace.write("b.txt", "");
    workspace.write(".env", "");
    let rules = Permissions { deny: vec![Rule::parse("Read(.env)").unwrap()], ..rules(&workspace) };
    let place = workspace.workplace.clone().ruled_by(rules);
    assert_eq!(names(&place, "."), "b.txt\nsrc/");
    assert_eq!(names(&place, "src/"), "");
    for n in 0..=MAX_LISTED {
        workspace.write(&format!("src/{n}"), "");
    }
    assert!(names(&place, "src").ends_with("… and 1 more"));
}

fn rules(workspace: &Workspace) -> Permissions {
    let root = workspace.path().canonicalize().unwrap();
    Permissions { root: root.to_string_lossy().into(), ..Permissions::default() }
}

// spec: CLI-02
#[test]
fn what_is_not_there_is_nothing_and_what_may_not_be_read_is_refused() {
    let workspace = Workspace::new();
    workspace.write(".env", "SECRET=1");
    symlink("/etc/passwd", workspace.path().join("out")).unwrap();
    let rules = Permissions { deny: vec![Rule::parse("Read(.env)").unwrap()], ..rules(&workspace) };
    let place = workspace.workplace.clone().ruled_by(rules);
    for nothing in ["gone.txt", "someone", "a/b", "", "a\0b", &"x".repeat(300)] {
        assert_eq!(attach(&place, nothing), Ok(None), "{nothing:?}");
    }
    let refused = |path| attach(&place, path).unwrap_err();
    assert!(refused(".env").contains("the rule Read(.env) denies it"));
    assert!(refused("/etc/passwd").contains("requires approval"));
    assert!(refused("out").contains("a way out of the workspace"));
    assert!(refused("/proc/self/environ").contains("not a regular file"));
}
