//! What was found so far, with a bound on everything.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use windlass_core::permission::{Access, PathUse, Scan, Seen, Shell, SimpleCommand, Zone};

use super::word::{Word, name_of};
use crate::files::Zones;
use crate::limits::{
    MAX_COMMANDS, MAX_DOUBTS, MAX_NAME_PIECES, MAX_PATHS, MAX_PATTERN_ENTRIES_IN_ALL,
};
use crate::shell::Programs;

/// The commands, paths and doubts found so far.
pub(super) struct Found<'z> {
    pub(super) zones: &'z Zones,
    programs: &'z Programs,
    /// Folders in which the shell may be by now: whether a `cd` worked is only known when it runs.
    pub(super) folders: Vec<PathBuf>,
    /// Whether the shell may be in a folder that is not among them.
    is_lost: bool,
    files: Files,
    /// Whether a known command brought files whose names nobody has seen, links among them.
    has_brought: bool,
    /// How many more parts of words are looked at as names of files.
    pub(super) pieces_left: usize,
    /// How many more names of folders are compared with patterns.
    pub(super) entries_left: usize,
    /// What was looked at already, and in which circumstances: a text may repeat a word thousands of
    /// times.
    looked_at: HashSet<(Look, Access, String, Standing)>,
    shell: Shell,
}

/// How a path is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Look {
    Path,
    Redirection,
    Writer,
    MayUse,
    Scan,
    /// Whether with everything beneath.
    Pattern(bool),
    Reach,
}

/// Everything besides a path that decides what is found of it.
type Standing = (usize, bool, Files, bool);

