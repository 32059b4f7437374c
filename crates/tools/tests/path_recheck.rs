//! Changes of files between the permission decision on a command and its start.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json as value;
use windlass_core::log::ids::LaneId;
use windlass_core::permission::{
    CallEffect, CallSubject, HookPreference, PermissionMode, PermissionQuery, Permissions,
    RuleDecision,
};
use windlass_runtime::ports::{CallContext, Tool};
use windlass_tools::BashTool;

use crate::fixture::{TestWorkspace, call_context, failure_of, input, json, success_text};

fn assess_subject(bash: &BashTool, lane: &LaneId, command: &str) -> CallSubject {
    bash.assess_in_lane(lane, &input(command, 60_000)).subject
}

fn is_allowed(workspace: &TestWorkspace, lane: &LaneId, command: &str) -> bool {
    let subject = assess_subject(&workspace.bash(), lane, command);
    let root = workspace.context.zones().root().to_str().unwrap();
    let permissions = Permissions {
        mode: PermissionMode::AcceptEdits,
        root: root.into(),
        ..Permissions::default()
    };
    let (tool, effect, preference) = ("Bash", CallEffect::MayChange, HookPreference::Neutral);
    let query = PermissionQuery { tool, subject: &subject, effect, preference, grants: &[] };
    matches!(permissions.evaluate_rules(query), RuleDecision::Allow(_))
}

/// Two calls of one reply: the second was authorised before the first ran.
// spec: PERMISSIONS-15
#[tokio::test]
async fn a_command_whose_files_lead_elsewhere_by_now_does_not_run() {
    let workspace = TestWorkspace::new();
    fs::create_dir(workspace.path().join("d")).unwrap();
    symlink("/etc/passwd", workspace.path().join("d/link")).unwrap();
    workspace.write("f", "x");
    let bash = workspace.bash();
    for command in ["cat e/link", "cp f e/link", "echo x > e/link", "grep -rn root e/link"] {
        let subject = assess_subject(&bash, &call_context().lane, command);
        success_text(workspace.command("mv d e").await);
        let later = CallContext { subject, ..call_context() };
        let error = failure_of(bash.run(later, input(command, 60_000)).await);
        assert_eq!(&*error.code, "files_changed", "{command}");
        assert!(error.hint.contains("authorised again"), "{}", error.hint);
        success_text(workspace.command("mv e d").await);
    }
    // A command that left the workspace when it was authorised was approved as such.
    let subject = assess_subject(&bash, &call_context().lane, "cat d/link");
    let approved = CallContext { subject, ..call_context() };
    assert!(success_text(bash.run(approved, input("cat d/link", 60_000)).await).contains("root"));
    let subject = assess_subject(&bash, &call_context().lane, "cat f");
    let same = CallContext { subject, ..call_context() };
    assert_eq!(success_text(bash.run(same, input("cat f", 60_000)).await), "x");
}

/// A background command could replace a file with a link.
// spec: PERMISSIONS-15
#[tokio::test]
async fn beside_a_command_that_may_change_files_no_path_is_known() {
    let workspace = TestWorkspace::new();
    workspace.write("f", "x");
    let (own, other) = (call_context().lane, LaneId::from("conversation:other"));
    assert!(is_allowed(&workspace, &own, "cat f"));
    let start = |command: &str| {
        json(&value!({ "command": command, "run_in_background": true }).to_string())
    };
    success_text(workspace.bash().run(call_context(), start("while :; do sleep 1; done")).await);
    for lane in [&own, &other] {
        for command in ["cat f", "cp f g", "echo x > g", "grep -rn x ."] {
            assert!(!is_allowed(&workspace, lane, command), "{command}");
        }
        assert!(is_allowed(&workspace, lane, "echo x"));
        assert!(is_allowed(&workspace, lane, "pwd"));
    }
    workspace.bash().on_lane_released(&own);
    for _ in 0..500 {
        if is_allowed(&workspace, &own, "cat f") {
            return;
        }
        tokio::task::yield_now().await;
        workspace.pause(10).await;
    }
    panic!("the command in the background is gone, and yet it counts");
}

#[tokio::test]
async fn a_command_that_only_reads_disturbs_nobody() {
    let workspace = TestWorkspace::new();
    workspace.write("f", "x");
    let start = json(&value!({ "command": "tail -n 1 f", "run_in_background": true }).to_string());
    success_text(workspace.bash().run(call_context(), start).await);
    assert!(is_allowed(&workspace, &LaneId::from("conversation:other"), "cat f"));
}

