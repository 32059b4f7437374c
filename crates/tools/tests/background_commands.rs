//! What is kept between commands: the working folder, long output, and background commands.

use std::fs;
use std::path::Path;

use serde_json::{Value, json as value};
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::ids::{CallId, LaneId, ModelCallId};
use windlass_core::permission::CallSubject;
use windlass_runtime::ports::{CallContext, Clock, Tool};
use windlass_tools::limits::{MAX_BACKGROUND_COMMANDS, MAX_OUTPUT_FILES, TERMINATION_GRACE_MS};
use windlass_tools::{BashTool, ReadTool, TaskOutputTool, TaskStopTool};

use crate::fixture::{
    TestWorkspace, call_context, failure_of, input, is_alive, json, success_text,
};

fn reply(model_call: ModelCallId) -> CallContext {
    CallContext { call: CallId { model_call, index: 0 }, ..call_context() }
}

async fn command(workspace: &TestWorkspace, model_call: ModelCallId, command: &str) -> String {
    success_text(workspace.bash().run(reply(model_call), input(command, 60_000)).await)
}

#[tokio::test]
async fn the_folder_lasts_from_the_next_reply_on() {
    let workspace = TestWorkspace::new();
    let root = workspace.context.zones().root().to_owned();
    fs::create_dir_all(root.join("sub/it's deep")).unwrap();
    let output = command(&workspace, 1, "cd sub; pwd").await;
    let sub = root.join("sub");
    assert_eq!(output, format!("{0}\n[working folder is now {0}]", sub.display()));
    // Another call of the same reply was authorised before the first one ran.
    assert_eq!(command(&workspace, 1, "pwd").await, format!("{}\n", root.display()));
    assert_eq!(command(&workspace, 3, "pwd").await, format!("{}\n", sub.display()));
    command(&workspace, 4, "cd \"it's deep\" && false || true").await;
    let deep = sub.join("it's deep");
    assert_eq!(command(&workspace, 5, "pwd; exit 0").await, format!("{}\n", deep.display()));
    // If the folder is removed, the workspace is used.
    command(&workspace, 6, "rmdir ../it*deep").await;
    assert_eq!(command(&workspace, 7, "pwd").await, format!("{}\n", root.display()));
}

#[tokio::test]
async fn the_folder_lasts_for_its_conversation_only_and_over_failures() {
    let workspace = TestWorkspace::new();
    let root = workspace.context.zones().root().to_owned();
    fs::create_dir(root.join("sub")).unwrap();
    let error = failure_of(workspace.bash().run(reply(1), input("cd sub; exit 3", 60_000)).await);
    assert!(error.message.ends_with("exit code 3"), "{}", error.message);
    let sub = format!("{}\n", root.join("sub").display());
    assert_eq!(command(&workspace, 2, "pwd").await, sub);
    let other = CallContext { lane: LaneId::from("conversation:other"), ..reply(2) };
    let output = success_text(workspace.bash().run(other, input("pwd", 60_000)).await);
    assert_eq!(output, format!("{}\n", root.display()));
    // A shell that is killed writes no final folder, and nothing changes.
    drop(workspace.bash().run(reply(3), input("cd ..; kill -9 $$", 60_000)).await);
    assert_eq!(command(&workspace, 4, "pwd").await, sub);
}

