//! Writing and editing: what was not seen is not overwritten, and what stays is kept to the byte.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::sync::Arc;

use tempfile::TempDir;
use windlass_core::facts::{Interrupt, Repeat, Verify};
use windlass_core::ids::{CallId, LaneId};
use windlass_core::input::Finding;
use windlass_core::order::Touches;
use windlass_core::outcome::Outcome;
use windlass_core::permission::{Access, Subject, Zone};
use windlass_runtime::ports::{CallContext, Tool};
use windlass_tools::{Edit, Read, Workplace, Write};

use crate::fixture::{Workspace, context, done, failed, json};

fn code(outcome: Outcome) -> String {
    failed(outcome).code.to_string()
}

#[tokio::test]
async fn a_new_file_is_made_with_its_folders() {
    let workspace = Workspace::new();
    let said = done(workspace.write_file("a/b/new.txt", "one\ntwo\n").await);
    assert!(said.starts_with("created ") && said.ends_with("new.txt (2 lines)"), "{said}");
    assert_eq!(workspace.bytes("a/b/new.txt"), b"one\ntwo\n");
    let left: Vec<_> = fs::read_dir(workspace.path().join("a/b")).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

// spec: TOOLS-01
#[tokio::test]
async fn what_was_not_read_is_not_overwritten() {
    let workspace = Workspace::new();
    workspace.write("a.txt", "mine");
    assert_eq!(code(workspace.write_file("a.txt", "yours").await), "file_not_read");
    assert_eq!(code(workspace.edit("a.txt", "mine", "yours").await), "file_not_read");
    assert_eq!(workspace.bytes("a.txt"), b"mine");
    workspace.see("a.txt").await;
    done(workspace.write_file("a.txt", "yours").await);
    assert_eq!(workspace.bytes("a.txt"), b"yours");
}

// spec: TOOLS-01
#[tokio::test]
async fn what_changed_since_it_was_read_is_not_overwritten() {
    let workspace = Workspace::new();
    workspace.write("a.txt", "one");
    workspace.see("a.txt").await;
    workspace.write("a.txt", "two");
    let error = failed(workspace.edit("a.txt", "two", "three").await);
    assert_eq!(&*error.code, "file_changed");
    assert!(error.hint.contains("read it again") && error.recoverable, "{error:?}");
    assert_eq!(code(workspace.write_file("a.txt", "three").await), "file_changed");
    assert_eq!(workspace.bytes("a.txt"), b"two");
    workspace.see("a.txt").await;
    done(workspace.edit("a.txt", "two", "three").await);
    // Who wrote a file knows what is in it.
    done(workspace.edit("a.txt", "three", "four").await);
    assert_eq!(workspace.bytes("a.txt"), b"four");
}

#[tokio::test]
async fn an_edit_says_where_it_is() {
    let workspace = Workspace::new();
    workspace.write("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    workspace.see("a.txt").await;
    let said = done(workspace.edit("a.txt", "5\n", "five\nmore\n").await);
    let lines = "     2\t2\n     3\t3\n     4\t4\n     5\tfive\n     6\tmore\n     7\t6\n     8\t7\n     9\t8\n    10\t9\n";
    assert!(said.starts_with("replaced once in ") && said.ends_with(lines), "{said}");
}

#[tokio::test]
async fn an_edit_is_exact_and_unique_or_everywhere() {
    let workspace = Workspace::new();
    workspace.write("a.txt", "a b a");
    workspace.see("a.txt").await;
    assert_eq!(code(workspace.edit("a.txt", "A", "x").await), "not_found");
    let error = failed(workspace.edit("a.txt", "a", "x").await);
    assert_eq!((&*error.code, error.message.contains("2 times")), ("not_unique", true));
    let all =
        r#"{"file_path": "a.txt", "old_string": "a", "new_string": "aa", "replace_all": true}"#;
    let said = done(Edit::new(&workspace.workplace).run(context(), json(all)).await);
    assert!(said.starts_with("replaced 2 times"), "{said}");
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
    let workspace = Workspace::new();
    for (name, before, after) in table {
        workspace.write(name, &before);
        workspace.see(name).await;
        done(workspace.edit(name, "old\n", "new\nline\n").await);
        assert_eq!(workspace.bytes(name), after, "{name}");
        if name != "latin1" && name != "mixed" {
            done(workspace.write_file(name, "x\ny\n").await);
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
    let workspace = Workspace::new();
    workspace.write("run.sh", "old");
    let path = workspace.path().join("run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    symlink("run.sh", workspace.path().join("link")).unwrap();
    let inode = fs::metadata(&path).unwrap().ino();
    workspace.see("link").await;
    done(workspace.edit("link", "old", "new").await);
    assert_eq!(workspace.bytes("run.sh"), b"new");
    assert!(fs::symlink_metadata(workspace.path().join("link")).unwrap().is_symlink());
    let found = fs::metadata(&path).unwrap();
    assert_eq!(found.permissions().mode() & 0o7777, 0o750);
    assert_ne!(found.ino(), inode, "it was written in place");
}

/// A conversation that goes on in another process has read what it has read.
#[tokio::test]
async fn what_was_read_is_remembered_by_whoever_resumes() {
    let state = TempDir::new().unwrap();
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.txt"), "old").unwrap();
    let first = Workplace::new(folder.path()).keeping_in(state.path());
    done(Read::new(first).run(context(), json(r#"{"file_path": "a.txt"}"#)).await);
    let edit = json(r#"{"file_path": "a.txt", "old_string": "old", "new_string": "new"}"#);
    let second = Workplace::new(folder.path()).keeping_in(state.path());
    let other = CallContext { lane: LaneId::from("conversation:other"), ..context() };
    assert_eq!(code(Edit::new(&second).run(other, edit.clone()).await), "file_not_read");
    done(Edit::new(&second).run(context(), edit).await);
    let mode = fs::metadata(state.path().read_dir().unwrap().next().unwrap().unwrap().path());
    assert_eq!(mode.unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn after_a_crash_it_is_known_whether_a_change_took_place() {
    let workspace = Workspace::new();
    let write = Write::new(&workspace.workplace);
    let input = json(r#"{"file_path": "a.txt", "content": "new"}"#);
    let verify = || write.verify(context(), input.clone());
    assert_eq!(verify().await, Finding::Unknown {});
    done(write.run(context(), input.clone()).await);
    assert!(matches!(verify().await, Finding::Happened { .. }));
    fs::remove_file(workspace.path().join("a.txt")).unwrap();
    assert_eq!(verify().await, Finding::DidNotHappen {});
    workspace.write("a.txt", "somebody else's");
    assert_eq!(verify().await, Finding::Unknown {});
    let other = CallContext { idempotency_key: Arc::from("another"), ..context() };
    assert_eq!(write.verify(other, input.clone()).await, Finding::Unknown {});
    let elsewhere = CallContext { call: CallId { ask: 9, index: 7 }, ..context() };
    assert_eq!(write.verify(elsewhere, input.clone()).await, Finding::Unknown {});
}

#[tokio::test]
async fn a_folder_without_rights_or_a_full_disk_leaves_the_file_as_it_was() {
    let workspace = Workspace::new();
    workspace.write("a.txt", "old");
    workspace.see("a.txt").await;
    fs::create_dir(workspace.path().join("folder")).unwrap();
    assert_eq!(code(workspace.write_file("folder", "text").await), "is_a_directory");
    assert_eq!(code(workspace.write_file(".", "text").await), "is_a_directory");
    assert_eq!(code(workspace.write_file("a.txt/below", "text").await), "write_failed");
    assert_eq!(code(workspace.write_file(&"n".repeat(256), "text").await), "read_failed");
    assert_eq!(workspace.bytes("a.txt"), b"old");
}

#[tokio::test]
async fn what_is_marked_as_not_to_be_written_is_not() {
    let workspace = Workspace::new();
    workspace.write("a.txt", "old");
    let mode = fs::Permissions::from_mode(0o444);
    fs::set_permissions(workspace.path().join("a.txt"), mode).unwrap();
    workspace.see("a.txt").await;
    assert_eq!(code(workspace.edit("a.txt", "old", "new").await), "read_only");
    assert_eq!(workspace.bytes("a.txt"), b"old");
}

#[tokio::test]
async fn what_is_remembered_is_bounded_and_can_be_thrown_away() {
    let state = TempDir::new().unwrap();
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.txt"), "old").unwrap();
    let workplace = Workplace::new(folder.path()).keeping_in(state.path());
    let read = json(r#"{"file_path": "a.txt"}"#);
    done(Read::new(&workplace).run(context(), read).await);
    // What tools remember is not for tools to change.
    let note = value_of(&state.path().join("x"));
    assert_eq!(code(Write::new(&workplace).run(context(), note).await), "protected_path");
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 1);
    workplace.forget(&context().lane).unwrap();
    workplace.forget(&context().lane).unwrap();
    assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
    let edit = json(r#"{"file_path": "a.txt", "old_string": "old", "new_string": "new"}"#);
    assert_eq!(code(Edit::new(&workplace).run(context(), edit).await), "file_not_read");
}

fn value_of(path: &std::path::Path) -> windlass_core::raw::Raw {
    json(&serde_json::json!({ "file_path": path, "content": "" }).to_string())
}

#[test]
fn a_change_writes_one_path_and_runs_once() {
    let workspace = Workspace::new();
    let root = workspace.workplace.zones().root().to_owned();
    let write = Write::new(&workspace.workplace);
    let input = json(r#"{"file_path": "x/../a.txt", "content": ""}"#);
    let facts = write.assess(&input);
    let key: Arc<str> = Arc::from(root.join("a.txt").to_str().unwrap());
    assert_eq!(facts.touches, Touches::Writes(vec![Arc::clone(&key)]));
    assert_eq!((facts.repeat, facts.verify), (Repeat::OnceOnly, Verify::CanTell));
    assert_eq!(facts.interrupt, Interrupt::RunsToEnd);
    let Subject::Paths(paths) = facts.subject else { panic!("no paths") };
    assert_eq!(
        (&paths[0].path, paths[0].access, paths[0].zone),
        (&key, Access::Write, Zone::Workspace)
    );
    let hook = json(r#"{"file_path": ".git/hooks/x", "old_string": "a", "new_string": "b"}"#);
    let hook = Edit::new(&workspace.workplace).assess(&hook);
    let Subject::Paths(paths) = hook.subject else { panic!() };
    assert!(paths.iter().all(|used| used.zone == Zone::Protected));
    let read = Read::new(&workspace.workplace);
    let read = read.assess_on(&context().lane, &json(r#"{"file_path": "../a"}"#));
    let Subject::Paths(paths) = read.subject else { panic!("no paths") };
    assert_eq!((paths[0].access, paths[0].zone), (Access::Read, Zone::Outside));
}

#[tokio::test]
async fn an_input_that_does_not_fit_changes_nothing() {
    let workspace = Workspace::new();
    let (write, edit) = (Write::new(&workspace.workplace), Edit::new(&workspace.workplace));
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
            assert_eq!(failed(tool.run(context(), json(input)).await), problem, "{input}");
        }
    }
    assert!(!workspace.path().join("a").exists());
}
