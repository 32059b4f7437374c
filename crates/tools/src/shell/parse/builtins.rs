//! Commands of the shell itself that change what later commands mean, or that read their words as
//! code: a subscript such as `a[$(id)]` is run by all that take the name of a variable.

use super::found::Found;
use super::word::Word;

const CHANGE: &[&str] = &[
    ".",
    "source",
    "exec",
    "set",
    "shopt",
    "enable",
    "hash",
    "bind",
    "complete",
    "compgen",
    "compopt",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "unalias",
    "let",
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "fc",
    "history",
    "pushd",
    "popd",
    "dirs",
    "ulimit",
    "umask",
    "wait",
    "jobs",
    "disown",
    "suspend",
    "logout",
    "return",
    "break",
    "continue",
    "shift",
    "caller",
];

/// Builtins that take the name of a variable behind one of these options.
const NAMES: &[(&str, &[&str])] =
    &[("printf", &["-v"]), ("test", &["-v", "-R"]), ("[", &["-v", "-R"])];

pub(super) fn check(words: &[Word], found: &mut Found<'_>) {
    let Some((name, rest)) = words.split_first() else { return };
    let name = name.name();
    if CHANGE.contains(&name) {
        found.doubt(&format!("{name} changes what the shell does next"));
    }
    let names =
        NAMES.iter().find(|(builtin, _)| *builtin == name).map_or(&[][..], |(_, names)| names);
    // `-vNAME` is one word.
    let is_name = |word: &Word| names.iter().any(|option| word.text.starts_with(option));
    if rest.iter().any(is_name) {
        found.doubt(&format!("{name} reads a word as code"));
    }
    // A file named like an option would become one.
    if rest.iter().any(|word| word.is_option() && word.kind == super::word::Kind::Pattern) {
        found.doubt("an option is a pattern");
    }
}