#[tokio::test]
async fn case_54_a_command_that_leaves_the_workspace_leaves_alone() {
    let workspace = TestWorkspace::new();
    let root = workspace.context.zones().root().to_owned();
    for (model_call, away) in [(1, "cd /"), (3, "ln -s / out; cd out"), (5, "cd .. && cd ..")] {
        let output = command(&workspace, model_call, away).await;
        assert!(output.contains("working folder reset to the workspace"), "{output}");
        assert_eq!(
            command(&workspace, model_call + 1, "pwd").await,
            format!("{}\n", root.display())
        );
    }
    let with_folder = json(r#"{"command": "ls", "cwd": "/"}"#);
    assert!(workspace.bash().assess(&with_folder).problem.is_some());
}

#[tokio::test]
async fn a_command_is_judged_from_the_folder_it_will_begin_in() {
    let workspace = TestWorkspace::new();
    let root = workspace.context.zones().root().to_owned();
    fs::create_dir(root.join("secrets")).unwrap();
    command(&workspace, 1, "cd secrets").await;
    let subject = workspace
        .bash()
        .assess_in_lane(&call_context().lane, &json(r#"{"command": "cat k"}"#))
        .subject;
    let CallSubject::Shell(shell) = subject else { panic!("no shell") };
    let secret = root.join("secrets/k");
    assert!(shell.reads.iter().any(|used| Path::new(&*used.path) == secret), "{shell:?}");
    let elsewhere = LaneId::from("conversation:other");
    let subject =
        workspace.bash().assess_in_lane(&elsewhere, &json(r#"{"command": "cat k"}"#)).subject;
    let CallSubject::Shell(shell) = subject else { panic!("no shell") };
    assert!(!shell.reads.iter().any(|used| Path::new(&*used.path) == secret), "{shell:?}");
}

/// Returns the path of the file with all of the output.
fn output_file_in(output: &str) -> String {
    let (_, rest) = output.split_once(" bytes): ").unwrap();
    rest.split_once("; read it").unwrap().0.to_owned()
}

#[tokio::test]
async fn long_output_can_be_paged_through() {
    let workspace = TestWorkspace::new();
    let said = command(&workspace, 1, "seq 100000").await;
    let path = output_file_in(&said);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 100_000);
    let page = value!({ "file_path": path, "offset": 99_999, "limit": 10 }).to_string();
    let page = success_text(workspace.read(&page).await);
    assert_eq!(page, " 99999\t99999\n100000\t100000\n");
    let whole = json(&value!({ "file_path": path }).to_string());
    let read = ReadTool::new(&workspace.context);
    let zone = |lane: &str| match read.assess_in_lane(&LaneId::from(lane), &whole).subject {
        CallSubject::Paths(paths) => format!("{:?}", paths[0].zone),
        other => panic!("{other:?}"),
    };
    // A conversation may read its own output, and no other conversation may.
    assert_eq!((&*zone("conversation:test"), &*zone("conversation:x")), ("Workspace", "Outside"));
    assert!(!command(&workspace, 2, "seq 100").await.contains("full output"));
    let error =
        failure_of(workspace.bash().run(reply(3), input("seq 100000; exit 1", 60_000)).await);
    assert!(Path::new(&output_file_in(&error.message_and_output())).exists());
}

#[tokio::test]
async fn files_of_output_do_not_pile_up() {
    let workspace = TestWorkspace::new();
    let mut path = String::new();
    for model_call in 0..MAX_OUTPUT_FILES as u32 + 5 {
        path = output_file_in(&command(&workspace, model_call, "head -c 30000 /dev/zero").await);
    }
    let remaining = fs::read_dir(Path::new(&path).parent().unwrap()).unwrap().count();
    assert_eq!(remaining, MAX_OUTPUT_FILES);
    assert!(Path::new(&path).exists());
}

#[tokio::test]
async fn what_a_command_printed_before_its_time_was_up_is_told() {
    let workspace = TestWorkspace::new();
    let outcome = workspace.command_within("echo begun; sleep 60", 300).await;
    let error = failure_of(outcome);
    assert_eq!(&*error.code, "timed_out");
    assert!(error.message_and_output().contains("effects unknown\nbegun\n"), "{error:?}");
    assert!(error.hint.contains("check what it did"), "{}", error.hint);
}

/// A conversation with background commands.
struct BackgroundFixture {
    workspace: TestWorkspace,
    bash: BashTool,
}

impl BackgroundFixture {
    fn new() -> Self {
        let workspace = TestWorkspace::new();
        let bash = workspace.bash();
        Self { workspace, bash }
    }

    async fn start(&self, model_call: ModelCallId, command: &str) -> ToolOutcome {
        let input = value!({ "command": command, "run_in_background": true });
        self.bash.run(reply(model_call), json(&input.to_string())).await
    }

    async fn look(&self, input: Value) -> String {
        let tool = TaskOutputTool::new(&self.workspace.context);
        success_text(tool.run(call_context(), json(&input.to_string())).await)
    }

    async fn kill(&self, id: &str) -> ToolOutcome {
        let input = value!({ "task_id": id });
        TaskStopTool::new(&self.workspace.context)
            .run(call_context(), json(&input.to_string()))
            .await
    }

    /// Polls until the result contains `text`.
    async fn read_until(&self, id: &str, text: &str) -> String {
        let mut all = String::new();
        for _ in 0..1_000 {
            all += &self.look(value!({ "task_id": id })).await;
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
    let shells = BackgroundFixture::new();
    let start = shells.workspace.clock.monotonic_ms();
    let output = success_text(
        shells.start(4, "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 3").await,
    );
    assert!(output.starts_with("running in the background as bash_4_0;"), "{output}");
    assert!(shells.workspace.clock.monotonic_ms() - start < 2_000);
    let first = shells.read_until("bash_4_0", "one\n").await;
    assert!(first.contains("[running]\none\n"), "{first}");
    assert_eq!(
        shells.look(value!({ "task_id": "bash_4_0" })).await,
        "[running]\n(no new output)\n"
    );
    shells.workspace.write("go", "");
    let last = shells.read_until("bash_4_0", "[exit code 3]").await;
    assert!(last.contains("two\n") && !last.contains("one\n"), "{last}");
    assert!(success_text(shells.kill("bash_4_0").await).contains("has already ended"));
}

#[tokio::test]
async fn a_look_can_be_filtered_and_is_bounded() {
    let shells = BackgroundFixture::new();
    success_text(shells.start(1, "seq 20000; sleep 60").await);
    let first = shells.read_until("bash_1_0", "\n100\n").await;
    assert!(first.len() < 30_000, "{}", first.len());
    shells.workspace.clock.sleep(300).await;
    let some = shells.look(value!({ "task_id": "bash_1_0", "filter": "^7+$" })).await;
    assert!(some == "[running]\n7777\n" || some == "[running]\n(no new output)\n", "{some}");
    let bad = json(r#"{"task_id": "bash_1_0", "filter": "("}"#);
    let tool = TaskOutputTool::new(&shells.workspace.context);
    assert_eq!(&*failure_of(tool.run(call_context(), bad).await).code, "bad_pattern");
}

#[tokio::test]
async fn a_command_in_the_background_is_ended_with_its_family() {
    let shells = BackgroundFixture::new();
    let family = "sh -c 'echo $$ > grandchild; sleep 60; true' & echo $$ > child; sleep 60; true";
    success_text(shells.start(1, family).await);
    let (child, grandchild) =
        (shells.workspace.pid("child").await, shells.workspace.pid("grandchild").await);
    assert!(is_alive(child) && is_alive(grandchild));
    let output = success_text(shells.kill("bash_1_0").await);
    assert!(output.starts_with("bash_1_0 has ended; its output is in "), "{output}");
    assert!(!is_alive(child) && !is_alive(grandchild));
    let error = failure_of(shells.kill("bash_9_9").await);
    assert_eq!(&*error.code, "unknown_shell");
    assert!(error.hint.contains("bash_1_0"), "{}", error.hint);
}

#[tokio::test]
async fn commands_in_the_background_end_with_their_conversation() {
    let shells = BackgroundFixture::new();
    success_text(shells.start(1, "echo $$ > child; sleep 60; true").await);
    let child = shells.workspace.pid("child").await;
    shells.bash.on_lane_released(&LaneId::from("conversation:other"));
    assert!(is_alive(child));
    shells.bash.on_lane_released(&call_context().lane);
    shells.workspace.wait_until_gone(child, TERMINATION_GRACE_MS + 3_000).await;
    assert_eq!(&*failure_of(shells.kill("bash_1_0").await).code, "unknown_shell");
}

#[tokio::test]
async fn commands_that_are_kept_live_until_they_are_ended() {
    let shells = BackgroundFixture::new();
    let (tools, lane) = (shells.workspace.context.clone(), call_context().lane);
    tools.keep_background_commands(&lane);
    success_text(shells.start(1, "echo $$ > child; sleep 60; true").await);
    let child = shells.workspace.pid("child").await;
    shells.bash.on_lane_released(&lane);
    assert!(is_alive(child) && tools.list_background_commands(&lane).len() == 1);
    let ended = tools.end_background_commands(&lane);
    assert_eq!(ended.first().map(|command| &*command.id), Some("bash_1_0"));
    shells.workspace.wait_until_gone(child, TERMINATION_GRACE_MS + 3_000).await;
    // From then on they end with the conversation again.
    success_text(shells.start(2, "echo $$ > other; sleep 60; true").await);
    let other = shells.workspace.pid("other").await;
    shells.bash.on_lane_released(&lane);
    shells.workspace.wait_until_gone(other, TERMINATION_GRACE_MS + 3_000).await;
}

#[tokio::test]
async fn the_end_of_a_background_command_is_announced() {
    let shells = BackgroundFixture::new();
    let tools = shells.workspace.context.clone();
    let mut changes = tools.watch_background_commands();
    success_text(shells.start(1, "while [ ! -e go ]; do sleep 0.02; done").await);
    changes.changed().await.unwrap();
    changes.mark_unchanged();
    fs::write(shells.workspace.context.zones().root().join("go"), "").unwrap();
    changes.changed().await.unwrap();
    let known = tools.list_background_commands(&call_context().lane);
    assert!(known.iter().all(|command| !command.is_running && command.state == "exit code 0"));
}

#[tokio::test]
async fn commands_in_the_background_end_with_their_tools() {
    let shells = BackgroundFixture::new();
    success_text(shells.start(1, "echo $$ > child; sleep 60; true").await);
    let child = shells.workspace.pid("child").await;
    let BackgroundFixture { mut workspace, bash } = shells;
    drop(bash);
    workspace.context = windlass_tools::ToolContext::new(Path::new("/"));
    workspace.wait_until_gone(child, TERMINATION_GRACE_MS + 3_000).await;
}

#[tokio::test]
async fn there_are_only_so_many_at_once() {
    let shells = BackgroundFixture::new();
    for model_call in 0..MAX_BACKGROUND_COMMANDS as u32 {
        success_text(shells.start(model_call, "sleep 60").await);
    }
    assert_eq!(&*failure_of(shells.start(99, "sleep 60").await).code, "too_many_shells");
    success_text(shells.kill("bash_0_0").await);
    success_text(shells.start(99, "sleep 60").await);
}

#[tokio::test]
async fn a_running_command_moves_to_the_background_with_its_output() {
    let workspace = TestWorkspace::new();
    let context = reply(1);
    let (lane, tools) = (context.lane.clone(), workspace.context.clone());
    let text = "echo begun; while [ ! -e go ]; do sleep 0.02; done; echo done";
    let bash = workspace.bash();
    let running = tokio::spawn(async move { bash.run(context, input(text, 60_000)).await });
    while tools.move_to_background(&lane).is_empty() {
        tokio::task::yield_now().await;
    }
    let said = success_text(running.await.unwrap());
    assert!(said.contains("the user moved the command to the background"), "{said}");
    let listed = tools.list_background_commands(&lane);
    let [listed] = listed.as_slice() else { panic!("{listed:?}") };
    assert_eq!((listed.command.as_str(), listed.is_running), (text, true));
    fs::write(workspace.context.zones().root().join("go"), "").unwrap();
    let output = TaskOutputTool::new(&tools);
    let mut seen = String::new();
    while !seen.contains("done") {
        let asked = json(&value!({"task_id": listed.id}).to_string());
        seen.push_str(&success_text(output.run(reply(2), asked).await));
        tokio::task::yield_now().await;
    }
    assert!(seen.contains("begun"), "{seen}");
    assert!(!tools.stop_background_command(&lane, "unknown"));
    assert!(tools.move_to_background(&lane).is_empty());
}
