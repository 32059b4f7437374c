//! Programs that bring files whose names stand in another file, and programs that read through links.

use super::word::Word;

/// Programs that write files under names that no word shows.
const UNPACK: &[&str] =
    &["unzip", "cpio", "7z", "7za", "7zr", "patch", "pax", "unrar", "jar", "ar", "unar"];

/// Programs that may read what links within a folder lead to.
const FOLLOW: &[&str] = &[
    "grep", "egrep", "fgrep", "rg", "ag", "ack", "ug", "diff", "zip", "tar", "bsdtar", "rsync",
    "scp", "7z", "7za", "find", "fd", "du", "ls", "tree", "chmod", "chown", "wc",
];

/// Options that ask for it, by custom.
const FOLLOWING: &[&str] =
    &["--dereference", "--copy-links", "--follow", "--dereference-recursive"];

/// Whether the command may write files that an archive or a patch names.
pub(super) fn unpacks(name: &str, rest: &[Word]) -> bool {
    let is_letters = |word: &Word| word.text.starts_with('-') && !word.text.starts_with("--");
    let extracts = |(at, word): (usize, &Word)| {
        let is_bundle = at == 0 || is_letters(word);
        (is_bundle && word.text.contains('x'))
            || ["--extract", "--get"].iter().any(|long| is_beginning(&word.text, long))
    };
    match name {
        "tar" | "bsdtar" | "gtar" => rest.iter().enumerate().any(extracts),
        // These only list or print.
        "unzip" => !rest.iter().any(|word| matches!(word.text.as_str(), "-l" | "-v" | "-p" | "-Z")),
        name => UNPACK.contains(&name),
    }
}

/// Whether the command may read files behind links that it meets in a folder.
pub(super) fn follows_links(name: &str, rest: &[Word]) -> bool {
    let follows = |word: &Word| {
        let letters = word.text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        let has_letter = letters.is_some_and(|letters| letters.contains(['L', 'R', 'h', 'H', 'k']));
        let is_long = FOLLOWING.iter().any(|long| is_beginning(&word.text, long));
        has_letter || is_long
    };
    match name {
        "zip" | "7z" | "7za" | "scp" | "diff" => rest.len() > 1,
        "tar" | "bsdtar" | "gtar" => {
            rest.iter().any(follows) || rest.first().is_some_and(|word| word.text.contains('h'))
        }
        name => FOLLOW.contains(&name) && rest.iter().any(follows),
    }
}

/// `--extr` is `--extract` for most programs.
fn is_beginning(word: &str, long: &str) -> bool {
    word.len() > 2 && long.starts_with(word)
}
