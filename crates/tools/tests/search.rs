//! Finding files by name and by content.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json as value};
use windlass_core::call::call_facts::Repeatability;
use windlass_core::call::call_order::TouchedResources;
use windlass_core::permission::{CallSubject, PathAccess, PathZone, PermissionRule, Permissions};
use windlass_runtime::ports::{Clock, Tool};
use windlass_tools::limits::{DEFAULT_GREP_LINES, MAX_GLOB_RESULTS, MAX_SEARCH_RESULT_BYTES};
use windlass_tools::{GlobTool, GrepTool, ToolContext};

use crate::fixture::{TestWorkspace, call_context, failure_of, json, success_text};

fn project() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    for folder in ["src/deep", "target", ".git", "secrets", ".hidden"] {
        fs::create_dir_all(workspace.path().join(folder)).unwrap();
    }
    workspace.write(".gitignore", "target/\n*.log\n");
    workspace.write("src/main.rs", "fn main() {\n    needle();\n}\n");
    workspace.write("src/deep/lib.rs", "// Needle\n\nfn needle() {}\n");
    workspace.write("src/deep/notes.md", "a needle\nin\nhay\n");
    workspace.write("target/out.rs", "needle");
    workspace.write("debug.log", "needle");
    workspace.write(".git/config", "needle");
    workspace.write("secrets/k", "needle");
    workspace.write(".hidden/h.rs", "needle");
    workspace.write("binary", b"needle\0\0needle");
    workspace
}

async fn search(tool: &dyn Tool, workspace: &TestWorkspace, input: Value) -> String {
    let output = success_text(tool.run(call_context(), json(&input.to_string())).await);
    let root = workspace.context.zones().root().to_str().unwrap().to_owned();
    output.replace(&format!("{root}/"), "")
}

async fn grep(workspace: &TestWorkspace, input: Value) -> String {
    search(&GrepTool::new(&workspace.context), workspace, input).await
}

async fn glob(workspace: &TestWorkspace, input: Value) -> String {
    search(&GlobTool::new(&workspace.context), workspace, input).await
}

fn sorted_lines(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[tokio::test]
async fn names_are_found_at_any_depth_and_ignored_ones_are_not() {
    let workspace = project();
    let found = glob(&workspace, value!({ "pattern": "*.rs" })).await;
    assert_eq!(sorted_lines(&found), [".hidden/h.rs", "src/deep/lib.rs", "src/main.rs"]);
    let found = glob(&workspace, value!({ "pattern": "src/*.rs" })).await;
    assert_eq!(found, "src/main.rs\n");
    let found = glob(&workspace, value!({ "pattern": "**/*.{rs,md}", "path": "src/deep" })).await;
    assert_eq!(sorted_lines(&found), ["src/deep/lib.rs", "src/deep/notes.md"]);
    assert_eq!(glob(&workspace, value!({ "pattern": "*.zig" })).await, "no files found\n");
}

#[tokio::test]
async fn the_newest_comes_first_and_there_is_an_end() {
    let workspace = TestWorkspace::new();
    for n in 0..MAX_GLOB_RESULTS + 20 {
        workspace.write(&format!("{n}.txt"), "");
        let file = fs::File::options().write(true).open(workspace.path().join(format!("{n}.txt")));
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + n as u64);
        file.unwrap().set_modified(at).unwrap();
    }
    let found = glob(&workspace, value!({ "pattern": "*.txt" })).await;
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), MAX_GLOB_RESULTS + 1);
    assert_eq!(lines[0], format!("{}.txt", MAX_GLOB_RESULTS + 19));
    assert!(lines[MAX_GLOB_RESULTS].contains("more results"), "{}", lines[MAX_GLOB_RESULTS]);
}

#[tokio::test]
async fn contents_come_in_the_shape_asked_for() {
    let workspace = project();
    let files = grep(&workspace, value!({ "pattern": "needle" })).await;
    let all = [".hidden/h.rs", "secrets/k", "src/deep/lib.rs", "src/deep/notes.md", "src/main.rs"];
    assert_eq!(sorted_lines(&files), all);
    let lines =
        grep(&workspace, value!({ "pattern": "needle", "path": "src", "output_mode": "content" }))
            .await;
    let expected = "src/deep/lib.rs:3:fn needle() {}\nsrc/deep/notes.md:1:a needle\n\
                    src/main.rs:2:    needle();\n";
    assert_eq!(lines, expected);
    let counts =
        value!({ "pattern": "needle", "path": "src/deep", "output_mode": "count", "-i": true });
    assert_eq!(grep(&workspace, counts).await, "src/deep/lib.rs:2\nsrc/deep/notes.md:1\n");
    let plain = value!({ "pattern": "needle", "path": "src/main.rs", "output_mode": "content", "-n": false });
    assert_eq!(grep(&workspace, plain).await, "src/main.rs:    needle();\n");
    assert_eq!(grep(&workspace, value!({ "pattern": "no such" })).await, "no matches found\n");
}

