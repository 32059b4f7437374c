use std::path::{Path, PathBuf};

use windlass_core::permission::{PathUse, PathZone, ShellCommand};

use super::analyze_command;
use crate::files::PathZones;

fn shell(command: &str) -> ShellCommand {
    analyze_command(command, &PathZones::with_home(Path::new("/w/x"), Some(PathBuf::from("/h"))))
}

fn commands(command: &str) -> Vec<String> {
    shell(command).commands.iter().map(|command| command.words.join(" ")).collect()
}

fn zones(uses: &[PathUse]) -> Vec<(&str, PathZone)> {
    uses.iter().map(|used| (&*used.path, used.zone)).collect()
}

#[test]
fn commands_are_found_at_any_depth() {
    for text in [
        "a; z",
        "a | z",
        "a & z",
        "(z)",
        "{ z; }",
        "a $(z)",
        "a \"$(z)\"",
        "a `z`",
        "a <(z)",
        "f() { z; }",
        "if z; then a; fi",
        "if a; then z; fi",
        "for i in a; do z; done",
        "while z; do a; done",
        "case a in b) z;; esac",
        "! z",
        "a=$(z)",
        "a=$(z) b",
        "a > $(z)",
        "a ${b:-$(z)}",
        "a $((b[$(z)]))",
        "[[ -n $(z) ]]",
        "export a=$(z)",
        "sh -c z",
        "bash -lc z",
        "sh -c 'a; z'",
        "eval z",
        "eval 'a;' z",
        "trap z EXIT",
        "alias a=z",
        "find . -exec z \\;",
        "find . -exec a \\; -exec z {} +",
        "xargs z",
        "xargs -n 1 z",
        "sudo z",
        "sudo -u a z",
        "env z",
        "env -i A=b z",
        "A=b z",
        "nice -n 3 z",
        "timeout -k 1 5 z",
        "timeout --what 5 z",
        "nohup nice time z",
        "command z",
        "builtin z",
        "exec z",
        "busybox z",
        "stdbuf -oL z",
        "/usr/bin/z",
        "\\z",
        "'z'",
        "z''",
        "a\nz",
        "sh <<E\nz\nE",
        "z 'x",
        "a 'x\nz",
        "sh <<< z",
        "su -c 'z'",
        "watch 'z'",
        "ssh h z",
        "npx z",
        "a && b > c && z",
        "coproc z",
        "git -c a=b z",
    ] {
        let found = commands(text);
        let is_z = |command: &String| command.split(' ').any(|word| word == "z");
        assert!(
            found.iter().any(|c| c == "z" || c == "git z" || c.starts_with("z ")),
            "{text}: {found:?}"
        );
        assert!(found.iter().any(is_z));
    }
}

#[test]
fn words_are_what_the_program_gets() {
    assert_eq!(commands("git 'log' \"-3\" a\\ b"), ["git log -3 a b"]);
    assert_eq!(commands("/usr/bin/git log"), ["git log"]);
    assert_eq!(commands("./git log"), ["./git log"]);
    assert_eq!(commands("a > b -c d"), ["a -c d"]);
    assert_eq!(commands("a && b > c -d"), ["a", "b -d"]);
    assert_eq!(commands("timeout 5 nice a b"), ["timeout", "nice", "a b"]);
    assert_eq!(commands("sh -c 'a b' x"), ["sh -c", "a b"]);
}

#[test]
fn plain_commands_leave_no_doubt() {
    for text in [
        "a",
        "a b 'c' \"d\"",
        "a && b || c; d | e\nf",
        "a *.rs",
        "a > b 2>&1",
        "a 2> /dev/null",
        "a # b",
        "timeout 5 a",
        "sh -c 'a && b'",
        "a \\\n  b",
        "a é",
        "a {} x",
        "echo 'if then $x `y`'",
        "cd b && a",
    ] {
        assert_eq!(shell(text).unsupported, Vec::new(), "{text}");
    }
}

