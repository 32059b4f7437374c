//! What lasts from one command to the next: the folder, output that was too long, and commands in
//! the background.

use std::fs;
use std::path::Path;

use serde_json::{Value, json as value};
use windlass_core::ids::{AskId, CallId, LaneId};
use windlass_core::outcome::Outcome;
use windlass_core::permission::Subject;
use windlass_runtime::ports::{CallContext, Clock, Tool};
use windlass_tools::limits::{GRACE_MS, MAX_BACKGROUND, MAX_OUTPUT_FILES};
use windlass_tools::{Bash, BashOutput, KillShell, Read};

use crate::fixture::{Workspace, context, done, failed, input, is_alive, json};

fn reply(ask: AskId) -> CallContext {
    CallContext { call: CallId { ask, index: 0 }, ..context() }
}

async fn command(workspace: &Workspace, ask: AskId, command: &str) -> String {
    done(workspace.bash().run(reply(ask), input(command, 60_000)).await)
}

#[tokio::test]
async fn the_folder_lasts_from_the_next_reply_on() {
    let workspace = Workspace::new();
    let root = workspace.workplace.zones().root().to_owned();
    fs::create_dir_all(root.join("sub/it's deep")).unwrap();
    let said = command(&workspace, 1, "cd sub; pwd").await;
    let sub = root.join("sub");
    assert_eq!(said, format!("{0}\n[commands now begin in {0}]", sub.display()));
    // Another call of the same reply was judged before the first one ran.
    assert_eq!(command(&workspace, 1, "pwd").await, format!("{}\n", root.display()));
    assert_eq!(command(&workspace, 3, "pwd").await, format!("{}\n", sub.display()));
    command(&workspace, 4, "cd \"it's deep\" && false || true").await;
    let deep = sub.join("it's deep");
    assert_eq!(command(&workspace, 5, "pwd; exit 0").await, format!("{}\n", deep.display()));
    // A folder that goes away is the workspace.
    command(&workspace, 6, "rmdir ../it*deep").await;
    assert_eq!(command(&workspace, 7, "pwd").await, format!("{}\n", root.display()));
}

#[tokio::test]
async fn the_folder_lasts_for_its_conversation_only_and_over_failures() {
    let workspace = Workspace::new();
    let root = workspace.workplace.zones().root().to_owned();
    fs::create_dir(root.join("sub")).unwrap();
    let error = failed(workspace.bash().run(reply(1), input("cd sub; exit 3", 60_000)).await);
    assert!(error.message.ends_with("exit code 3"), "{}", error.message);
    let sub = format!("{}\n", root.join("sub").display());
    assert_eq!(command(&workspace, 2, "pwd").await, sub);
    let other = CallContext { lane: LaneId::from("conversation:other"), ..reply(2) };
    let said = done(workspace.bash().run(other, input("pwd", 60_000)).await);
    assert_eq!(said, format!("{}\n", root.display()));
    // A process that ends without its shell says nothing, and nothing changes.
    drop(workspace.bash().run(reply(3), input("cd ..; kill -9 $$", 60_000)).await);
    assert_eq!(command(&workspace, 4, "pwd").await, sub);
}