#[tokio::test]
async fn context_comes_with_the_lines() {
    let workspace = TestWorkspace::new();
    workspace.write("a", "1\n2\nX\n4\n5\n6\n7\nX\n9\n");
    let around = |key: &str| {
        let mut input = value!({ "pattern": "X", "output_mode": "content" });
        input[key] = value!(1);
        input
    };
    assert_eq!(grep(&workspace, around("-B")).await, "a-2-2\na:3:X\n--\na-7-7\na:8:X\n");
    assert_eq!(grep(&workspace, around("-A")).await, "a:3:X\na-4-4\n--\na:8:X\na-9-9\n");
    let both = grep(&workspace, around("-C")).await;
    assert_eq!(both, "a-2-2\na:3:X\na-4-4\n--\na-7-7\na:8:X\na-9-9\n");
}

#[tokio::test]
async fn filters_by_glob_and_type_and_matches_across_lines() {
    let workspace = project();
    let found = grep(&workspace, value!({ "pattern": "needle", "glob": "*.md" })).await;
    assert_eq!(found, "src/deep/notes.md\n");
    let found =
        grep(&workspace, value!({ "pattern": "needle", "type": "rust", "path": "src" })).await;
    assert_eq!(sorted_lines(&found), ["src/deep/lib.rs", "src/main.rs"]);
    let across = value!({ "pattern": "needle.in", "multiline": true, "output_mode": "content" });
    let expected = "src/deep/notes.md:1:a needle\nsrc/deep/notes.md:2:in\n";
    assert_eq!(grep(&workspace, across).await, expected);
    assert_eq!(grep(&workspace, value!({ "pattern": "needle.in" })).await, "no matches found\n");
}

#[tokio::test]
async fn a_search_brings_a_bounded_part() {
    let workspace = TestWorkspace::new();
    let lines: String = (0..100_000).map(|n| format!("line {n}\n")).collect();
    workspace.write("a.txt", lines);
    workspace.write("long.txt", "line ".repeat(1_000_000));
    let all = value!({ "pattern": "line", "output_mode": "content", "head_limit": 0 });
    let found = grep(&workspace, all).await;
    assert!(
        found.len() < 2 * MAX_SEARCH_RESULT_BYTES && found.contains("[more results"),
        "{}",
        found.len()
    );
    let found = grep(&workspace, value!({ "pattern": "line", "output_mode": "content" })).await;
    assert_eq!(found.lines().count(), DEFAULT_GREP_LINES + 1);
    let page =
        value!({ "pattern": "line", "output_mode": "content", "head_limit": 2, "offset": 5 });
    let page = grep(&workspace, page).await;
    assert!(page.starts_with("a.txt:6:line 5\na.txt:7:line 6\n[more results"), "{page}");
    let long = value!({ "pattern": "line", "output_mode": "content", "path": "long.txt" });
    let long = grep(&workspace, long).await;
    assert!(long.contains("more bytes]") && long.len() < 2_000, "{}", long.len());
}

#[tokio::test]
async fn what_is_hidden_from_searches_is_not_found() {
    let mut workspace = project();
    let root = workspace.context.zones().root().to_owned();
    workspace.context = ToolContext::new(&root).with_hidden_patterns(["secrets/**"]);
    let files = grep(&workspace, value!({ "pattern": "needle" })).await;
    assert!(!files.contains("secrets"), "{files}");
    assert!(!glob(&workspace, value!({ "pattern": "**/*" })).await.contains("secrets"));
    let beside = grep(&workspace, value!({ "pattern": "needle", "path": "secrets" })).await;
    assert_eq!(beside, "no matches found\n");
    for path in ["secrets/k", "./src/../secrets/k"] {
        let input = json(&value!({ "pattern": "needle", "path": path }).to_string());
        let error = failure_of(GrepTool::new(&workspace.context).run(call_context(), input).await);
        assert_eq!(&*error.code, "hidden", "{path}");
    }
}

#[tokio::test]
async fn what_a_rule_denies_to_read_is_not_found_by_searching() {
    let mut workspace = project();
    let root = workspace.context.zones().root().to_owned();
    let rules = Permissions {
        deny: vec![
            PermissionRule::parse("Read(secrets/**)").unwrap(),
            PermissionRule::parse("Read(*.md)").unwrap(),
        ],
        root: root.to_str().unwrap().into(),
        ..Permissions::default()
    };
    symlink("secrets", root.join("alias")).unwrap();
    workspace.context = ToolContext::new(&root).with_rules(rules);
    let files = grep(&workspace, value!({ "pattern": "needle" })).await;
    assert_eq!(sorted_lines(&files), [".hidden/h.rs", "src/deep/lib.rs", "src/main.rs"]);
    for path in ["secrets/k", "alias/k"] {
        let input = json(&value!({ "pattern": "needle", "path": path }).to_string());
        let error = failure_of(GrepTool::new(&workspace.context).run(call_context(), input).await);
        assert_eq!(&*error.code, "hidden", "{path}");
    }
    assert!(!glob(&workspace, value!({ "pattern": "**/*" })).await.contains("secrets"));
}

