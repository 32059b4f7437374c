//! Files and folders that the user attaches to a prompt.

use std::os::unix::fs::symlink;

use windlass_core::log::ids::LaneId;
use windlass_core::permission::{PermissionRule, Permissions};
use windlass_tools::limits::MAX_LISTED_NAMES;
use windlass_tools::{Attachment, ToolContext};

use crate::fixture::{TestWorkspace, call_context, success_text};

fn attach(workplace: &ToolContext, path: &str) -> Result<Option<Attachment>, String> {
    let lane: LaneId = call_context().lane;
    workplace.attach(&lane, path).map_err(|error| error.message.to_string())
}

fn names(workplace: &ToolContext, path: &str) -> String {
    match attach(workplace, path) {
        Ok(Some(Attachment::Folder(names))) => names,
        other => panic!("{other:?}"),
    }
}

// spec: CLI-02
#[tokio::test]
async fn a_file_comes_as_reading_it_shows_it_and_counts_as_read() {
    let workspace = TestWorkspace::new();
    workspace.write("a.txt", "one\ntwo\n");
    let attached = attach(&workspace.context, "a.txt").unwrap();
    let Some(Attachment::File(content)) = attached else { panic!("{attached:?}") };
    assert_eq!(content.read::<String>().unwrap(), "     1\tone\n     2\ttwo\n");
    success_text(workspace.edit("a.txt", "two", "three").await);
}

// spec: CLI-02
#[test]
fn a_folder_is_its_names_and_not_too_many() {
    let workspace = TestWorkspace::new();
    std::fs::create_dir(workspace.path().join("src")).unwrap();
    workspace.write("b.txt", "");
    workspace.write(".env", "");
    let rules = Permissions {
        deny: vec![PermissionRule::parse("Read(.env)").unwrap()],
        ..rules(&workspace)
    };
    let context = workspace.context.clone().with_rules(rules);
    assert_eq!(names(&context, "."), "b.txt\nsrc/");
    assert_eq!(names(&context, "src/"), "");
    for n in 0..=MAX_LISTED_NAMES {
        workspace.write(&format!("src/{n}"), "");
    }
    assert!(names(&context, "src").ends_with("… and 1 more"));
}

fn rules(workspace: &TestWorkspace) -> Permissions {
    let root = workspace.path().canonicalize().unwrap();
    Permissions { root: root.to_string_lossy().into(), ..Permissions::default() }
}

// spec: CLI-02
#[test]
fn what_is_not_there_is_nothing_and_what_may_not_be_read_is_refused() {
    let workspace = TestWorkspace::new();
    workspace.write(".env", "SECRET=1");
    symlink("/etc/passwd", workspace.path().join("out")).unwrap();
    let rules = Permissions {
        deny: vec![PermissionRule::parse("Read(.env)").unwrap()],
        ..rules(&workspace)
    };
    let context = workspace.context.clone().with_rules(rules);
    for nothing in ["gone.txt", "someone", "a/b", "", "a\0b", &"x".repeat(300)] {
        assert_eq!(attach(&context, nothing), Ok(None), "{nothing:?}");
    }
    let refused = |path| attach(&context, path).unwrap_err();
    assert!(refused(".env").contains("the rule Read(.env) denies it"));
    assert!(refused("/etc/passwd").contains("requires approval"));
    assert!(refused("out").contains("leads out of the workspace"));
    assert!(refused("/proc/self/environ").contains("not a regular file"));
}