/// Whether paths still lead where they led when the command was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
        let folders = vec![folder.to_owned()];
        let (is_lost, has_brought, pieces_left) = (false, false, MAX_NAME_PIECES);
        let (entries_left, looked_at) = (MAX_PATTERN_ENTRIES_IN_ALL, HashSet::new());
        Self {
            zones,
            programs,
            folders,
            is_lost,
            files,
            has_brought,
            pieces_left,
            entries_left,
            looked_at,
            shell,
        }
    }

    /// Whether this has not been looked at before, as things stand. From now on it has.
    pub(super) fn is_new(&mut self, look: Look, path: &str, access: Access) -> bool {
        let standing = (self.folders.len(), self.is_lost, self.files, self.has_brought);
        self.looked_at.insert((look, access, path.to_owned(), standing))
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

    /// The same, and what it brings may lead to files that rules hold back.
    pub(super) fn bring_files(&mut self) {
        self.change_files();
        self.has_brought = true;
    }

    /// The shell goes to a folder that is not known.
    pub(super) fn lose_folder(&mut self) {
        self.is_lost = true;
    }

    /// It may run or use something that it does not show.
    pub(super) fn hide(&mut self, what: &str) {
        let hidden = &mut self.shell.hidden;
        if hidden.len() < MAX_DOUBTS && !hidden.iter().any(|known| &**known == what) {
            hidden.push(Arc::from(what));
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
        let simple = self.simple(words);
        let others: Vec<SimpleCommand> = self.other_names(&simple);
        self.shell.other_names.extend(others);
        let placed = self.placed(&simple);
        if !placed.contains(&simple) {
            // Rules that hold back hear the name as it was written, too.
            self.shell.other_names.push(simple);
        }
        self.shell.commands.extend(placed);
    }

    /// The command with its program's path written from the workspace, once for each folder in which
    /// the shell may be: `./x` is another program in every folder.
    fn placed(&self, command: &SimpleCommand) -> Vec<SimpleCommand> {
        let name = command.name();
        if !name.contains('/') || name.starts_with('/') {
            return vec![command.clone()];
        }
        let mut placed: Vec<SimpleCommand> = Vec::new();
        for folder in &self.folders {
            let name = program_from_root(name, folder, self.zones);
            let rest = command.words.iter().skip(1).map(AsRef::as_ref);
            let command = SimpleCommand::of(std::iter::once(name.as_str()).chain(rest));
            if !placed.contains(&command) {
                placed.push(command);
            }
        }
        placed
    }

    /// The command under other names of its program.
    fn other_names(&self, command: &SimpleCommand) -> Vec<SimpleCommand> {
        let name = command.name();
        let rest = || command.words.iter().skip(1).map(AsRef::as_ref);
        let own = name_of(name).strip_prefix("git-");
        let own = own.map(|own| SimpleCommand::of(["git", own].into_iter().chain(rest())));
        let files: Vec<PathBuf> = match name.contains('/') {
            true => self.folders.iter().map(|folder| folder.join(name)).collect(),
            false => self.programs.file(name).into_iter().collect(),
        };
        let real = files.into_iter().filter_map(|file| std::fs::canonicalize(file).ok());
        let real = real.filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()));
        let real = real.filter(|real| real != name_of(name));
        let real = real.map(|real| SimpleCommand::of([real.as_str()].into_iter().chain(rest())));
        real.chain(own).collect()
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
        if self.is_over() || !self.is_new(Look::Path, path, access) {
            return;
        }
        self.check_known(path, access);
        for used in self.uses(path, access) {
            self.add(used, Of::Command);
        }
    }

    /// A path that a redirection opens.
    pub(super) fn redirection(&mut self, path: &str, access: Access) {
        if self.is_over() || !self.is_new(Look::Redirection, path, access) {
            return;
        }
        self.check_known(path, access);
        for used in self.uses(path, access) {
            self.add(used, Of::Redirection);
        }
    }

    /// A path named by a command that is not known to be read-only.
    pub(super) fn path_of_writer(&mut self, path: &str) {
        if self.is_over() || !self.is_new(Look::Writer, path, Access::Write) {
            return;
        }
        self.check_known(path, Access::Read);
        self.may_use(path, Access::Write);
        let of = |folder: &PathBuf| self.zones.uses_of_writer(folder, path);
        let uses: Vec<PathUse> = self.folders.iter().flat_map(of).collect();
        for used in uses {
            let used = self.as_far_as_known(used);
            self.add(used, Of::Command);
        }
    }

    /// Where it cannot be told which file a path leads to, it may be any.
    fn check_known(&mut self, path: &str, access: Access) {
        let is_relative = !path.starts_with('/');
        let leads_astray = |folder: &PathBuf| !self.zones.is_known(folder, path);
        let is_stream = super::paths::NO_FILES.contains(&path);
        let is_unknown = (self.has_brought && !self.are_files_known())
            || (self.is_lost && is_relative)
            || (!is_stream && self.folders.iter().any(leads_astray));
        if is_unknown {
            self.scan("/", access);
        }
        if self.is_lost && is_relative && access == Access::Write {
            self.reaches(path);
        }
    }

    /// A file that a word may lead to, though it does not plainly name it.
    pub(super) fn may_use(&mut self, path: &str, access: Access) {
        if self.is_over() || !self.is_new(Look::MayUse, path, access) {
            return;
        }
        let of = |folder: &PathBuf| self.zones.uses_from(folder, path, access);
        let uses: Vec<PathUse> = self.folders.iter().flat_map(of).collect();
        for used in uses {
            if self.shell.may_use.len() >= MAX_PATHS {
                self.hide("it names too many paths");
            } else if !self.shell.may_use.contains(&used) {
                self.shell.may_use.push(used);
            }
        }
    }

    /// A name within a longer word of a command that may write.
    pub(super) fn mention(&mut self, path: &str) {
        self.may_use(path, Access::Read);
        self.may_use(path, Access::Write);
    }

    /// Whether a path, from any folder in which the shell may be, decides what may run.
    pub(super) fn is_protected(&self, path: &str) -> bool {
        self.folders.iter().any(|folder| self.zones.is_protected(folder, path))
    }

    /// Whether an earlier part of the command writes this file.
    pub(super) fn is_written(&self, path: &str) -> bool {
        let Shell { writes, redirects, .. } = &self.shell;
        let of = |folder: &PathBuf| self.zones.uses_from(folder, path, Access::Write);
        let mut uses = self.folders.iter().flat_map(of);
        uses.any(|used| writes.iter().chain(redirects).any(|written| written.path == used.path))
    }

    /// The decoded words of all commands.
    pub(super) fn words(&self) -> impl Iterator<Item = Arc<str>> {
        self.shell.commands.iter().flat_map(|command| &command.words).cloned()
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
        if self.is_over() || !self.is_new(Look::Scan, path, access) {
            return;
        }
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

/// A relative path of a program as it is written from the workspace. In the workspace's own folder it
/// stays as it is.
fn program_from_root(name: &str, folder: &Path, zones: &Zones) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    if folder == zones.root() {
        return name.to_owned();
    }
    let mut whole = folder.clone();
    let mut has_name = false;
    for part in Path::new(name).components() {
        match part {
            Component::CurDir => {}
            // Behind a name that may be a link, `..` leads anywhere: no rule is written like that.
            Component::ParentDir if has_name => return folder.join(name).display().to_string(),
            Component::ParentDir => drop(whole.pop()),
            Component::Normal(part) => {
                has_name = true;
                whole.push(part);
            }
            Component::RootDir | Component::Prefix(_) => return name.to_owned(),
        }
    }
    let is_dotted = name.starts_with('.');
    match whole.strip_prefix(zones.root()) {
        // A name alone would be looked for in `PATH`.
        Ok(beneath) if is_dotted || beneath.components().count() < 2 => {
            format!("./{}", beneath.display())
        }
        Ok(beneath) => beneath.display().to_string(),
        Err(_) => whole.display().to_string(),
    }
}

/// What uses a path.
#[derive(Clone, Copy)]
enum Of {
    Command,
    Redirection,
}
