//! Walks a folder as ripgrep does: paths in `.gitignore` are skipped, links are not followed, and
//! hidden paths are skipped silently.

use ignore::overrides::Override;
use ignore::types::Types;
use ignore::{DirEntry, WalkBuilder};
use std::ops::ControlFlow;

use super::search_timeout::StopFlag;
use crate::files::ResolvedPath;
use crate::limits::MAX_WALKED_ENTRIES;
use crate::tool_context::ToolContext;

/// Filters that select files.
#[derive(Debug, Default)]
pub(super) struct WalkFilters {
    pub(super) paths: Option<Override>,
    pub(super) types: Option<Types>,
}

/// What a walk left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WalkOmissions {
    /// The walk ended before it had visited everything.
    pub(super) is_incomplete: bool,
    /// The number of files and folders that could not be read.
    pub(super) unreadable: usize,
}

/// Passes every file below `place` to `visit`, which returns whether to continue.
pub(super) fn walk_files(
    tool_context: &ToolContext,
    resolved: &ResolvedPath,
    filters: WalkFilters,
    stop: &StopFlag,
    mut visit: impl FnMut(&DirEntry) -> ControlFlow<()>,
) -> WalkOmissions {
    let mut left_out = WalkOmissions::default();
    for (passed, entry) in walk_builder(tool_context, resolved, filters).build().enumerate() {
        if stop.is_set() || passed >= MAX_WALKED_ENTRIES {
            left_out.is_incomplete = true;
            break;
        }
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => {
                if visit(&entry).is_break() {
                    left_out.is_incomplete = true;
                    break;
                }
            }
            Ok(_) => {}
            Err(_) => left_out.unreadable += 1,
        }
    }
    left_out
}

fn walk_builder(
    tool_context: &ToolContext,
    resolved: &ResolvedPath,
    filters: WalkFilters,
) -> WalkBuilder {
    let mut builder = WalkBuilder::new(resolved.real_path());
    builder.hidden(false).require_git(false).git_global(false).follow_links(false);
    builder.sort_by_file_path(std::path::Path::cmp);
    if let Some(paths) = filters.paths {
        builder.overrides(paths);
    }
    if let Some(types) = filters.types {
        builder.types(types);
    }
    let tool_context = tool_context.clone();
    builder.filter_entry(move |entry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        // `.git` is always skipped: history and hooks are not contents of a project.
        let is_git = is_folder && entry.depth() > 0 && entry.file_name() == ".git";
        !is_git && !tool_context.is_hidden(entry.path(), is_folder)
    });
    builder
}

impl WalkOmissions {
    /// Returns a note for the model about what was left out.
    pub(super) fn to_note(self) -> String {
        let cut = if self.is_incomplete { "[search incomplete: narrow it down]\n" } else { "" };
        match self.unreadable {
            0 => cut.to_owned(),
            some => format!("{cut}[{some} files or folders could not be read]\n"),
        }
    }
}