#[test]
fn what_is_not_plain_is_a_doubt() {
    for text in [
        "",
        "a $b",
        "a $(b)",
        "a `b`",
        "a $((1))",
        "a <<E\nE",
        "a <<< b",
        "a <(b)",
        "A=b a",
        "A=b",
        "f() { a; }",
        "eval a",
        "source a",
        ". a",
        "exec a",
        "trap a EXIT",
        "a\rb",
        "a\u{1}",
        "a\0",
        "a\u{200b}",
        "\u{441}a",
        "a\u{a0}b",
        "a > $b",
        "a > *",
        "a 'b",
        "a \"b",
        "a ||",
        "(a)",
        "{ a; }",
        "a &",
        "! a",
        "if a; then b; fi",
        "* a",
        "~/a",
        "a{b,c}",
        "a x{b,c}",
        "a {1..3}",
        "timeout -x 5 a",
        "sudo a",
        "xargs a",
        "find . -exec a \\;",
        "export A=b",
        "alias a=b",
        "set -e",
        "read a",
        "let a=1",
        "printf -v a b",
        "test -v a",
        "a\\\nb",
        "a -*",
        "sh a",
        "bash -lc a",
        "a > /dev/tcp/h/1",
        "cd $x",
        "cd -",
        "pushd a",
        "[[ a ]]",
        "[ a ]",
        "a |& b",
        "git -c a=b log",
        "cp -s a b",
        "cp -r a/. .",
        "mv a/* b",
        "mkdir $x",
        "coproc a",
        "env A=b c",
        "a == b",
        "{x}>f a",
        "a <>b",
        "echo $\"a\"",
        "npx a",
    ] {
        let found = shell(text);
        assert!(!found.unsupported.is_empty() || found.commands.is_empty(), "{text}: {found:?}");
    }
}

#[test]
fn files_that_are_written_are_found() {
    let w = |path: &'static str| (path, PathZone::Workspace);
    let rows: [(&str, Vec<(&str, PathZone)>); 12] = [
        ("a > b", vec![w("/w/x/b")]),
        ("a >> ../b", vec![("/w/b", PathZone::Outside)]),
        ("a &> b 2>c", vec![w("/w/x/b"), w("/w/x/c")]),
        ("a > ~/.bashrc", vec![("/h/.bashrc", PathZone::Protected)]),
        ("a > .git/config", vec![("/w/x/.git/config", PathZone::Protected)]),
        ("mkdir -p a b/c", vec![w("/w/x/a"), w("/w/x/b/c")]),
        ("touch /a", vec![("/a", PathZone::Outside)]),
        ("mv a b", vec![w("/w/x/a"), w("/w/x/b/a"), w("/w/x/b")]),
        ("cp /a/.mcp.json .", vec![("/w/x/.mcp.json", PathZone::Protected), w("/w/x")]),
        (
            "cd .git && a > config",
            vec![w("/w/x/config"), ("/w/x/.git/config", PathZone::Protected)],
        ),
        ("cd / && touch b", vec![w("/w/x/b"), ("/b", PathZone::Outside)]),
        ("a > /dev/null 2>&1", vec![]),
    ];
    for (text, expected) in rows {
        let ShellCommand { writes, redirects, .. } = shell(text);
        assert_eq!(zones(&[redirects, writes].concat()), expected, "{text}");
    }
}

#[test]
fn files_that_may_be_looked_at_are_found() {
    assert_eq!(
        zones(&shell("cat a --b=/c -d").reads),
        [("/w/x/a", PathZone::Workspace), ("/c", PathZone::Outside)]
    );
    assert_eq!(zones(&shell("cat < ../a").reads), [("/w/a", PathZone::Outside)]);
    assert_eq!(zones(&shell("cat a*").reads), [("a*", PathZone::Outside)]);
    assert_eq!(zones(&shell("echo /etc").reads), []);
    assert_eq!(zones(&shell("cp /a b").reads), [("/a", PathZone::Outside)]);
}
