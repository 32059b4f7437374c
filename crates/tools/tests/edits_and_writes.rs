//! Writing and editing: a file that was not read is not overwritten, and the rest of a file is kept
//! to the byte.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::Arc;

use tempfile::TempDir;
use windlass_core::call::call_facts::{Interruptibility, ProbeSupport, Repeatability};
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::ToolOutcome;
use windlass_core::log::ids::{CallId, LaneId};
use windlass_core::log::input::ProbeResult;
use windlass_core::permission::{CallSubject, PathAccess, PathZone};
use windlass_runtime::ports::{CallContext, Tool};
use windlass_tools::{EditTool, ReadTool, ToolContext, WriteTool};

use crate::fixture::{TestWorkspace, call_context, failure_of, json, success_text};

fn code(outcome: ToolOutcome) -> String {
    failure_of(outcome).code.to_string()
}

#[tokio::test]
async fn a_new_file_is_made_with_its_folders() {
    let workspace = TestWorkspace::new();
    let output = success_text(workspace.write_file("a/b/new.txt", "one\ntwo\n").await);
    assert!(output.starts_with("created ") && output.ends_with("new.txt (2 lines)"), "{output}");
    assert_eq!(workspace.bytes("a/b/new.txt"), b"one\ntwo\n");
    let left: Vec<_> = fs::read_dir(workspace.path().join("a/b")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

// spec: TOOLS-01
#[tokio::test]
async fn what_was_not_read_is_not_overwritten() {
    let workspace = TestWorkspace::new();
    workspace.write("a.txt", "mine");
    assert_eq!(code(workspace.write_file("a.txt", "yours").await), "file_not_read");
    assert_eq!(code(workspace.edit("a.txt", "mine", "yours").await), "file_not_read");
    assert_eq!(workspace.bytes("a.txt"), b"mine");
    workspace.read_first("a.txt").await;
    success_text(workspace.write_file("a.txt", "yours").await);
    assert_eq!(workspace.bytes("a.txt"), b"yours");
}

// spec: TOOLS-01
#[tokio::test]
async fn what_changed_since_it_was_read_is_not_overwritten() {
    let workspace = TestWorkspace::new();
    workspace.write("a.txt", "one");
    workspace.read_first("a.txt").await;
    workspace.write("a.txt", "two");
    let error = failure_of(workspace.edit("a.txt", "two", "three").await);
    assert_eq!(&*error.code, "file_changed");
    assert!(error.hint.contains("read it again") && error.recoverable, "{error:?}");
    assert_eq!(code(workspace.write_file("a.txt", "three").await), "file_changed");
    assert_eq!(workspace.bytes("a.txt"), b"two");
    workspace.read_first("a.txt").await;
    success_text(workspace.edit("a.txt", "two", "three").await);
    // A model that wrote a file knows its contents.
    success_text(workspace.edit("a.txt", "three", "four").await);
    assert_eq!(workspace.bytes("a.txt"), b"four");
}

#[tokio::test]
async fn an_edit_says_where_it_is() {
    let workspace = TestWorkspace::new();
    workspace.write("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    workspace.read_first("a.txt").await;
    let output = success_text(workspace.edit("a.txt", "5\n", "five\nmore\n").await);
    let lines = "     2\t2\n     3\t3\n     4\t4\n     5\tfive\n     6\tmore\n     7\t6\n     8\t7\n     9\t8\n    10\t9\n";
    assert!(output.starts_with("replaced once in ") && output.ends_with(lines), "{output}");
}

#[tokio::test]
async fn an_edit_is_exact_and_unique_or_everywhere() {
    let workspace = TestWorkspace::new();
    workspace.write("a.txt", "a b a");
    workspace.read_first("a.txt").await;
    assert_eq!(code(workspace.edit("a.txt", "A", "x").await), "not_found");
    let error = failure_of(workspace.edit("a.txt", "a", "x").await);
    assert_eq!((&*error.code, error.message.contains("2 times")), ("not_unique", true));
    let all =
        r#"{"file_path": "a.txt", "old_string": "a", "new_string": "aa", "replace_all": true}"#;
    let output =
        success_text(EditTool::new(&workspace.context).run(call_context(), json(all)).await);
    assert!(output.starts_with("replaced 2 times"), "{output}");
    assert_eq!(workspace.bytes("a.txt"), b"aa b aa");
    assert_eq!(code(workspace.edit("none.txt", "a", "b").await), "file_not_found");
}

#[tokio::test]
async fn line_ends_and_encodings_are_kept() {
    let utf16 = |text: &str| {
        let units = text.encode_utf16().flat_map(u16::to_le_bytes);
        [b"\xff\xfe".as_slice(), &units.collect::<Vec<u8>>()].concat()
    };
    let table: [(&str, Vec<u8>, Vec<u8>); 6] = [
        ("lf", b"a\nold\n".to_vec(), b"a\nnew\nline\n".to_vec()),
        ("crlf", b"a\r\nold\r\n".to_vec(), b"a\r\nnew\r\nline\r\n".to_vec()),
        ("bom", b"\xef\xbb\xbfa\nold\n".to_vec(), b"\xef\xbb\xbfa\nnew\nline\n".to_vec()),
        ("utf16", utf16("é\r\nold\r\n"), utf16("é\r\nnew\r\nline\r\n")),
        ("latin1", b"caf\xe9\nold\n".to_vec(), b"caf\xe9\nnew\nline\n".to_vec()),
        ("mixed", b"a\r\nold\nb\n".to_vec(), b"a\r\nnew\nline\nb\n".to_vec()),
    ];
    let workspace = TestWorkspace::new();
    for (name, before, after) in table {
        workspace.write(name, &before);
        workspace.read_first(name).await;
        success_text(workspace.edit(name, "old\n", "new\nline\n").await);
        assert_eq!(workspace.bytes(name), after, "{name}");
        if name != "latin1" && name != "mixed" {
            success_text(workspace.write_file(name, "x\ny\n").await);
            let first = if name == "utf16" { utf16("x\r\ny\r\n") } else { b"x\ny\n".to_vec() };
            let expected = match name {
                "crlf" => b"x\r\ny\r\n".to_vec(),
                "bom" => [b"\xef\xbb\xbf".as_slice(), &first].concat(),
                _ => first,
            };
            assert_eq!(workspace.bytes(name), expected, "{name}");
        }
    }
}

#[tokio::test]
async fn the_mode_and_the_link_are_kept_and_the_file_is_another() {
    let workspace = TestWorkspace::new();
    workspace.write("run.sh", "old");
    let path = workspace.path().join("run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    symlink("run.sh", workspace.path().join("link")).unwrap();
    let inode = fs::metadata(&path).unwrap().ino();
    workspace.read_first("link").await;
    success_text(workspace.edit("link", "old", "new").await);
    assert_eq!(workspace.bytes("run.sh"), b"new");
    assert!(fs::symlink_metadata(workspace.path().join("link")).unwrap().is_symlink());
    let found = fs::metadata(&path).unwrap();
    assert_eq!(found.permissions().mode() & 0o7777, 0o750);
    assert_ne!(found.ino(), inode, "it was written in place");
}

/// A conversation that continues in another process keeps its record of read files.
#[tokio::test]
async fn what_was_read_is_remembered_by_whoever_resumes() {
    let state = TempDir::new().unwrap();
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.txt"), "old").unwrap();
    let first = ToolContext::new(folder.path()).with_state_folder(state.path());
    success_text(ReadTool::new(first).run(call_context(), json(r#"{"file_path": "a.txt"}"#)).await);
    let edit = json(r#"{"file_path": "a.txt", "old_string": "old", "new_string": "new"}"#);
    let second = ToolContext::new(folder.path()).with_state_folder(state.path());
    let other = CallContext { lane: LaneId::from("conversation:other"), ..call_context() };
    assert_eq!(code(EditTool::new(&second).run(other, edit.clone()).await), "file_not_read");
    success_text(EditTool::new(&second).run(call_context(), edit).await);
    let mode = fs::metadata(state.path().read_dir().unwrap().next().unwrap().unwrap().path());
    assert_eq!(mode.unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn after_a_crash_it_is_known_whether_a_change_took_place() {
    let workspace = TestWorkspace::new();
    let write = WriteTool::new(&workspace.context);
    let input = json(r#"{"file_path": "a.txt", "content": "new"}"#);
    let verify = || write.probe(call_context(), input.clone());
    assert_eq!(verify().await, ProbeResult::Unknown {});
    success_text(write.run(call_context(), input.clone()).await);
    assert!(matches!(verify().await, ProbeResult::Happened { .. }));
    fs::remove_file(workspace.path().join("a.txt")).unwrap();
    assert_eq!(verify().await, ProbeResult::DidNotHappen {});
    workspace.write("a.txt", "somebody else's");
    assert_eq!(verify().await, ProbeResult::Unknown {});
    let other = CallContext { idempotency_key: Arc::from("another"), ..call_context() };
    assert_eq!(write.probe(other, input.clone()).await, ProbeResult::Unknown {});
    let elsewhere = CallContext { call: CallId { model_call: 9, index: 7 }, ..call_context() };
    assert_eq!(write.probe(elsewhere, input.clone()).await, ProbeResult::Unknown {});
}

#[tokio::test]
async fn a_folder_without_rights_or_a_full_disk_leaves_the_file_as_it_was() {
    let workspace = TestWorkspace::new();
    workspace.write("a.txt", "old");
    workspace.read_first("a.txt").await;
    fs::create_dir(workspace.path().join("folder")).unwrap();
    assert_eq!(code(workspace.write_file("folder", "text").await), "is_a_directory");
    assert_eq!(code(workspace.write_file(".", "text").await), "is_a_directory");
    assert_eq!(code(workspace.write_file("a.txt/below", "text").await), "write_failed");
    assert_eq!(code(workspace.write_file(&"n".repeat(256), "text").await), "read_failed");
    assert_eq!(workspace.bytes("a.txt"), b"old");
}

#[tokio::test]
async fn what_is_marked_as_not_to_be_written_is_not() {
    let workspace = TestWorkspace::new();
    workspace.write("a.txt", "old");
    let mode = fs::Permissions::from_mode(0o444);
    fs::set_permissions(workspace.path().join("a.txt"), mode).unwrap();
    workspace.read_first("a.txt").await;
    assert_eq!(code(workspace.edit("a.txt", "old", "new").await), "read_only");
    assert_eq!(workspace.bytes("a.txt"), b"old");
}

#[tokio::test]
async fn what_is_remembered_is_bounded_and_can_be_thrown_away() {
    let state = TempDir::new().unwrap();
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.txt"), "old").unwrap();
    let workplace = ToolContext::new(folder.path()).with_state_folder(state.path());
    let read = json(r#"{"file_path": "a.txt"}"#);
    success_text(ReadTool::new(&workplace).run(call_context(), read).await);
    // Tools must not change their own state.
    let note = value_of(&state.path().join("x"));
    assert_eq!(code(WriteTool::new(&workplace).run(call_context(), note).await), "protected_path");
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 1);
    workplace.delete_state(&call_context().lane).unwrap();
    workplace.delete_state(&call_context().lane).unwrap();
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
    let edit = json(r#"{"file_path": "a.txt", "old_string": "old", "new_string": "new"}"#);
    assert_eq!(code(EditTool::new(&workplace).run(call_context(), edit).await), "file_not_read");
}

fn value_of(path: &std::path::Path) -> windlass_core::message::raw_json::RawJson {
    json(&serde_json::json!({ "file_path": path, "content": "" }).to_string())
}

#[test]
fn a_change_writes_one_path_and_runs_once() {
    let workspace = TestWorkspace::new();
    let root = workspace.context.zones().root().to_owned();
    let write = WriteTool::new(&workspace.context);
    let input = json(r#"{"file_path": "x/../a.txt", "content": ""}"#);
    let facts = write.assess(&input);
    let key: Arc<str> = Arc::from(root.join("a.txt").to_str().unwrap());
    assert_eq!(facts.touches, TouchedResources::Writes(vec![Arc::clone(&key)]));
    assert_eq!((facts.repeat, facts.probe), (Repeatability::OnceOnly, ProbeSupport::Supported));
    assert_eq!(facts.interrupt, Interruptibility::RunsToEnd);
    let CallSubject::Paths(paths) = facts.subject else { panic!("no paths") };
    assert_eq!(
        (&paths[0].path, paths[0].access, paths[0].zone),
        (&key, PathAccess::Write, PathZone::Workspace)
    );
    let hook = json(r#"{"file_path": ".git/hooks/x", "old_string": "a", "new_string": "b"}"#);
    let hook = EditTool::new(&workspace.context).assess(&hook);
    let CallSubject::Paths(paths) = hook.subject else { panic!() };
    assert!(paths.iter().all(|used| used.zone == PathZone::Protected));
    let read = ReadTool::new(&workspace.context);
    let read = read.assess_in_lane(&call_context().lane, &json(r#"{"file_path": "../a"}"#));
    let CallSubject::Paths(paths) = read.subject else { panic!("no paths") };
    assert_eq!((paths[0].access, paths[0].zone), (PathAccess::Read, PathZone::Outside));
}

#[tokio::test]
async fn an_input_that_does_not_fit_changes_nothing() {
    let workspace = TestWorkspace::new();
    let (write, edit) = (WriteTool::new(&workspace.context), EditTool::new(&workspace.context));
    let tools: [(&dyn Tool, &[&str]); 2] = [
        (
            &write,
            &[
                "[]",
                r#"{"file_path": "a"}"#,
                r#"{"file_path": "", "content": ""}"#,
                r#"{"file_path": "a", "content": 1}"#,
                r#"{"file_path": "a", "content": "", "mode": 7}"#,
                r#"{"file_path": "a", "content": "x", "content": "y"}"#,
                r#"{"file_path": "a\u0000", "content": "x"}"#,
                r#"{"file_path": "a", "content": "x", "__proto__": {}}"#,
            ],
        ),
        (
            &edit,
            &[
                r#"{"file_path": "a", "old_string": "", "new_string": "b"}"#,
                r#"{"file_path": "a", "old_string": "b", "new_string": "b"}"#,
                r#"{"file_path": "a", "old_string": "b", "new_string": "c", "replace_all": 1}"#,
                r#"{"file_path": "a", "old_string": "b", "new_string": "c", "old_string": "d"}"#,
            ],
        ),
    ];
    for (tool, inputs) in tools {
        for input in inputs {
            let problem = tool.assess(&json(input)).problem.unwrap();
            assert_eq!(&*problem.code, "invalid_input", "{input}");
            assert_eq!(failure_of(tool.run(call_context(), json(input)).await), problem, "{input}");
        }
    }
    assert!(!workspace.path().join("a").exists());
}
