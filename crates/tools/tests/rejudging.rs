//! What changes between the judgement on a command and its start.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json as value;
use windlass_core::ids::LaneId;
use windlass_core::permission::{Asked, Effect, Lean, Mode, Permissions, Ruling, Subject};
use windlass_runtime::ports::{CallContext, Tool};
use windlass_tools::Bash;

use crate::fixture::{Workspace, context, done, failed, input, json};

fn judged(bash: &Bash, lane: &LaneId, command: &str) -> Subject {
    bash.assess_on(lane, &input(command, 60_000)).subject
}

fn is_allowed(workspace: &Workspace, lane: &LaneId, command: &str) -> bool {
    let subject = judged(&workspace.bash(), lane, command);
    let root = workspace.workplace.zones().root().to_str().unwrap();
    let permissions =
        Permissions { mode: Mode::AcceptEdits, root: root.into(), ..Permissions::default() };
    let (tool, effect, lean) = ("Bash", Effect::Some, Lean::Neutral);
    let asked = Asked { tool, subject: &subject, effect, lean, grants: &[] };
    matches!(permissions.judge(asked), Ruling::Allow(_))
}

/// Two calls of one reply: the second was judged before the first ran.
// spec: PERMISSIONS-15
#[tokio::test]
async fn a_command_whose_files_lead_elsewhere_by_now_does_not_run() {
    let workspace = Workspace::new();
    fs::create_dir(workspace.path().join("d")).unwrap();
    symlink("/etc/passwd", workspace.path().join("d/link")).unwrap();
    workspace.write("f", "x");
    let bash = workspace.bash();
    for command in ["cat e/link", "cp f e/link", "echo x > e/link", "grep -rn root e/link"] {
        let subject = judged(&bash, &context().lane, command);
        done(workspace.command("mv d e").await);
        let later = CallContext { subject, ..context() };
        let error = failed(bash.run(later, input(command, 60_000)).await);
        assert_eq!(&*error.code, "files_changed", "{command}");
        assert!(error.hint.contains("judged anew"), "{}", error.hint);
        done(workspace.command("mv e d").await);
    }
    // One that was judged to leave the workspace was approved as that.
    let subject = judged(&bash, &context().lane, "cat d/link");
    let approved = CallContext { subject, ..context() };
    assert!(done(bash.run(approved, input("cat d/link", 60_000)).await).contains("root"));
    let subject = judged(&bash, &context().lane, "cat f");
    let same = CallContext { subject, ..context() };
    assert_eq!(done(bash.run(same, input("cat f", 60_000)).await), "x");
}

/// A command in the background could put a link where a file was.
// spec: PERMISSIONS-15
#[tokio::test]
async fn beside_a_command_that_may_change_files_no_path_is_known() {
    let workspace = Workspace::new();
    workspace.write("f", "x");
    let (own, other) = (context().lane, LaneId::from("conversation:other"));
    assert!(is_allowed(&workspace, &own, "cat f"));
    let start = |command: &str| {
        json(&value!({ "command": command, "run_in_background": true }).to_string())
    };
    done(workspace.bash().run(context(), start("while :; do sleep 1; done")).await);
    for lane in [&own, &other] {
        for command in ["cat f", "cp f g", "echo x > g", "grep -rn x ."] {
            assert!(!is_allowed(&workspace, lane, command), "{command}");
        }
        assert!(is_allowed(&workspace, lane, "echo x"));
        assert!(is_allowed(&workspace, lane, "pwd"));
    }
    workspace.bash().leave(&own);
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
    let workspace = Workspace::new();
    workspace.write("f", "x");
    let start = json(&value!({ "command": "tail -n 1 f", "run_in_background": true }).to_string());
    done(workspace.bash().run(context(), start).await);
    assert!(is_allowed(&workspace, &LaneId::from("conversation:other"), "cat f"));
}

/// A program of the workspace is not the program of the system that has the same name.
// spec: PERMISSIONS-15
#[tokio::test]
async fn a_name_that_leads_into_the_workspace_is_not_free() {
    let workspace = Workspace::new();
    let bin = workspace.path().join("node_modules/.bin");
    fs::create_dir_all(&bin).unwrap();
    let program = bin.join("ls");
    fs::write(&program, "#!/bin/sh\necho mine\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let with_path = |path: String| {
        let workplace = workspace.workplace.clone().with_variables([("PATH".to_owned(), path)]);
        Bash::new(workplace, workspace.clock())
    };
    let name = |bash: &Bash, command: &str| {
        let Subject::Shell(shell) = bash.assess(&input(command, 60_000)).subject else { panic!() };
        shell.commands.first().unwrap().words.first().unwrap().to_string()
    };
    let first = with_path(format!("{}:/usr/bin:/bin", bin.display()));
    let ours = workspace.workplace.zones().root().join("node_modules/.bin");
    assert_eq!(name(&first, "ls -l"), bin.join("ls").display().to_string());
    // It is not there yet, but an earlier part of the command could put it there.
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
    let said = done(relative.run(context(), input("ls node_modules/.bin", 60_000)).await);
    assert_eq!(said, "ls\n");
    let link = workspace.path().join("outside");
    symlink("/usr/bin", &link).unwrap();
    assert_eq!(name(&with_path(format!("{}:/bin", link.display())), "ls"), "ls");
}

/// What was approved for one folder does not run in another one because the first is gone.
// spec: PERMISSIONS-15
#[tokio::test]
async fn a_command_whose_folder_is_gone_by_now_does_not_run() {
    let workspace = Workspace::new();
    fs::create_dir(workspace.path().join("d")).unwrap();
    let bash = workspace.bash();
    done(workspace.command("cd d").await);
    let subject = judged(&bash, &context().lane, "touch made");
    assert!(matches!(&subject, Subject::Shell(shell) if &*shell.folder == "d"), "{subject:?}");
    fs::remove_dir(workspace.path().join("d")).unwrap();
    let next = windlass_core::ids::CallId { ask: context().call.ask + 1, index: 0 };
    let later = CallContext { subject, call: next, ..context() };
    let error = failed(bash.run(later, input("touch made", 60_000)).await);
    assert_eq!(&*error.code, "files_changed");
    assert!(!workspace.path().join("made").exists());
}

/// Rules see the path of a program from the workspace, wherever the command starts.
// spec: PERMISSIONS-15
#[tokio::test]
async fn a_relative_program_is_named_from_the_workspace() {
    let workspace = Workspace::new();
    fs::create_dir_all(workspace.path().join("d/e")).unwrap();
    fs::create_dir(workspace.path().join("bin")).unwrap();
    symlink("../bin", workspace.path().join("d/link")).unwrap();
    let root = fs::canonicalize(workspace.path()).unwrap();
    let bash = workspace.bash();
    let names = |command: &str| match judged(&bash, &context().lane, command) {
        Subject::Shell(shell) => {
            shell.commands.iter().map(|one| one.name().to_owned()).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(names("./x"), ["./x"]);
    assert_eq!(names("cd d && ./x"), ["cd", "./x", "./d/x"]);
    done(workspace.command("cd d").await);
    assert_eq!(names("./x a"), ["./d/x"]);
    assert_eq!(names("e/x"), ["d/e/x"]);
    assert_eq!(names("../x"), ["./x"]);
    assert_eq!(names("../bin/x"), ["./bin/x"]);
    assert_eq!(names("/opt/x"), ["/opt/x"]);
    assert_eq!(names("link/../x"), [root.join("d/link/../x").to_str().unwrap()]);
    assert_eq!(names("../../x"), [root.parent().unwrap().join("x").to_str().unwrap()]);
}
