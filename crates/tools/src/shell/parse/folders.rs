//! `cd`: from here on a relative path begins elsewhere, if it worked.

use std::path::PathBuf;

use windlass_core::permission::Access;

use super::found::Found;
use super::paths::place;
use super::word::Word;
use crate::limits::MAX_FOLDERS;

pub(super) fn change(rest: &[Word], found: &mut Found<'_>) {
    // Both ways to count `..` are considered, whichever of them an option asks for.
    let is_way = |word: &&Word| matches!(word.text.as_str(), "-L" | "-P" | "--");
    let ways = rest.iter().take_while(is_way).count();
    let target = match rest.get(ways..).unwrap_or_default() {
        [target] if !target.is_option() && target.text != "-" => place(target, found),
        [] => found.zones.home().map(|home| home.display().to_string()),
        _ => None,
    };
    let Some(target) = target else {
        found.doubt("it goes to a folder that is only known when it runs");
        found.lose_folder();
        return;
    };
    found.path(&target, Access::Read);
    for folder in found.folders.clone() {
        for folder in found.zones.both_folders(&folder, &target) {
            add(folder, found);
        }
    }
}

fn add(folder: PathBuf, found: &mut Found<'_>) {
    if found.folders.contains(&folder) {
        return;
    }
    match found.folders.len() < MAX_FOLDERS {
        true => found.folders.push(folder),
        false => {
            found.doubt("it changes its folder too often");
            found.lose_folder();
        }
    }
}
