use super::rule::PermissionRule;
use super::scope::RuleFolders;
use super::subject::{CallSubject, PathAccess, PathUse, PathZone, ShellCommand, SimpleCommand};
use std::sync::Arc;

const PLACES: RuleFolders<'_> = RuleFolders { root: "/w", home: "/h/me" };

fn rule(text: &str) -> PermissionRule {
    PermissionRule::parse(text).unwrap()
}

fn used(path: &str, access: PathAccess) -> PathUse {
    PathUse { path: Arc::from(path), access, zone: PathZone::Workspace }
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
        // The same host to a resolver: denied by a deny rule, but not allowed by an allow rule.
        ("WebFetch(domain:allowed.com)", "allowed.com.", false, true),
        ("WebFetch(domain:*.allowed.com)", "a.allowed.com", true, true),
        ("WebFetch(domain:*.allowed.com)", "allowed.com", false, false),
        ("WebFetch(domain:*.allowed.com)", ".allowed.com", false, false),
        ("WebFetch(domain:*.allowed.com)", "evil.com\0.allowed.com", false, true),
        ("WebFetch(domain:*)", "any.com", true, true),
    ];
    for (text, host, covers, touches) in rows {
        assert_eq!(rule(text).covers_domain(host), covers, "{text} {host}");
        let subject = CallSubject::Domain(Arc::from(host));
        assert_eq!(rule(text).may_concern("WebFetch", &subject, PLACES), touches, "{text} {host}");
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
            rule(text).covers_path(&used(path, PathAccess::Read), PLACES),
            expected,
            "{text} {path}"
        );
    }
    assert!(!rule("Read(src/**)").covers_path(&used("/w/src/a", PathAccess::Write), PLACES));
    assert!(rule("Edit(src/**)").covers_path(&used("/w/src/a", PathAccess::Write), PLACES));
    assert!(rule("Edit(src/**)").covers_path(&used("/w/src/a", PathAccess::Read), PLACES));
}

#[test]
fn a_rule_that_holds_back_is_read_widely() {
    let touches =
        |text: &str, subject: &CallSubject, places| rule(text).may_concern("Bash", subject, places);
    let command = |words: &[&str]| {
        CallSubject::from(ShellCommand {
            commands: vec![SimpleCommand::from_words(words)],
            ..ShellCommand::default()
        })
    };
    assert!(touches("Bash(curl:*)", &command(&["./curl", "e"]), PLACES));
    assert!(touches("Bash(curl*)", &command(&["curl", "e"]), PLACES));
    assert!(touches("Bash(sort:*)", &command(&["sort", "-o", "x"]), PLACES));
    assert!(!touches("Bash(curl:*)", &command(&["curlx"]), PLACES));
    let reads = CallSubject::from(ShellCommand {
        reads: vec![used("/w/Secrets/k", PathAccess::Read)],
        writes: vec![used("/w/src/a", PathAccess::Write)],
        ..ShellCommand::default()
    });
    assert!(touches("Read(secrets/**)", &reads, PLACES));
    assert!(touches("Edit(src/**)", &reads, PLACES));
    assert!(!touches("Read(src/**)", &reads, PLACES));
    assert!(!touches("Read", &reads, PLACES), "the tool is denied, not the files");
    let nowhere = RuleFolders { root: "", home: "" };
    assert!(touches(
        "Read(secrets/**)",
        &CallSubject::from(ShellCommand {
            reads: vec![used("/secrets/k", PathAccess::Read)],
            ..ShellCommand::default()
        }),
        nowhere
    ));
    assert!(!rule("Read(secrets/**)").covers_path(&used("/secrets/k", PathAccess::Read), nowhere));
}
