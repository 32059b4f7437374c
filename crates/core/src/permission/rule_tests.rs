use super::rule::{MAX_RULE_CHARS, PermissionRule};
use super::subject::SimpleCommand;

fn rule(text: &str) -> PermissionRule {
    PermissionRule::parse(text).unwrap()
}

#[test]
fn a_rule_is_kept_as_it_was_written() {
    for text in
        ["Read", "Bash(npm test:*)", "Edit(src/**)", "WebFetch(domain:*.example.com)", "mcp__a"]
    {
        assert_eq!(rule(&format!(" {text} ")).to_string(), text);
        let json = serde_json::to_string(&rule(text)).unwrap();
        assert_eq!(serde_json::from_str::<PermissionRule>(&json).unwrap(), rule(text));
    }
}

#[test]
fn a_rule_that_cannot_be_read_says_why_in_one_sentence() {
    let long = "x".repeat(MAX_RULE_CHARS + 1);
    let rows = [
        ("", "it does not start with a tool name"),
        ("(npm)", "it does not start with a tool name"),
        ("Ba sh", "it does not start with a tool name"),
        ("Bash(npm", "the closing bracket is missing"),
        ("Bash(npm) x", "the closing bracket is missing"),
        ("Bash()", "the brackets are empty"),
        ("Bash( )", "the brackets are empty"),
        ("Bash(:*)", "no command before `:*`"),
        ("Bash(a\u{0}b)", "it contains a control character"),
        ("mcp__a(b)", "rules for MCP tools take no specifier in brackets"),
        ("WebFetch(example.com)", "write a host as `domain:` followed by its name"),
        (
            "WebFetch(domain:)",
            "a host must be a plain name such as `example.com` or `*.example.com`",
        ),
        (
            "WebFetch(domain:https://a.b)",
            "a host must be a plain name such as `example.com` or `*.example.com`",
        ),
        (
            "WebFetch(domain:a*.b)",
            "a host must be a plain name such as `example.com` or `*.example.com`",
        ),
        ("Read(../x)", "a path must not contain `..`"),
        (long.as_str(), "it is too long"),
    ];
    for (text, problem) in rows {
        let output = PermissionRule::parse(text).unwrap_err().to_string();
        assert!(output.contains(problem), "{text}: {output}");
        assert!(output.len() < 400 && output.contains("write for example"), "{output}");
    }
}

#[test]
fn a_rule_names_its_tool_its_family_and_its_server() {
    let rows = [
        ("Read", "Read", true),
        ("Read", "Grep", true),
        ("Bash", "TaskStop", true),
        ("TaskStop", "Bash", false),
        ("Read", "Glob", true),
        ("Read", "Write", false),
        ("Edit", "Write", true),
        ("Edit", "MultiEdit", true),
        ("Edit", "NotebookEdit", true),
        ("Edit", "Read", false),
        ("Write", "Edit", false),
        ("mcp__git", "mcp__git__push", true),
        ("mcp__git", "mcp__github__push", false),
        ("mcp__git__push", "mcp__git__push", true),
        ("mcp__git__push", "mcp__git__push_all", false),
        ("mcp__git__*", "mcp__git__push", true),
        ("*", "anything", true),
        ("Bash", "bash", false),
        ("Bash", "TaskOutput", false),
    ];
    for (text, tool, expected) in rows {
        assert_eq!(rule(text).covers_tool(tool), expected, "{text} {tool}");
    }
}

#[test]
fn commands_are_compared_word_by_word() {
    let rows: [(&str, &[&str], bool); 20] = [
        ("Bash(git log:*)", &["git", "log"], true),
        ("Bash(git log:*)", &["git", "log", "-3"], true),
        ("Bash(git log:*)", &["git", "logout"], false),
        ("Bash(git log:*)", &["git log"], false),
        ("Bash(git log)", &["git", "log"], true),
        ("Bash(git log)", &["git", "log", "-3"], false),
        ("Bash(npm *)", &["npm", "run", "x"], true),
        ("Bash(npm *)", &["npmx"], false),
        ("Bash(npm run test*)", &["npm", "run", "test:unit", "-v"], true),
        ("Bash(git * main)", &["git", "push", "-f", "main"], true),
        ("Bash(ls:*)", &["./ls"], false),
        ("Bash", &["anything"], true),
        ("Bash(*)", &["anything", "else"], true),
        ("Bash(git log:*)", &["git", "log", "--output=x"], false),
        ("Bash(git log:*)", &["git", "log", "--outp", "x"], false),
        ("Bash(git log --output:*)", &["git", "log", "--output", "x"], true),
        ("Bash(sort:*)", &["sort", "-ro", "x"], false),
        ("Bash(find:*)", &["find", ".", "-delete"], false),
        ("Bash(git push:*)", &["git", "push", "--exec=x"], false),
        ("WebFetch(domain:ls)", &["ls"], false),
    ];
    for (text, words, expected) in rows {
        assert_eq!(
            rule(text).covers_command(&SimpleCommand::from_words(words)),
            expected,
            "{text} {words:?}"
        );
    }
}
