//! What was found so far, with a bound on everything.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_core::permission::{Access, PathUse, Seen, Shell, SimpleCommand, Zone};

use super::word::{Word, name_of};
use crate::files::Zones;
use crate::limits::{MAX_COMMANDS, MAX_DOUBTS, MAX_PATHS};

/// The commands, paths and doubts found so far.
pub(super) struct Found<'z> {
    pub(super) zones: &'z Zones,
    /// Folders in which the shell may be by now: whether a `cd` worked is only known when it runs.
    pub(super) folders: Vec<PathBuf>,
    shell: Shell,
}

impl<'z> Found<'z> {
    pub(super) fn new(zones: &'z Zones, folder: &Path) -> Self {
        Self { zones, folders: vec![folder.to_owned()], shell: Shell::default() }
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

    pub(super) fn command(&mut self, words: &[Word]) {
        if self.shell.commands.len() >= MAX_COMMANDS {
            self.over("it has too many commands");
            return;
        }
        let name = words.first().map(Word::program);
        let rest = words.iter().skip(1).map(|word| word.text.as_str());
        self.shell.commands.push(SimpleCommand::of(name.into_iter().chain(rest)));
    }

    /// Whether one of the commands reads commands from somewhere.
    pub(super) fn has_shell(&self) -> bool {
        let is_shell = |command: &SimpleCommand| super::wrappers::is_shell(name_of(command.name()));
        self.shell.commands.iter().any(is_shell)
    }

    /// A path that is used from every folder in which the shell may be.
    pub(super) fn path(&mut self, path: &str, access: Access) {
        let uses: Vec<PathUse> = self
            .folders
            .iter()
            .flat_map(|folder| self.zones.uses_from(folder, path, access))
            .collect();
        for used in uses {
            self.add(used);
        }
    }

    /// A path that only the shell will find.
    pub(super) fn somewhere(&mut self, pattern: &str, access: Access) {
        self.add(PathUse { path: Arc::from(pattern), access, zone: Zone::Outside });
    }

    fn add(&mut self, used: PathUse) {
        if self.shell.reads.len() + self.shell.writes.len() >= MAX_PATHS {
            self.over("it names too many paths");
            return;
        }
        let list = match used.access {
            Access::Read => &mut self.shell.reads,
            Access::Write => &mut self.shell.writes,
        };
        if !list.contains(&used) {
            list.push(used);
        }
    }

    pub(super) fn into_shell(self) -> Shell {
        self.shell
    }
}
