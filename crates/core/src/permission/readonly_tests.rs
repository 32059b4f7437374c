use super::readonly::{is_read_only, only_wraps};
use super::subject::SimpleCommand;

fn command(text: &str) -> SimpleCommand {
    SimpleCommand::of(text.split(' '))
}

#[test]
fn commands_that_only_look_are_known() {
    for text in [
        "true",
        "cat a b",
        "ls -la",
        "ls -l -a x",
        "head -20 a",
        "head -n20 a",
        "tail -n 3 a",
        "wc -l a",
        "grep -rn x .",
        "git status --porcelain=v2",
        "git log --oneline -5",
        "git diff --stat",
        "uniq a",
        "date +%s",
        "git branch -a",
        "find . -name x -type f",
        "sort -rn a",
        "cat -",
    ] {
        assert!(is_read_only(&command(text)), "{text}");
    }
}

#[test]
fn a_flag_that_is_not_listed_costs_a_question() {
    for text in [
        "sort -o x y",
        "sort -ro x y",
        "sort --output=x y",
        "sort --outp=x y",
        "sort --compress-program=x",
        "find . -exec id",
        "find . -delete",
        "find . -fprint x",
        "find . -ok id",
        "sed -i s/a/b/ x",
        "sed -n 1e x",
        "git log --output=x",
        "git log --ext-diff",
        "git diff --output x",
        "git -c a=b log",
        "git -C x status",
        "git branch x",
        "git branch -D x",
        "git push",
        "uniq a b",
        "date 010100002030",
        "date -s x",
        "tail -f x",
        "rg --pre id x",
        "rg --hostname-bin id",
        "cat --unknown",
        "ls --",
        "awk x",
        "xargs ls",
        "env ls",
        "./ls",
        "uname x",
        "tree -o x",
        "echo --x",
        "grep -f x",
        "file -C",
        "man ls",
        "",
        "LS",
    ] {
        assert!(!is_read_only(&command(text)), "{text}");
    }
}

#[test]
fn a_wrapper_is_nothing_only_without_a_command() {
    for text in ["timeout", "nice", "sh -c", "env"] {
        assert!(only_wraps(&command(text)), "{text}");
    }
    for text in ["timeout 5 id", "sh", "sh -c id", "sudo", "xargs", "eval", "exec", "./env", ""] {
        assert!(!only_wraps(&command(text)), "{text}");
    }
}
