//! Reading files, and paths that are not files.

use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use windlass_core::call::call_facts::Repeatability;
use windlass_core::call::call_order::TouchedResources;
use windlass_core::call::outcome::{CallResult, SideEffects, ToolOutcome};
use windlass_runtime::ports::Tool;
use windlass_tools::ReadTool;
use windlass_tools::limits::{MAX_LINE_BYTES, MAX_PAGE_BYTES};

use crate::fixture::{TestWorkspace, call_context, failure_of, json, success_text};

fn code(outcome: ToolOutcome) -> String {
    failure_of(outcome).code.to_string()
}

#[tokio::test]
async fn lines_come_numbered() {
    let workspace = TestWorkspace::new();
    workspace.write("a.txt", "one\n\n  three\nno end");
    let page = success_text(workspace.read(r#"{"file_path": "a.txt"}"#).await);
    assert_eq!(page, "     1\tone\n     2\t\n     3\t  three\n     4\tno end\n");
}

#[tokio::test]
async fn a_page_begins_and_ends_where_it_is_told() {
    let workspace = TestWorkspace::new();
    workspace.write("a.txt", "1\n2\n3\n4\n");
    let page =
        success_text(workspace.read(r#"{"file_path": "a.txt", "offset": 2, "limit": 2}"#).await);
    assert_eq!(page, "     2\t2\n     3\t3\n[more lines: continue with offset 4]\n");
    let page =
        success_text(workspace.read(r#"{"file_path": "a.txt", "offset": 4, "limit": 1}"#).await);
    assert_eq!(page, "     4\t4\n");
    let error = failure_of(workspace.read(r#"{"file_path": "a.txt", "offset": 5}"#).await);
    assert_eq!(&*error.code, "offset_past_end");
    assert!(error.message.contains("has 4 lines"), "{}", error.message);
}

#[tokio::test]
async fn an_empty_file_says_so() {
    let workspace = TestWorkspace::new();
    workspace.write("a.txt", "");
    assert_eq!(
        success_text(workspace.read(r#"{"file_path": "a.txt"}"#).await),
        "[the file is empty]"
    );
    assert_eq!(
        code(workspace.read(r#"{"file_path": "a.txt", "offset": 2}"#).await),
        "offset_past_end"
    );
}

#[tokio::test]
async fn line_ends_and_odd_bytes_are_told() {
    let workspace = TestWorkspace::new();
    workspace.write("crlf.txt", "a\r\nb\r\nlast");
    let page = success_text(workspace.read(r#"{"file_path": "crlf.txt"}"#).await);
    assert_eq!(page, "     1\ta\n     2\tb\n     3\tlast\n[lines end in CR LF]\n");
    workspace.write("latin1.txt", b"caf\xe9\n\xff\n");
    let page = success_text(workspace.read(r#"{"file_path": "latin1.txt"}"#).await);
    assert_eq!(page, "     1\tcaf\u{fffd}\n     2\t\u{fffd}\n");
}

#[tokio::test]
async fn a_binary_file_is_refused() {
    let workspace = TestWorkspace::new();
    workspace.write("a.bin", b"\x7fELF\0\0");
    assert_eq!(code(workspace.read(r#"{"file_path": "a.bin"}"#).await), "binary_file");
}

#[tokio::test]
async fn a_long_line_is_cut_and_the_next_is_not() {
    let workspace = TestWorkspace::new();
    workspace.write("a.txt", format!("{}\nnext\n", "x".repeat(1_000_000)));
    let page = success_text(workspace.read(r#"{"file_path": "a.txt"}"#).await);
    let more = 1_000_000 - MAX_LINE_BYTES;
    assert!(page.contains(&format!("x[… {more} more bytes in this line]\n     2\tnext\n")));
}

#[tokio::test]
async fn a_large_file_comes_in_bounded_pages() {
    let workspace = TestWorkspace::new();
    let mut file = std::fs::File::create(workspace.path().join("large.txt")).unwrap();
    let lines: String = (0..100).map(|_| format!("{}\n", "y".repeat(99))).collect();
    (0..1_000).for_each(|_| file.write_all(lines.as_bytes()).unwrap());
    let page = success_text(workspace.read(r#"{"file_path": "large.txt", "limit": 50}"#).await);
    assert!(page.ends_with("[more lines: continue with offset 51]\n"));
    let page = success_text(workspace.read(r#"{"file_path": "large.txt", "limit": 100000}"#).await);
    assert!(page.len() < MAX_PAGE_BYTES + 100, "{}", page.len());
    let next = page.rsplit_once("offset ").unwrap().1.trim_end_matches("]\n");
    let rest = format!(r#"{{"file_path": "large.txt", "offset": {next}, "limit": 1}}"#);
    assert!(success_text(workspace.read(&rest).await).starts_with(&format!("{next:>6}\tyyy")));
    let end = success_text(workspace.read(r#"{"file_path": "large.txt", "offset": 100000}"#).await);
    assert!(end.starts_with("100000\tyyy") && end.lines().count() == 1);
}

// spec: ERRORS-04
#[tokio::test]
async fn a_missing_file_says_where_to_look() {
    let workspace = TestWorkspace::new();
    let outcome = workspace.read(r#"{"file_path": "no/such/file.txt"}"#).await;
    let error = failure_of(outcome.clone());
    assert_eq!((&*error.code, error.recoverable), ("file_not_found", true));
    let path = workspace.path().join("no/such/file.txt");
    assert!(error.message.contains(path.to_str().unwrap()), "{}", error.message);
    let hint = format!("list the directory {} first", workspace.path().display());
    assert!(error.hint.contains(&hint), "{}", error.hint);
    let output: String =
        CallResult::from_outcome(&outcome, 32_000, SideEffects::None).content.read().unwrap();
    let shown: serde_json::Value = serde_json::from_str(&output).unwrap();
    assert_eq!((&shown["code"], &shown["recoverable"]), (&"file_not_found".into(), &true.into()));
}

#[tokio::test]
async fn what_only_looks_like_a_file_is_refused_at_once() {
    let workspace = TestWorkspace::new();
    success_text(workspace.command("mkfifo pipe").await);
    let _socket = UnixListener::bind(workspace.path().join("socket")).unwrap();
    std::fs::create_dir(workspace.path().join("folder")).unwrap();
    symlink("/proc/self/environ", workspace.path().join("magic")).unwrap();
    symlink("pipe", workspace.path().join("to-pipe")).unwrap();
    let table = [
        ("pipe", "special_file"),
        ("to-pipe", "special_file"),
        ("socket", "special_file"),
        ("magic", "special_file"),
        ("folder", "is_a_directory"),
        (".", "is_a_directory"),
        ("/dev/zero", "special_file"),
        ("/dev/stdin", "special_file"),
        ("/proc/self/environ", "special_file"),
        ("/proc/self/root/etc/passwd", "special_file"),
        ("/proc/self/fd/0", "special_file"),
        ("/dev/../dev/tty", "special_file"),
        ("/sys/kernel/uevent_seqnum", "special_file"),
        ("pipe/below", "file_not_found"),
    ];
    for (path, expected) in table {
        let read = workspace.read(&format!(r#"{{"file_path": "{path}"}}"#)).await;
        assert_eq!(code(read), expected, "{path}");
    }
}

#[tokio::test]
async fn links_are_followed_and_loops_are_not() {
    let workspace = TestWorkspace::new();
    workspace.write("a.txt", "text");
    symlink("a.txt", workspace.path().join("link")).unwrap();
    symlink("loop", workspace.path().join("loop")).unwrap();
    symlink("nowhere", workspace.path().join("broken")).unwrap();
    assert_eq!(success_text(workspace.read(r#"{"file_path": "link"}"#).await), "     1\ttext\n");
    assert_eq!(code(workspace.read(r#"{"file_path": "loop"}"#).await), "read_failed");
    assert_eq!(code(workspace.read(r#"{"file_path": "broken"}"#).await), "file_not_found");
}

#[tokio::test]
async fn a_file_that_may_not_be_read_says_so() {
    let workspace = TestWorkspace::new();
    workspace.write("secret", "text");
    let secret = workspace.path().join("secret");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o0)).unwrap();
    // Root may read everything.
    if std::fs::read(&secret).is_err() {
        assert_eq!(code(workspace.read(r#"{"file_path": "secret"}"#).await), "permission_denied");
    }
}

#[tokio::test]
async fn odd_names_are_names() {
    let workspace = TestWorkspace::new();
    for name in ["-rf", "~", "two\nlines", "*", "$(id)", "שלום", &"n".repeat(255)] {
        workspace.write(name, "text");
        let input = serde_json::json!({ "file_path": name }).to_string();
        assert_eq!(success_text(workspace.read(&input).await), "     1\ttext\n", "{name}");
    }
    let long = serde_json::json!({ "file_path": "n".repeat(256) }).to_string();
    assert_eq!(code(workspace.read(&long).await), "read_failed");
}

#[tokio::test]
async fn reading_touches_the_file_and_may_be_repeated() {
    let workspace = TestWorkspace::new();
    let folder = workspace.path().canonicalize().unwrap();
    let read = ReadTool::new(&folder);
    let facts = read.assess(&json(r#"{"file_path": "a/../b.txt"}"#));
    let key: Arc<str> = Arc::from(folder.join("b.txt").to_str().unwrap());
    assert_eq!(facts.touches, TouchedResources::Reads(vec![key]));
    assert_eq!((facts.repeat, facts.problem), (Repeatability::Repeatable, None));
    assert_eq!(read.spec().input_schema.read::<serde_json::Value>().unwrap()["type"], "object");
}

#[tokio::test]
async fn an_input_that_does_not_fit_is_refused() {
    let workspace = TestWorkspace::new();
    let read = ReadTool::new(workspace.path());
    let inputs = [
        "[]",
        "{}",
        r#"{"file_path": ""}"#,
        r#"{"file_path": "a", "file_path": "b"}"#,
        r#"{"file_path": "a", "path": "b"}"#,
        r#"{"file_path": "a\u0000b"}"#,
        r#"{"file_path": "a", "offset": 0}"#,
        r#"{"file_path": "a", "limit": 0}"#,
        r#"{"file_path": "a", "offset": 1.5}"#,
        r#"{"file_path": "a", "offset": 99999999999999999999}"#,
    ];
    for input in inputs {
        let problem = read.assess(&json(input)).problem.unwrap();
        assert_eq!(&*problem.code, "invalid_input", "{input}");
        assert_eq!(failure_of(read.run(call_context(), json(input)).await), problem, "{input}");
    }
}