/// A program of the workspace is not the system program of the same name.
// spec: PERMISSIONS-15
#[tokio::test]
async fn a_name_that_leads_into_the_workspace_is_not_free() {
    let workspace = TestWorkspace::new();
    let bin = workspace.path().join("node_modules/.bin");
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("ls");
    fs::write(&program, "#!/bin/sh\necho mine\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let with_path = |path: String| {
        let workplace = workspace.context.clone().with_variables([("PATH".to_owned(), path)]);
        BashTool::new(workplace, workspace.clock())
    };
    let name = |bash: &BashTool, command: &str| {
        let CallSubject::Shell(shell) = bash.assess(&input(command, 60_000)).subject else {
            panic!()
        };
        shell.commands.first().unwrap().words.first().unwrap().to_string()
    };
    let first = with_path(format!("{}:/usr/bin:/bin", bin.display()));
    let ours = workspace.context.zones().root().join("node_modules/.bin");
    assert_eq!(name(&first, "ls -l"), bin.join("ls").display().to_string());
    // It does not exist yet, but an earlier part of the command could create it.
    assert_eq!(name(&first, "cat f"), bin.join("cat").display().to_string());
    assert_eq!(name(&first, "echo x"), "echo");
    let last = with_path(format!("/usr/bin:/bin:{}", bin.display()));
    assert_eq!(name(&last, "ls -l"), "ls");
    assert_eq!(
        name(&last, "nothing-of-this-name"),
        bin.join("nothing-of-this-name").display().to_string()
    );
    assert!(ours.exists());
    // Relative entries are not searched at all.
    let relative = with_path("node_modules/.bin:.::/usr/bin:/bin".to_owned());
    assert_eq!(name(&relative, "ls -l"), "ls");
    let output =
        success_text(relative.run(call_context(), input("ls node_modules/.bin", 60_000)).await);
    assert_eq!(output, "ls\n");
    let link = workspace.path().join("outside");
    symlink("/usr/bin", &link).unwrap();
    assert_eq!(name(&with_path(format!("{}:/bin", link.display())), "ls"), "ls");
}

/// A command that was approved for one folder does not run in another one if the first is removed.
// spec: PERMISSIONS-15
#[tokio::test]
async fn a_command_whose_folder_is_gone_by_now_does_not_run() {
    let workspace = TestWorkspace::new();
    fs::create_dir(workspace.path().join("d")).unwrap();
    let bash = workspace.bash();
    success_text(workspace.command("cd d").await);
    let subject = assess_subject(&bash, &call_context().lane, "touch made");
    assert!(matches!(&subject, CallSubject::Shell(shell) if &*shell.folder == "d"), "{subject:?}");
    fs::remove_dir(workspace.path().join("d")).unwrap();
    let next = windlass_core::log::ids::CallId {
        model_call: call_context().call.model_call + 1,
        index: 0,
    };
    let later = CallContext { subject, call: next, ..call_context() };
    let error = failure_of(bash.run(later, input("touch made", 60_000)).await);
    assert_eq!(&*error.code, "files_changed");
    assert!(!workspace.path().join("made").exists());
}

/// Rules see the path of a program relative to the workspace, wherever the command starts.
// spec: PERMISSIONS-15
#[tokio::test]
async fn a_relative_program_is_named_from_the_workspace() {
    let workspace = TestWorkspace::new();
    fs::create_dir_all(workspace.path().join("d/e")).unwrap();
    fs::create_dir(workspace.path().join("bin")).unwrap();
    symlink("../bin", workspace.path().join("d/link")).unwrap();
    let root = fs::canonicalize(workspace.path()).unwrap();
    let bash = workspace.bash();
    let names = |command: &str| match assess_subject(&bash, &call_context().lane, command) {
        CallSubject::Shell(shell) => {
            shell.commands.iter().map(|one| one.name().to_owned()).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(names("./x"), ["./x"]);
    assert_eq!(names("cd d && ./x"), ["cd", "./x", "./d/x"]);
    success_text(workspace.command("cd d").await);
    assert_eq!(names("./x a"), ["./d/x"]);
    assert_eq!(names("e/x"), ["d/e/x"]);
    assert_eq!(names("../x"), ["./x"]);
    assert_eq!(names("../bin/x"), ["./bin/x"]);
    assert_eq!(names("/opt/x"), ["/opt/x"]);
    assert_eq!(names("link/../x"), [root.join("d/link/../x").to_str().unwrap()]);
    assert_eq!(names("../../x"), [root.parent().unwrap().join("x").to_str().unwrap()]);
}
