//! `cd`: changes the folder to which later relative paths refer, if it succeeds.

use std::path::PathBuf;

use windlass_core::permission::PathAccess;

use super::command_paths::resolve_word;
use crate::limits::MAX_FOLDERS;
use crate::shell::command_analysis::analysis::CommandAnalysis;
use crate::shell::command_analysis::shell_word::ShellWord;

pub(crate) fn change_folder(rest: &[ShellWord], found: &mut CommandAnalysis<'_>) {
    // Both ways to resolve `..` are considered, whichever of them an option asks for.
    let is_way = |word: &&ShellWord| matches!(word.text.as_str(), "-L" | "-P" | "--");
    let ways = rest.iter().take_while(is_way).count();
    let target = match rest.get(ways..).unwrap_or_default() {
        [target] if !target.is_option() && target.text != "-" => resolve_word(target, found),
        [] => found.zones.home().map(|home| home.display().to_string()),
        _ => None,
    };
    let Some(target) = target else {
        found.add_unsupported("it changes to a folder that is only known at run time");
        found.mark_folder_unknown();
        return;
    };
    found.add_path(&target, PathAccess::Read);
    for folder in found.folders.clone() {
        for folder in found.zones.logical_and_real_folder(&folder, &target) {
            add_folder(folder, found);
        }
    }
}

fn add_folder(folder: PathBuf, found: &mut CommandAnalysis<'_>) {
    if found.folders.contains(&folder) {
        return;
    }
    match found.folders.len() < MAX_FOLDERS {
        true => found.folders.push(folder),
        false => {
            found.add_unsupported("it changes folders too often");
            found.mark_folder_unknown();
        }
    }
}
