//! Shell builtins that change what later commands mean, or that evaluate their words as code: a
//! subscript such as `a[$(id)]` is run by all that take the name of a variable.

use crate::shell::command_analysis::analysis::CommandAnalysis;
use crate::shell::command_analysis::shell_word::ShellWord;

const STATE_CHANGING_BUILTINS: &[&str] = &[
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

/// Builtins that take the name of a variable after one of these options.
const VARIABLE_NAME_OPTIONS: &[(&str, &[&str])] =
    &[("printf", &["-v"]), ("test", &["-v", "-R"]), ("[", &["-v", "-R"])];

pub(crate) fn check_builtins(words: &[ShellWord], found: &mut CommandAnalysis<'_>) {
    let Some((name, rest)) = words.split_first() else { return };
    let name = name.base_name();
    if STATE_CHANGING_BUILTINS.contains(&name) {
        found.add_unsupported(&format!("{name} changes what the shell does next"));
    }
    let names = VARIABLE_NAME_OPTIONS
        .iter()
        .find(|(builtin, _)| *builtin == name)
        .map_or(&[][..], |(_, names)| names);
    // `-vNAME` is one word.
    let is_name = |word: &ShellWord| names.iter().any(|option| word.text.starts_with(option));
    if rest.iter().any(is_name) {
        found.add_unsupported(&format!("{name} reads a word as code"));
    }
    // A file named like an option would become one.
    if rest.iter().any(|word| {
        word.is_option()
            && word.kind == crate::shell::command_analysis::shell_word::WordKind::Pattern
    }) {
        found.add_unsupported("an option is a pattern");
    }
}
