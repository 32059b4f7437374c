//! The standard tools in the real loop, on real files and processes.

use std::fs;
use std::path::Path;

use windlass::scripted::Script;
use windlass::sqlite::SqliteStore;
use windlass::tools::{ToolContext, standard_tools};
use windlass::{RunOutcome, Windlass};

use crate::kit::wait_until;

const SCRIPT: &str = r#"
when user is "read" and results 0
  call Read {"file_path": "a.txt"}
when user is "edit" and results 0
  call Edit {"file_path": "a.txt", "old_string": "old", "new_string": "new"}
when user is "move" and results 0
  call Bash {"command": "cd sub"}
when user is "where" and results 0
  call Bash {"command": "basename $(pwd) > ../where"}
when user is "serve" and results 0
  call Bash {"command": "echo $$ > pid; sleep 60; true", "run_in_background": true}
when result of Bash contains "in the background"
  call Bash {"command": "while [ ! -s pid ]; do sleep 0.01; done"}
when error contains "code"
  say "failed"
when any
  say "done"
"#;

/// A process of its own: nothing but its files is left of the one before.
fn process(folder: &Path, prompts: &[&str]) -> Vec<String> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let lines = runtime.block_on(async {
        let workplace = ToolContext::new(&folder.join("w")).with_state_folder(folder.join("state"));
        let windlass = Windlass::builder()
            .scripted_model(Script::parse(SCRIPT).unwrap())
            .store(SqliteStore::open(folder.join("w.db")).unwrap())
            .tools(standard_tools(&workplace))
            .allow_by_default()
            .start()
            .await
            .unwrap();
        let mut lines = Vec::new();
        for prompt in prompts {
            let run = windlass.session("lane").send(prompt).await.unwrap();
            match run.wait_for_end().await.unwrap() {
                RunOutcome::Finished(end) => lines.push(end.text.to_string()),
                other => panic!("{other:?}"),
            }
        }
        lines
    });
    runtime.shutdown_background();
    lines
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("w/sub")).unwrap();
    fs::write(folder.path().join("w/a.txt"), "old").unwrap();
    folder
}

// spec: RESUME-11
#[test]
fn who_goes_on_has_read_what_was_read() {
    let folder = folder();
    assert_eq!(process(folder.path(), &["edit"]), ["failed"]);
    assert_eq!(process(folder.path(), &["read"]), ["done"]);
    assert_eq!(process(folder.path(), &["edit"]), ["done"]);
    assert_eq!(fs::read_to_string(folder.path().join("w/a.txt")).unwrap(), "new");
}

// spec: RESUME-11
#[test]
fn who_goes_on_is_where_the_last_command_ended() {
    let folder = folder();
    process(folder.path(), &["move"]);
    process(folder.path(), &["where"]);
    assert_eq!(fs::read_to_string(folder.path().join("w/where")).unwrap(), "sub\n");
}

fn is_alive(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

// spec: INV-10
#[tokio::test]
async fn a_command_in_the_background_ends_with_its_run() {
    let folder = folder();
    let workplace = ToolContext::new(&folder.path().join("w"));
    let windlass = Windlass::builder()
        .scripted_model(Script::parse(SCRIPT).unwrap())
        .store(windlass::memory::MemoryStore::default())
        .tools(standard_tools(&workplace))
        .allow_by_default()
        .start()
        .await
        .unwrap();
    let run = windlass.session("lane").send("serve").await.unwrap();
    run.wait_for_end().await.unwrap();
    let pid = fs::read_to_string(folder.path().join("w/pid")).unwrap();
    wait_until("the command is gone", || !is_alive(pid.trim())).await;
}
