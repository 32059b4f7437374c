//! What `mkdir`, `touch`, `mv` and `cp` write to.

use windlass_core::permission::Access;

use super::found::Found;
use super::paths::{looked_at, place};
use super::word::{Word, name_of};

/// Options without a value that change nothing about which files are written.
const FLAGS: &[(&str, &str)] =
    &[("mkdir", "pv"), ("touch", "acm"), ("mv", "fnvT"), ("cp", "rRapfnvuTLPH")];

/// Options that make `cp` copy folders with all that is in them.
const DEEP: &[char] = &['r', 'R', 'a'];

pub(super) fn written(command: &str, rest: &[Word], found: &mut Found<'_>) {
    let (options, operands): (Vec<&Word>, Vec<&Word>) =
        rest.iter().partition(|word| word.is_option());
    if !options.iter().all(|option| is_known(command, &option.text)) {
        found.doubt(&format!("{command} has an option that is not understood"));
    }
    match (command, operands.split_last()) {
        ("mkdir" | "touch", _) => operands.iter().for_each(|word| changed(word, found)),
        (_, Some((target, sources))) => {
            sources.iter().for_each(|source| source_of(command, source, found));
            sources.iter().for_each(|source| inside(target, source, found));
            changed(target, found);
        }
        (_, None) => {}
    }
    let is_deep = options.iter().any(|option| option.text.contains(DEEP));
    if is_deep && operands.iter().any(|source| brings_names(source)) {
        found.doubt("it copies files whose names cannot be seen");
    }
}

/// What is moved is gone from where it was.
fn source_of(command: &str, source: &Word, found: &mut Found<'_>) {
    match command {
        "mv" => changed(source, found),
        _ => looked_at(source, found),
    }
}

/// If the target is a folder, the file in it is written.
fn inside(target: &Word, source: &Word, found: &mut Found<'_>) {
    let name = name_of(source.text.trim_end_matches('/'));
    if let (Some(target), Some(_)) = (place(target, found), place(source, found)) {
        found.path(&format!("{target}/{name}"), Access::Write);
    }
}

fn changed(word: &Word, found: &mut Found<'_>) {
    match place(word, found) {
        Some(path) => found.path(&path, Access::Write),
        None => found.doubt("it writes to a file whose name is only known when it runs"),
    }
}

/// `x/.` brings everything in `x`, and not `x` itself.
fn brings_names(source: &Word) -> bool {
    matches!(name_of(&source.text), "." | ".." | "")
}

fn is_known(command: &str, option: &str) -> bool {
    let flags = FLAGS.iter().find(|(name, _)| *name == command).map_or("", |(_, flags)| flags);
    let letters = option.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    option == "--parents"
        || letters.is_some_and(|letters| letters.chars().all(|c| flags.contains(c)))
}
