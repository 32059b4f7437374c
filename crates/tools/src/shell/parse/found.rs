//! What was found so far, with a bound on everything.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_core::permission::{Access, PathUse, Scan, Seen, Shell, SimpleCommand, Zone};

use super::word::{Word, name_of};
use crate::files::Zones;
use crate::limits::{MAX_COMMANDS, MAX_DOUBTS, MAX_PATHS};
use crate::shell::Programs;

/// The commands, paths and doubts found so far.
pub(super) struct Found<'z> {
    pub(super) zones: &'z Zones,
    programs: &'z Programs,
    /// Folders in which the shell may be by now: whether a `cd` worked is only known when it runs.
    pub(super) folders: Vec<PathBuf>,
    files: Files,
    shell: Shell,
}

/// Whether paths still lead where they led when the command was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Files {
    /// They do.
    AsTheyWere,
    /// The command that was looked at last may change where names lead; those after it are not
    /// known any more. Its own redirections are opened before it runs.
    ChangedNext,
    /// They may lead elsewhere.
    Changed,
}

impl<'z> Found<'z> {
    pub(super) fn new(zones: &'z Zones, programs: &'z Programs, folder: &Path) -> Self {
        let (files, shell) = (Files::AsTheyWere, Shell::default());
        Self { zones, programs, folders: vec![folder.to_owned()], files, shell }
    }

    /// Something rules do not understand.
    pub(super) fn doubt(&mut self, why: &str) {
        let doubts = &mut self.shell.doubts;
        if doubts.len() < MAX_DOUBTS && !doubts.iter().any(|doubt| &**doubt == why) {
            doubts.push(Arc::from(why));
        }
    }

    /// A limit was met: what comes after it was not seen.
    pub(super) fn over(&mut self, why: &str) {
        self.shell.seen = Seen::Part;
        self.doubt(why);
    }

    pub(super) fn is_over(&self) -> bool {
        self.shell.seen == Seen::Part
    }

    pub(super) fn is_clear(&self) -> bool {
        self.shell.doubts.is_empty()
    }

    /// The next simple command of the text begins.
    pub(super) fn begin_command(&mut self) {
        if self.files == Files::ChangedNext {
            self.files = Files::Changed;
        }
    }

    /// The command may make links, or bring folders that hold some.
    pub(super) fn change_files(&mut self) {
        if self.files == Files::AsTheyWere {
            self.files = Files::ChangedNext;
        }
    }

    /// Another process may change files while the command runs.
    pub(super) fn files_change_meanwhile(&mut self) {
        self.files = Files::Changed;
    }

    /// Whether a path leads where it seems to.
    pub(super) fn are_files_known(&self) -> bool {
        self.files != Files::Changed
    }

    pub(super) fn command(&mut self, words: &[Word]) {
        if self.shell.commands.len() >= MAX_COMMANDS {
            self.over("it has too many commands");
            return;
        }
        self.shell.commands.push(self.simple(words));
    }

    /// The command as rules see it. A name that leads to a program of the workspace is the name of
    /// that program.
    pub(super) fn simple(&self, words: &[Word]) -> SimpleCommand {
        let name = words.first().map(Word::program);
        let own = name.and_then(|name| self.programs.in_workspace(name, self.zones));
        let rest = words.iter().skip(1).map(|word| word.text.as_str());
        SimpleCommand::of(own.as_deref().or(name).into_iter().chain(rest))
    }

    /// Whether one of the commands reads commands from somewhere.
    pub(super) fn has_shell(&self) -> bool {
        let is_shell = |command: &SimpleCommand| super::wrappers::is_shell(name_of(command.name()));
        self.shell.commands.iter().any(is_shell)
    }

    /// A path that a command uses from every folder in which the shell may be.
    pub(super) fn path(&mut self, path: &str, access: Access) {
        for used in self.uses(path, access) {
            self.add(used, Of::Command);
        }
    }

    /// A path that a redirection opens.
    pub(super) fn redirection(&mut self, path: &str, access: Access) {
        for used in self.uses(path, access) {
            self.add(used, Of::Redirection);
        }
    }

    /// A path named by a command that is not known to be read-only.
    pub(super) fn path_of_writer(&mut self, path: &str) {
        let of = |folder: &PathBuf| self.zones.uses_of_writer(folder, path);
        let uses: Vec<PathUse> = self.folders.iter().flat_map(of).collect();
        for used in uses {
            let used = self.as_far_as_known(used);
            self.add(used, Of::Command);
        }
    }

    /// A path that only the shell will find.
    pub(super) fn somewhere(&mut self, pattern: &str, access: Access) {
        let used = PathUse { path: Arc::from(pattern), access, zone: Zone::Outside };
        self.add(used, Of::Command);
    }

    /// Something that decides what runs, which the command may change without naming it.
    pub(super) fn reaches(&mut self, what: &str) {
        let (path, access) = (Arc::from(what), Access::Read);
        self.add(PathUse { path, access, zone: Zone::Protected }, Of::Command);
    }

    /// Files beneath a folder, or of a pattern, which the command uses without naming them.
    pub(super) fn scan(&mut self, path: &str, access: Access) {
        let of = |folder: &PathBuf| self.zones.uses_from(folder, path, Access::Read);
        let uses: Vec<PathUse> = self.folders.iter().flat_map(of).collect();
        for used in uses {
            let scan = Scan { path: used.path, access };
            if self.shell.scans.len() >= MAX_PATHS {
                self.over("it names too many paths");
            } else if !self.shell.scans.contains(&scan) {
                self.shell.scans.push(scan);
            }
        }
    }

    fn uses(&self, path: &str, access: Access) -> Vec<PathUse> {
        let of = |folder: &PathBuf| self.zones.uses_from(folder, path, access);
        self.folders.iter().flat_map(of).map(|used| self.as_far_as_known(used)).collect()
    }

    /// A path of the workspace that an earlier command may have put elsewhere could be anywhere.
    fn as_far_as_known(&self, used: PathUse) -> PathUse {
        let is_lost = used.zone == Zone::Workspace && !self.are_files_known();
        let zone = if is_lost { Zone::Outside } else { used.zone };
        PathUse { zone, ..used }
    }

    fn add(&mut self, used: PathUse, of: Of) {
        let Shell { reads, writes, redirects, .. } = &self.shell;
        if reads.len() + writes.len() + redirects.len() >= MAX_PATHS {
            self.over("it names too many paths");
            return;
        }
        let list = match (used.access, of) {
            (Access::Read, _) => &mut self.shell.reads,
            (Access::Write, Of::Command) => &mut self.shell.writes,
            (Access::Write, Of::Redirection) => &mut self.shell.redirects,
        };
        if !list.contains(&used) {
            list.push(used);
        }
    }

    pub(super) fn into_shell(self) -> Shell {
        self.shell
    }
}

/// What uses a path.
#[derive(Clone, Copy)]
enum Of {
    Command,
    Redirection,
}
