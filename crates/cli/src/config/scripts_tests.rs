//! Which files a command names.

use std::collections::BTreeMap;

use serde_json::json;

use super::{MOST_BYTES, MOST_FILES, ScriptFiles};

fn named(command: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    for name in ["tools/check.sh", "tools/a b.sh", "log", "server.py", ".claude/hooks/h.sh"] {
        std::fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
        std::fs::write(folder.path().join(name), name).unwrap();
    }
    let here = folder.path().to_str().unwrap();
    let command = command.replace("HERE", here);
    let found = ScriptFiles::read(folder.path(), &[json!({"hooks": [{"command": command}]})]);
    assert_eq!(found.too_much, None);
    found.hashes.into_keys().filter(|name| name != ".claude/hooks/h.sh").collect()
}

#[test]
fn a_file_is_found_however_it_is_named() {
    for command in [
        "tools/check.sh",
        "sh tools/check.sh --all",
        "./tools/../tools/check.sh",
        "sh -c 'tools/check.sh && true'",
        "bash -c \"exec tools/check.sh\"",
        "$CLAUDE_PROJECT_DIR/tools/check.sh",
        "\"${CLAUDE_PROJECT_DIR}\"/tools/check.sh",
        "HERE/tools/check.sh",
        "cd tools && ./check.sh",
        "X=1;tools/check.sh|cat",
        "sh <tools/check.sh",
        "node --require=tools/check.sh",
        "\"tools/check.sh\"",
        "tools/che\\ck.sh",
    ] {
        assert_eq!(named(command), ["tools/check.sh"], "{command}");
    }
    assert_eq!(named("sh 'tools/a b.sh'"), ["tools/a b.sh"]);
    assert_eq!(named("sh tools/a\\ b.sh"), ["tools/a b.sh"]);
}

#[test]
fn output_and_what_lies_elsewhere_is_no_script() {
    for command in [
        "echo ran >> log",
        "echo ran >log 2>&1",
        "true &> log",
        "../x",
        "test -e log || { echo 'no log' >&2; exit 2; }",
        "if [ -f log ]; then rm log; fi",
        "grep -q log && exit 0",
        "/etc/passwd",
        "tools",
    ] {
        assert_eq!(named(command), Vec::<String>::new(), "{command}");
    }
    for command in [
        "cat log | sh",
        "grep x log | sh",
        "test -e x && ./log",
        "true & log",
        "echo ./log | sh",
        "sh -c \"$(echo log)\"",
    ] {
        assert_eq!(named(command), ["log"], "{command}");
    }
    assert_eq!(named("log > log"), ["log"], "it is run as well");
}

#[test]
fn arguments_of_servers_are_words_too() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("server.py"), "1").unwrap();
    let servers = json!({"a": {"command": "python3", "args": ["server.py"]}});
    let before = ScriptFiles::read(folder.path(), std::slice::from_ref(&servers));
    assert_eq!(before.hashes.len(), 1);
    std::fs::write(folder.path().join("server.py"), "2").unwrap();
    assert_ne!(ScriptFiles::read(folder.path(), &[servers]), before);
}

#[test]
fn large_files_are_read_to_their_end_and_too_much_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("big");
    std::fs::write(&file, vec![b'x'; 3 << 20]).unwrap();
    let read = || ScriptFiles::read(folder.path(), &[json!("./big")]);
    let before = read();
    std::fs::write(&file, [vec![b'x'; 3 << 20], vec![b'y']].concat()).unwrap();
    assert!(before.hashes.len() == 1 && read() != before);
    let huge = std::fs::File::create(&file).unwrap();
    huge.set_len(MOST_BYTES + 1).unwrap();
    assert!(read().too_much.is_some_and(|reason| reason.contains("MiB")));
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir_all(folder.path().join(".claude/hooks")).unwrap();
    for nth in 0..=MOST_FILES {
        std::fs::write(folder.path().join(format!(".claude/hooks/{nth}")), "").unwrap();
    }
    assert!(read().too_much.is_some_and(|reason| reason.contains("files")));
    let none: BTreeMap<String, String> = BTreeMap::new();
    assert_eq!(ScriptFiles::read(&folder.path().join("nowhere"), &[]).hashes, none);
}
