//! Programs that create files named in an archive or patch, and programs that follow links.

use crate::shell::command_analysis::shell_word::ShellWord;

/// Programs that write files whose names are not in their words.
const UNPACKING_PROGRAMS: &[&str] =
    &["unzip", "cpio", "7z", "7za", "7zr", "patch", "pax", "unrar", "jar", "ar", "unar"];

/// Programs that may read what links within a folder lead to.
const LINK_FOLLOWING_PROGRAMS: &[&str] = &[
    "grep", "egrep", "fgrep", "rg", "ag", "ack", "ug", "diff", "zip", "tar", "bsdtar", "rsync",
    "scp", "7z", "7za", "find", "fd", "du", "ls", "tree", "chmod", "chown", "wc",
];

/// Common options that make a program follow links.
const LINK_FOLLOWING_OPTIONS: &[&str] =
    &["--dereference", "--copy-links", "--follow", "--dereference-recursive"];

/// Returns whether the command may write files that an archive or a patch names.
pub(crate) fn may_unpack_files(name: &str, rest: &[ShellWord]) -> bool {
    let is_letters = |word: &ShellWord| word.text.starts_with('-') && !word.text.starts_with("--");
    let extracts = |(at, word): (usize, &ShellWord)| {
        let is_bundle = at == 0 || is_letters(word);
        (is_bundle && word.text.contains('x'))
            || ["--extract", "--get"].iter().any(|long| is_option_prefix(&word.text, long))
    };
    match name {
        "tar" | "bsdtar" | "gtar" => rest.iter().enumerate().any(extracts),
        // These options only list or print.
        "unzip" => !rest.iter().any(|word| matches!(word.text.as_str(), "-l" | "-v" | "-p" | "-Z")),
        name => UNPACKING_PROGRAMS.contains(&name),
    }
}

/// Returns whether the command may read files behind links in a folder.
pub(crate) fn may_follow_links(name: &str, rest: &[ShellWord]) -> bool {
    let follows = |word: &ShellWord| {
        let letters = word.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let has_letter = letters.is_some_and(|letters| letters.contains(['L', 'R', 'h', 'H', 'k']));
        let is_long = LINK_FOLLOWING_OPTIONS.iter().any(|long| is_option_prefix(&word.text, long));
        has_letter || is_long
    };
    match name {
        "zip" | "7z" | "7za" | "scp" | "diff" => rest.len() > 1,
        "tar" | "bsdtar" | "gtar" => {
            rest.iter().any(follows) || rest.first().is_some_and(|word| word.text.contains('h'))
        }
        name => LINK_FOLLOWING_PROGRAMS.contains(&name) && rest.iter().any(follows),
    }
}

/// Returns whether a word abbreviates a long option: `--extr` is `--extract` for most programs.
fn is_option_prefix(word: &str, long: &str) -> bool {
    word.len() > 2 && long.starts_with(word)
}
