use super::read_only::{ReadDepth, is_bare_wrapper, is_read_only, read_only_use};
use super::subject::SimpleCommand;

fn command(text: &str) -> SimpleCommand {
    SimpleCommand::from_words(text.split(' '))
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
        "uniq a",
        "date +%s",
        "find . -name x -type f",
        "sort -rn a",
        "cat -",
        "head -c5 a",
        "grep -A3 x a",
        "grep -rnA 3 x .",
        "grep --include=*.rs x a",
        "cut -d, -f1 a",
        "diff -u a b",
        "rg -e x -g *.rs",
    ] {
        assert!(is_read_only(&command(text)), "{text}");
    }
}

#[test]
fn a_flag_that_is_not_listed_costs_a_question() {
    for text in [
        "sort -k",
        "ls -l=a",
        "grep -R x .",
        "grep -rR x .",
        "grep --recursive x .",
        "grep --dereference-recursive x .",
        "diff -r a b",
        "diff -rN a b",
        "diff -N a b",
        "rg -L x",
        "rg --follow x",
        "find -L . -name x",
        "ls -L x",
        "du -L x",
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
        "git status",
        "git status --porcelain=v2",
        "git log --oneline -5",
        "git log -p",
        "git show",
        "git diff --stat",
        "git blame x",
        "git branch -a",
        "git rev-parse --show-toplevel",
        "git ls-files",
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
        assert!(is_bare_wrapper(&command(text)), "{text}");
    }
    for text in ["timeout 5 id", "sh", "sh -c id", "sudo", "xargs", "eval", "exec", "./env", ""] {
        assert!(!is_bare_wrapper(&command(text)), "{text}");
    }
}

#[test]
fn the_words_that_name_files_are_told_from_the_others() {
    let rows: [(&str, &[usize], ReadDepth); 16] = [
        ("cat a b", &[1, 2], ReadDepth::Named),
        ("head -n 5 a", &[3], ReadDepth::Named),
        ("head -n5 a", &[2], ReadDepth::Named),
        ("head -5 a", &[2], ReadDepth::Named),
        ("grep x", &[], ReadDepth::Named),
        ("grep -n x a", &[3], ReadDepth::Named),
        ("grep -e x a", &[3], ReadDepth::Named),
        ("grep -nA 3 x a b", &[4, 5], ReadDepth::Named),
        ("grep -rn x", &[], ReadDepth::Everything),
        ("grep -r x a", &[3], ReadDepth::Everything),
        ("rg x", &[], ReadDepth::Everything),
        ("rg --files a", &[2], ReadDepth::Everything),
        ("find a -name x -newer b", &[1, 5], ReadDepth::Named),
        ("diff a b", &[1, 2], ReadDepth::PlainFiles),
        ("echo a b", &[], ReadDepth::Named),
        ("sort -t : -k 2 a", &[5], ReadDepth::Named),
    ];
    for (text, files, depth) in rows {
        let used = read_only_use(&command(text)).unwrap_or_else(|| panic!("{text}"));
        assert_eq!((used.files.as_slice(), used.depth), (files, depth), "{text}");
    }
}