#[tokio::test]
async fn a_name_does_not_look_like_two() {
    let workspace = TestWorkspace::new();
    workspace.write("a\nforged.rs:1:needle", "needle\n");
    let found = grep(&workspace, value!({ "pattern": "needle", "output_mode": "content" })).await;
    assert!(found.lines().count() == 1 && found.ends_with(":1:needle\n"), "{found}");
    assert_eq!(glob(&workspace, value!({ "pattern": "a*" })).await.lines().count(), 1);
}

#[tokio::test]
async fn a_search_follows_no_link() {
    let workspace = project();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x.rs"), "needle").unwrap();
    symlink(outside.path(), workspace.path().join("out")).unwrap();
    symlink("..", workspace.path().join("src/up")).unwrap();
    let files = grep(&workspace, value!({ "pattern": "needle", "glob": "*.rs" })).await;
    assert_eq!(files.lines().count(), 3, "{files}");
    let error = json(r#"{"pattern": "needle", "path": "out"}"#);
    let error = failure_of(GrepTool::new(&workspace.context).run(call_context(), error).await);
    assert_eq!(&*error.code, "outside_workspace");
}

#[tokio::test]
async fn what_cannot_be_searched_is_told() {
    let workspace = project();
    let table = [
        (value!({ "pattern": "(" }), "bad_pattern"),
        (value!({ "pattern": "a{99999}{99999}" }), "bad_pattern"),
        (value!({ "pattern": "x", "type": "nonsense" }), "unknown_type"),
        (value!({ "pattern": "x", "glob": "{" }), "bad_pattern"),
        (value!({ "pattern": "x", "path": "nowhere" }), "file_not_found"),
        (value!({ "pattern": "x", "path": "/proc" }), "special_file"),
        (value!({ "pattern": "" }), "invalid_input"),
        (value!({ "pattern": "x", "path": "" }), "invalid_input"),
        (value!({ "pattern": "x", "output_mode": "all" }), "invalid_input"),
        (value!({ "pattern": "x", "-A": -1 }), "invalid_input"),
        (value!({ "pattern": "x", "flags": "-r" }), "invalid_input"),
    ];
    let tool = GrepTool::new(&workspace.context);
    for (input, code) in table {
        let error = failure_of(tool.run(call_context(), json(&input.to_string())).await);
        assert_eq!(&*error.code, code, "{input}");
    }
    let tool = GlobTool::new(&workspace.context);
    for pattern in ["/etc/*", "../*", "a/../../b", ""] {
        let input = json(&value!({ "pattern": pattern }).to_string());
        assert_eq!(
            &*failure_of(tool.run(call_context(), input).await).code,
            "invalid_input",
            "{pattern}"
        );
    }
}

#[tokio::test]
async fn a_dropped_search_ends() {
    let workspace = TestWorkspace::new();
    let endless = fs::File::create(workspace.path().join("large")).unwrap();
    let line = format!("{}\n", "x".repeat(1_000));
    std::io::Write::write_all(&mut &endless, line.repeat(1_000).as_bytes()).unwrap();
    for n in 0..200 {
        fs::hard_link(workspace.path().join("large"), workspace.path().join(format!("{n}")))
            .unwrap();
    }
    let tool = GrepTool::new(&workspace.context);
    let start = workspace.clock.monotonic_ms();
    let mut call = tool.run(call_context(), json(r#"{"pattern": "(x+x+)+y"}"#));
    tokio::select! {
        _ = &mut call => {}
        () = workspace.clock.sleep(5) => {}
    }
    drop(call);
    assert!(workspace.clock.monotonic_ms() - start < 5_000);
}

#[test]
fn a_search_reads_its_folder() {
    let workspace = project();
    let root = workspace.context.zones().root().to_str().unwrap().to_owned();
    let grep = GrepTool::new(&workspace.context);
    let input = json(r#"{"pattern": "x", "path": "src"}"#);
    let facts = grep.assess(&input);
    assert_eq!(facts.touches, TouchedResources::Reads(vec![format!("{root}/src").into()]));
    assert_eq!(
        (facts.repeat, facts.summary.as_deref()),
        (Repeatability::Repeatable, Some("x in src"))
    );
    let CallSubject::Paths(paths) = grep.assess_in_lane(&call_context().lane, &input).subject
    else {
        panic!("no paths")
    };
    assert_eq!((paths[0].access, paths[0].zone), (PathAccess::Read, PathZone::Workspace));
    let outside = json(r#"{"pattern": "x", "path": "/etc"}"#);
    let glob = GlobTool::new(&workspace.context);
    let CallSubject::Paths(paths) = glob.assess(&outside).subject else { panic!("no paths") };
    assert_eq!(paths[0].zone, PathZone::Outside);
    assert!(matches!(glob.assess(&json("{}")).subject, CallSubject::Nothing));
}