#[tokio::test]
async fn case_54_a_command_that_leaves_the_workspace_leaves_alone() {
    let workspace = Workspace::new();
    let root = workspace.workplace.zones().root().to_owned();
    for (ask, away) in [(1, "cd /"), (3, "ln -s / out; cd out"), (5, "cd .. && cd ..")] {
        let said = command(&workspace, ask, away).await;
        assert!(said.contains("commands begin in the workspace again"), "{said}");
        assert_eq!(command(&workspace, ask + 1, "pwd").await, format!("{}\n", root.display()));
    }
    let with_folder = json(r#"{"command": "ls", "cwd": "/"}"#);
    assert!(workspace.bash().assess(&with_folder).problem.is_some());
}

#[tokio::test]
async fn a_command_is_judged_from_the_folder_it_will_begin_in() {
    let workspace = Workspace::new();
    let root = workspace.workplace.zones().root().to_owned();
    fs::create_dir(root.join("secrets")).unwrap();
    command(&workspace, 1, "cd secrets").await;
    let subject =
        workspace.bash().assess_on(&context().lane, &json(r#"{"command": "cat k"}"#)).subject;
    let Subject::Shell(shell) = subject else { panic!("no shell") };
    let secret = root.join("secrets/k");
    assert!(shell.reads.iter().any(|used| Path::new(&*used.path) == secret), "{shell:?}");
    let elsewhere = LaneId::from("conversation:other");
    let subject = workspace.bash().assess_on(&elsewhere, &json(r#"{"command": "cat k"}"#)).subject;
    let Subject::Shell(shell) = subject else { panic!("no shell") };
    assert!(!shell.reads.iter().any(|used| Path::new(&*used.path) == secret), "{shell:?}");
}

/// The path of the file that holds all output.
fn kept(said: &str) -> String {
    let (_, rest) = said.split_once(" bytes of output are in ").unwrap();
    rest.split_once(": page").unwrap().0.to_owned()
}

#[tokio::test]
async fn long_output_can_be_paged_through() {
    let workspace = Workspace::new();
    let said = command(&workspace, 1, "seq 100000").await;
    let path = kept(&said);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 100_000);
    let page = value!({ "file_path": path, "offset": 99_999, "limit": 10 }).to_string();
    let page = done(workspace.read(&page).await);
    assert_eq!(page, " 99999\t99999\n100000\t100000\n");
    let whole = json(&value!({ "file_path": path }).to_string());
    let read = Read::new(&workspace.workplace);
    let zone = |lane: &str| match read.assess_on(&LaneId::from(lane), &whole).subject {
        Subject::Paths(paths) => format!("{:?}", paths[0].zone),
        other => panic!("{other:?}"),
    };
    // Its own output is a conversation's to read, and nobody else's.
    assert_eq!((&*zone("conversation:test"), &*zone("conversation:x")), ("Workspace", "Outside"));
    assert!(!command(&workspace, 2, "seq 100").await.contains("bytes of output"));
    let error = failed(workspace.bash().run(reply(3), input("seq 100000; exit 1", 60_000)).await);
    assert!(Path::new(&kept(&error.message_and_output())).exists());
}

#[tokio::test]
async fn files_of_output_do_not_pile_up() {
    let workspace = Workspace::new();
    let mut path = String::new();
    for ask in 0..MAX_OUTPUT_FILES as u32 + 5 {
        path = kept(&command(&workspace, ask, "head -c 30000 /dev/zero").await);
    }
    let left = fs::read_dir(Path::new(&path).parent().unwrap()).unwrap().count();
    assert_eq!(left, MAX_OUTPUT_FILES);
    assert!(Path::new(&path).exists());
}

#[tokio::test]
async fn what_a_command_printed_before_its_time_was_up_is_told() {
    let workspace = Workspace::new();
    let outcome = workspace.command_within("echo begun; sleep 60", 300).await;
    let error = failed(outcome);
    assert_eq!(&*error.code, "timed_out");
    assert!(error.message_and_output().contains("effects unknown\nbegun\n"), "{error:?}");
    assert!(error.hint.contains("check what it did"), "{}", error.hint);
}

/// A conversation with commands in the background.
struct Shells {
    workspace: Workspace,
    bash: Bash,
}

impl Shells {
    fn new() -> Self {
        let workspace = Workspace::new();
        let bash = workspace.bash();
        Self { workspace, bash }
    }

    async fn start(&self, ask: AskId, command: &str) -> Outcome {
        let input = value!({ "command": command, "run_in_background": true });
        self.bash.run(reply(ask), json(&input.to_string())).await
    }

    async fn look(&self, input: Value) -> String {
        let tool = BashOutput::new(&self.workspace.workplace);
        done(tool.run(context(), json(&input.to_string())).await)
    }

    async fn kill(&self, id: &str) -> Outcome {
        let input = value!({ "shell_id": id });
        KillShell::new(&self.workspace.workplace).run(context(), json(&input.to_string())).await
    }

    /// Looks until something is said that holds `text`.
    async fn until(&self, id: &str, text: &str) -> String {
        let mut all = String::new();
        for _ in 0..1_000 {
            all += &self.look(value!({ "bash_id": id })).await;
            if all.contains(text) {
                return all;
            }
            self.workspace.clock.sleep(10).await;
        }
        panic!("{id} never said {text:?}: {all}");
    }
}

#[tokio::test]
async fn a_command_in_the_background_is_looked_at_piece_by_piece() {
    let shells = Shells::new();
    let start = shells.workspace.clock.monotonic_ms();
    let said = done(
        shells.start(4, "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 3").await,
    );
    assert!(said.starts_with("running in the background as bash_4_0;"), "{said}");
    assert!(shells.workspace.clock.monotonic_ms() - start < 2_000);
    let first = shells.until("bash_4_0", "one\n").await;
    assert!(first.contains("[running]\none\n"), "{first}");
    assert_eq!(shells.look(value!({ "bash_id": "bash_4_0" })).await, "[running]\n(nothing new)\n");
    shells.workspace.write("go", "");
    let last = shells.until("bash_4_0", "[exit code 3]").await;
    assert!(last.contains("two\n") && !last.contains("one\n"), "{last}");
    assert!(done(shells.kill("bash_4_0").await).contains("had ended already"));
}

#[tokio::test]
async fn a_look_can_be_filtered_and_is_bounded() {
    let shells = Shells::new();
    done(shells.start(1, "seq 20000; sleep 60").await);
    let first = shells.until("bash_1_0", "\n100\n").await;
    assert!(first.len() < 30_000, "{}", first.len());
    shells.workspace.clock.sleep(300).await;
    let some = shells.look(value!({ "bash_id": "bash_1_0", "filter": "^7+$" })).await;
    assert!(some == "[running]\n7777\n" || some == "[running]\n(nothing new)\n", "{some}");
    let bad = json(r#"{"bash_id": "bash_1_0", "filter": "("}"#);
    let tool = BashOutput::new(&shells.workspace.workplace);
    assert_eq!(&*failed(tool.run(context(), bad).await).code, "bad_pattern");
}

#[tokio::test]
async fn a_command_in_the_background_is_ended_with_its_family() {
    let shells = Shells::new();
    let family = "sh -c 'echo $$ > grandchild; sleep 60; true' & echo $$ > child; sleep 60; true";
    done(shells.start(1, family).await);
    let (child, grandchild) =
        (shells.workspace.pid("child").await, shells.workspace.pid("grandchild").await);
    assert!(is_alive(child) && is_alive(grandchild));
    let said = done(shells.kill("bash_1_0").await);
    assert!(said.starts_with("bash_1_0 has ended; what it printed is in "), "{said}");
    assert!(!is_alive(child) && !is_alive(grandchild));
    let error = failed(shells.kill("bash_9_9").await);
    assert_eq!(&*error.code, "unknown_shell");
    assert!(error.hint.contains("bash_1_0"), "{}", error.hint);
}

#[tokio::test]
async fn commands_in_the_background_end_with_their_conversation() {
    let shells = Shells::new();
    done(shells.start(1, "echo $$ > child; sleep 60; true").await);
    let child = shells.workspace.pid("child").await;
    shells.bash.leave(&LaneId::from("conversation:other"));
    assert!(is_alive(child));
    shells.bash.leave(&context().lane);
    shells.workspace.gone(child, GRACE_MS + 3_000).await;
    assert_eq!(&*failed(shells.kill("bash_1_0").await).code, "unknown_shell");
}

#[tokio::test]
async fn commands_in_the_background_end_with_their_tools() {
    let shells = Shells::new();
    done(shells.start(1, "echo $$ > child; sleep 60; true").await);
    let child = shells.workspace.pid("child").await;
    let Shells { mut workspace, bash } = shells;
    drop(bash);
    workspace.workplace = windlass_tools::Workplace::new(Path::new("/"));
    workspace.gone(child, GRACE_MS + 3_000).await;
}

#[tokio::test]
async fn there_are_only_so_many_at_once() {
    let shells = Shells::new();
    for ask in 0..MAX_BACKGROUND as u32 {
        done(shells.start(ask, "sleep 60").await);
    }
    assert_eq!(&*failed(shells.start(99, "sleep 60").await).code, "too_many_shells");
    done(shells.kill("bash_0_0").await);
    done(shells.start(99, "sleep 60").await);
}
