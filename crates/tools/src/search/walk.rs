//! Walking through a folder as ripgrep does: what `.gitignore` names is passed over, links are not
//! followed, and nobody is told what is hidden from searches.

use ignore::overrides::Override;
use ignore::types::Types;
use ignore::{DirEntry, WalkBuilder};

use super::stop::Stop;
use crate::files::Place;
use crate::limits::MAX_WALKED;
use crate::workplace::Workplace;

/// Which files are wanted.
#[derive(Debug, Default)]
pub(super) struct Filters {
    pub(super) paths: Option<Override>,
    pub(super) types: Option<Types>,
}

/// What a walk left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LeftOut {
    /// It ended before it had seen everything.
    pub(super) cut_short: bool,
    /// Files and folders that could not be read.
    pub(super) unreadable: usize,
}

/// Shows every file below `place` to `visit`, which says whether to go on.
pub(super) fn walk(
    workplace: &Workplace,
    place: &Place,
    filters: Filters,
    stop: &Stop,
    mut visit: impl FnMut(&DirEntry) -> Onward,
) -> LeftOut {
    let mut left_out = LeftOut::default();
    for (passed, entry) in builder(workplace, place, filters).build().enumerate() {
        if stop.is_set() || passed >= MAX_WALKED {
            left_out.cut_short = true;
            break;
        }
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                if visit(&entry) == Onward::Enough {
                    left_out.cut_short = true;
                    break;
                }
            }
            Ok(_) => {}
            Err(_) => left_out.unreadable += 1,
        }
    }
    left_out
}

/// Whether a walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Onward {
    Go,
    Enough,
}

fn builder(workplace: &Workplace, place: &Place, filters: Filters) -> WalkBuilder {
    let mut builder = WalkBuilder::new(place.real());
    builder.hidden(false).require_git(false).git_global(false).follow_links(false);
    builder.sort_by_file_path(std::path::Path::cmp);
    if let Some(paths) = filters.paths {
        builder.overrides(paths);
    }
    if let Some(types) = filters.types {
        builder.types(types);
    }
    let workplace = workplace.clone();
    builder.filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        // A way back into the search: history and hooks are no contents of a project.
        let is_git = is_folder && entry.depth() > 0 && entry.file_name() == ".git";
        !is_git && !workplace.hides(entry.path(), is_folder)
    });
    builder
}

impl LeftOut {
    /// Words about it.
    pub(super) fn note(self) -> String {
        let cut =
            if self.cut_short { "[not everything was searched: narrow it down]\n" } else { "" };
        match self.unreadable {
            0 => cut.to_owned(),
            some => format!("{cut}[{some} files or folders could not be read]\n"),
        }
    }
}
