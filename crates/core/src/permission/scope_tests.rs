use super::rule::Rule;
use super::scope::Places;
use super::subject::{Access, PathUse, Shell, SimpleCommand, Subject, Zone};
use std::sync::Arc;

const PLACES: Places<'_> = Places { root: "/w", home: "/h/me" };

fn rule(text: &str) -> Rule {
    Rule::parse(text).unwrap()
}

fn used(path: &str, access: Access) -> PathUse {
    PathUse { path: Arc::from(path), access, zone: Zone::Workspace }
}

#[test]
fn a_host_is_the_whole_host() {
    let rows = [
        ("WebFetch(domain:allowed.com)", "allowed.com", true, true),
        ("WebFetch(domain:Allowed.COM)", "ALLOWED.com", true, true),
        ("WebFetch(domain:allowed.com)", "evil.allowed.com", false, false),
        ("WebFetch(domain:allowed.com)", "allowed.com.evil.com", false, false),
        ("WebFetch(domain:allowed.com)", "evilallowed.com", false, false),
        ("WebFetch(domain:allowed.com)", "evil.com\0.allowed.com", false, false),
        ("WebFetch(domain:allowed.com)", "allowed.com@evil.com", false, false),
        // The same host to a resolver: held back, but not let go.
        ("WebFetch(domain:allowed.com)", "allowed.com.", false, true),
        ("WebFetch(domain:*.allowed.com)", "a.allowed.com", true, true),
        ("WebFetch(domain:*.allowed.com)", "allowed.com", false, false),
        ("WebFetch(domain:*.allowed.com)", ".allowed.com", false, false),
        ("WebFetch(domain:*.allowed.com)", "evil.com\0.allowed.com", false, true),
        ("WebFetch(domain:*)", "any.com", true, true),
    ];
    for (text, host, covers, touches) in rows {
        assert_eq!(rule(text).covers_domain(host), covers, "{text} {host}");
        let subject = Subject::Domain(Arc::from(host));
        assert_eq!(rule(text).touches("WebFetch", &subject, PLACES), touches, "{text} {host}");
    }
}

#[test]
fn a_path_rule_begins_where_it_says() {
    let rows = [
        ("Read(src/**)", "/w/src/a/b", true),
        ("Read(src/*)", "/w/src/a", true),
        ("Read(/src)", "/w/src/a", true),
        ("Read(./src/a)", "/w/src/a", true),
        ("Read(src)", "/w/deep/src/a", true),
        ("Read(src/a)", "/w/deep/src/a", false),
        ("Read(*.env)", "/w/a/b.env", true),
        ("Read(//etc/**)", "/etc/passwd", true),
        ("Read(//data)", "/data-evil/x", false),
        ("Read(~/.ssh/**)", "/h/me/.ssh/id", true),
        ("Read(~/.ssh/**)", "/h/you/.ssh/id", false),
        ("Read(**)", "/w/a", true),
        ("Read(**)", "/w-evil/a", false),
        ("Read", "/anywhere", true),
        ("Read(SRC/**)", "/w/src/a", false),
    ];
    for (text, path, expected) in rows {
        assert_eq!(
            rule(text).covers_path(&used(path, Access::Read), PLACES),
            expected,
            "{text} {path}"
        );
    }
    assert!(!rule("Read(src/**)").covers_path(&used("/w/src/a", Access::Write), PLACES));
    assert!(rule("Edit(src/**)").covers_path(&used("/w/src/a", Access::Write), PLACES));
    assert!(rule("Edit(src/**)").covers_path(&used("/w/src/a", Access::Read), PLACES));
}

#[test]
fn a_rule_that_holds_back_is_read_widely() {
    let touches =
        |text: &str, subject: &Subject, places| rule(text).touches("Bash", subject, places);
    let command = |words: &[&str]| {
        Subject::Shell(Shell { commands: vec![SimpleCommand::of(words)], ..Shell::default() })
    };
    assert!(touches("Bash(curl:*)", &command(&["./curl", "e"]), PLACES));
    assert!(touches("Bash(curl*)", &command(&["curl", "e"]), PLACES));
    assert!(touches("Bash(sort:*)", &command(&["sort", "-o", "x"]), PLACES));
    assert!(!touches("Bash(curl:*)", &command(&["curlx"]), PLACES));
    let reads = Subject::Shell(Shell {
        reads: vec![used("/w/Secrets/k", Access::Read)],
        writes: vec![used("/w/src/a", Access::Write)],
        ..Shell::default()
    });
    assert!(touches("Read(secrets/**)", &reads, PLACES));
    assert!(touches("Edit(src/**)", &reads, PLACES));
    assert!(!touches("Read(src/**)", &reads, PLACES));
    assert!(!touches("Read", &reads, PLACES), "the tool is denied, not the files");
    let nowhere = Places { root: "", home: "" };
    assert!(touches(
        "Read(secrets/**)",
        &Subject::Shell(Shell {
            reads: vec![used("/secrets/k", Access::Read)],
            ..Shell::default()
        }),
        nowhere
    ));
    assert!(!rule("Read(secrets/**)").covers_path(&used("/secrets/k", Access::Read), nowhere));
}
