//! The result of the analysis so far, bounded.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use windlass_core::permission::{
    FileScan, ParseCoverage, PathAccess, PathUse, PathZone, ShellCommand, SimpleCommand,
};

use super::shell_word::{ShellWord, base_name_of};
use crate::files::PathZones;
use crate::limits::{
    MAX_COMMANDS, MAX_NAME_PIECES, MAX_PATHS, MAX_PATTERN_ENTRIES_IN_ALL, MAX_UNSUPPORTED_NOTES,
};
use crate::shell::ProgramLookup;

/// The commands, paths and unsupported parts found so far.
pub(crate) struct CommandAnalysis<'z> {
    pub(crate) zones: &'z PathZones,
    programs: &'z ProgramLookup,
    /// Folders in which the shell may be by now: whether a `cd` succeeds is only known at run time.
    pub(crate) folders: Vec<PathBuf>,
    /// Whether the shell may be in a folder that is not among them.
    is_folder_unknown: bool,
    file_stability: FileStability,
    /// Whether a command created files with unknown names (possibly links).
    has_unknown_files: bool,
    /// How many more parts of words may be checked as file names.
    pub(crate) pieces_left: usize,
    /// How many more directory entries may be compared with patterns.
    pub(crate) entries_left: usize,
    /// What was checked already, and in which circumstances: a text may repeat a word thousands of
    /// times.
    looked_at: HashSet<(Look, PathAccess, String, Standing)>,
    command: ShellCommand,
}

/// The kind of check of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Look {
    Path,
    Redirection,
    Writer,
    MayUse,
    Scan,
    /// A check of a pattern; `true` includes everything beneath the matches.
    Pattern(bool),
    Reach,
}

/// Everything besides a path that decides the result of its check.
type Standing = (usize, bool, FileStability, bool);

/// Whether paths still lead where they led when the command was analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum FileStability {
    /// Paths lead where they led.
    Unchanged,
    /// The last analysed command may change where paths lead; paths of later commands are
    /// uncertain. Its own redirections are opened before it runs.
    ChangedNext,
    /// Paths may lead elsewhere.
    Changed,
}

impl<'z> CommandAnalysis<'z> {
    pub(crate) fn new(zones: &'z PathZones, programs: &'z ProgramLookup, folder: &Path) -> Self {
        let (file_stability, command) = (FileStability::Unchanged, ShellCommand::default());
        let folders = vec![folder.to_owned()];
        let (is_folder_unknown, has_unknown_files, pieces_left) = (false, false, MAX_NAME_PIECES);
        let (entries_left, looked_at) = (MAX_PATTERN_ENTRIES_IN_ALL, HashSet::new());
        Self {
            zones,
            programs,
            folders,
            is_folder_unknown,
            file_stability,
            has_unknown_files,
            pieces_left,
            entries_left,
            looked_at,
            command,
        }
    }

    /// Returns whether this was not checked before in these circumstances, and records that it is
    /// now.
    pub(crate) fn is_new(&mut self, look: Look, path: &str, access: PathAccess) -> bool {
        let standing = (
            self.folders.len(),
            self.is_folder_unknown,
            self.file_stability,
            self.has_unknown_files,
        );
        self.looked_at.insert((look, access, path.to_owned(), standing))
    }

    /// Adds a note about a part that rules do not support.
    pub(crate) fn add_unsupported(&mut self, reason: &str) {
        let doubts = &mut self.command.unsupported;
        if doubts.len() < MAX_UNSUPPORTED_NOTES && !doubts.iter().any(|doubt| &**doubt == reason) {
            doubts.push(Arc::from(reason));
        }
    }

    /// Records that a limit was exceeded: the rest of the command was not analysed.
    pub(crate) fn stop_at_limit(&mut self, reason: &str) {
        self.command.coverage = ParseCoverage::Partial;
        self.add_unsupported(reason);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.command.coverage == ParseCoverage::Partial
    }

    pub(crate) fn is_fully_supported(&self) -> bool {
        self.command.unsupported.is_empty()
    }

    /// Begins the next simple command of the text.
    pub(crate) fn begin_command(&mut self) {
        if self.file_stability == FileStability::ChangedNext {
            self.file_stability = FileStability::Changed;
        }
    }

    /// Records that the command may create links, or folders that contain links.
    pub(crate) fn mark_files_changed(&mut self) {
        if self.file_stability == FileStability::Unchanged {
            self.file_stability = FileStability::ChangedNext;
        }
    }

    /// Records that the command may create links or folders with links, which may lead to files
    /// that rules deny.
    pub(crate) fn mark_unknown_files(&mut self) {
        self.mark_files_changed();
        self.has_unknown_files = true;
    }

    /// Records that the shell changes to an unknown folder.
    pub(crate) fn mark_folder_unknown(&mut self) {
        self.is_folder_unknown = true;
    }

    /// Records that the command may run or use something that its words do not show.
    pub(crate) fn mark_hidden_use(&mut self, what: &str) {
        let hidden = &mut self.command.hidden;
        if hidden.len() < MAX_UNSUPPORTED_NOTES && !hidden.iter().any(|known| &**known == what) {
            hidden.push(Arc::from(what));
        }
    }

    /// Records that another process may change files while the command runs.
    pub(crate) fn mark_concurrent_changes(&mut self) {
        self.file_stability = FileStability::Changed;
    }

    /// Returns whether paths lead where they seem to.
    pub(crate) fn are_files_known(&self) -> bool {
        self.file_stability != FileStability::Changed
    }

    pub(crate) fn add_command(&mut self, words: &[ShellWord]) {
        if self.command.commands.len() >= MAX_COMMANDS {
            self.stop_at_limit("it has too many commands");
            return;
        }
        let simple = self.to_simple_command(words);
        let others: Vec<SimpleCommand> = self.commands_under_other_names(&simple);
        self.command.other_names.extend(others);
        let placed = self.placed(&simple);
        if !placed.contains(&simple) {
            // Deny rules also check the name as it was written.
            self.command.other_names.push(simple);
        }
        self.command.commands.extend(placed);
    }

    /// Returns the command with its program's path relative to the workspace, once for each folder
    /// in which the shell may be: `./x` is another program in every folder.
    fn placed(&self, command: &SimpleCommand) -> Vec<SimpleCommand> {
        let name = command.name();
        if !name.contains('/') || name.starts_with('/') {
            return vec![command.clone()];
        }
        let mut placed: Vec<SimpleCommand> = Vec::new();
        for folder in &self.folders {
            let name = program_from_root(name, folder, self.zones);
            let rest = command.words.iter().skip(1).map(AsRef::as_ref);
            let command = SimpleCommand::from_words(std::iter::once(name.as_str()).chain(rest));
            if !placed.contains(&command) {
                placed.push(command);
            }
        }
        placed
    }

    /// Returns the command under other names of its program.
    fn commands_under_other_names(&self, command: &SimpleCommand) -> Vec<SimpleCommand> {
        let name = command.name();
        let rest = || command.words.iter().skip(1).map(AsRef::as_ref);
        let own = base_name_of(name).strip_prefix("git-");
        let own = own.map(|own| SimpleCommand::from_words(["git", own].into_iter().chain(rest())));
        let files: Vec<PathBuf> = match name.contains('/') {
            true => self.folders.iter().map(|folder| folder.join(name)).collect(),
            false => self.programs.find_file(name).into_iter().collect(),
        };
        let real = files.into_iter().filter_map(|file| std::fs::canonicalize(file).ok());
        let real = real.filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()));
        let real = real.filter(|real| real != base_name_of(name));
        let real =
            real.map(|real| SimpleCommand::from_words([real.as_str()].into_iter().chain(rest())));
        real.chain(own).collect()
    }

    /// Converts the words to a command as rules see it. A name that leads to a program of the
    /// workspace becomes the name of that program.
    pub(crate) fn to_simple_command(&self, words: &[ShellWord]) -> SimpleCommand {
        let name = words.first().map(ShellWord::program_name);
        let own = name.and_then(|name| self.programs.find_in_workspace(name, self.zones));
        let rest = words.iter().skip(1).map(|word| word.text.as_str());
        SimpleCommand::from_words(own.as_deref().or(name).into_iter().chain(rest))
    }

    /// Returns whether one of the commands is a shell, which reads commands.
    pub(crate) fn has_command_reader(&self) -> bool {
        let is_shell = |command: &SimpleCommand| {
            super::effects::wrappers::is_shell_program(base_name_of(command.name()))
        };
        self.command.commands.iter().any(is_shell)
    }

    /// Adds a path that a command uses, relative to every folder in which the shell may be.
    pub(crate) fn add_path(&mut self, path: &str, access: PathAccess) {
        if self.is_stopped() || !self.is_new(Look::Path, path, access) {
            return;
        }
        self.check_resolvable(path, access);
        for used in self.path_uses(path, access) {
            self.add_path_use(used, PathUser::Command);
        }
    }

    /// Adds a path that a redirection opens.
    pub(crate) fn add_redirection(&mut self, path: &str, access: PathAccess) {
        if self.is_stopped() || !self.is_new(Look::Redirection, path, access) {
            return;
        }
        self.check_resolvable(path, access);
        for used in self.path_uses(path, access) {
            self.add_path_use(used, PathUser::Redirection);
        }
    }

    /// Adds a path named by a command that is not known to be read-only.
    pub(crate) fn add_path_of_writer(&mut self, path: &str) {
        if self.is_stopped() || !self.is_new(Look::Writer, path, PathAccess::Write) {
            return;
        }
        self.check_resolvable(path, PathAccess::Read);
        self.add_possible_path(path, PathAccess::Write);
        let of = |folder: &PathBuf| self.zones.path_uses_of_writer(folder, path);
        let uses: Vec<PathUse> = self.folders.iter().flat_map(of).collect();
        for used in uses {
            let used = self.with_certain_zone(used);
            self.add_path_use(used, PathUser::Command);
        }
    }

    /// Adds a scan of all files if it cannot be determined which file a path leads to.
    fn check_resolvable(&mut self, path: &str, access: PathAccess) {
        let is_relative = !path.starts_with('/');
        let leads_astray = |folder: &PathBuf| !self.zones.is_resolvable(folder, path);
        let is_stream = super::effects::command_paths::STANDARD_DEVICES.contains(&path);
        let is_unknown = (self.has_unknown_files && !self.are_files_known())
            || (self.is_folder_unknown && is_relative)
            || (!is_stream && self.folders.iter().any(leads_astray));
        if is_unknown {
            self.add_scan("/", access);
        }
        if self.is_folder_unknown && is_relative && access == PathAccess::Write {
            self.add_protected_reach(path);
        }
    }

    /// Adds a file that a word may lead to, without plainly naming it.
    pub(crate) fn add_possible_path(&mut self, path: &str, access: PathAccess) {
        if self.is_stopped() || !self.is_new(Look::MayUse, path, access) {
            return;
        }
        let of = |folder: &PathBuf| self.zones.path_uses_from(folder, path, access);
        let uses: Vec<PathUse> = self.folders.iter().flat_map(of).collect();
        for used in uses {
            if self.command.may_use.len() >= MAX_PATHS {
                self.mark_hidden_use("it names too many paths");
            } else if !self.command.may_use.contains(&used) {
                self.command.may_use.push(used);
            }
        }
    }

    /// Adds a name within a longer word of a command that may write.
    pub(crate) fn add_mention(&mut self, path: &str) {
        self.add_possible_path(path, PathAccess::Read);
        self.add_possible_path(path, PathAccess::Write);
    }

    /// Returns whether a path is protected, relative to any folder in which the shell may be.
    pub(crate) fn is_protected(&self, path: &str) -> bool {
        self.folders.iter().any(|folder| self.zones.is_protected(folder, path))
    }

    /// Returns whether an earlier part of the command writes this file.
    pub(crate) fn is_written(&self, path: &str) -> bool {
        let ShellCommand { writes, redirects, .. } = &self.command;
        let of = |folder: &PathBuf| self.zones.path_uses_from(folder, path, PathAccess::Write);
        let mut uses = self.folders.iter().flat_map(of);
        uses.any(|used| writes.iter().chain(redirects).any(|written| written.path == used.path))
    }

    /// Returns the decoded words of all commands.
    pub(crate) fn command_words(&self) -> impl Iterator<Item = Arc<str>> {
        self.command.commands.iter().flat_map(|command| &command.words).cloned()
    }

    /// Adds a path that only the shell can expand.
    pub(crate) fn add_unresolved_path(&mut self, pattern: &str, access: PathAccess) {
        let used = PathUse { path: Arc::from(pattern), access, zone: PathZone::Outside };
        self.add_path_use(used, PathUser::Command);
    }

    /// Adds a protected path that the command may change without naming it.
    pub(crate) fn add_protected_reach(&mut self, what: &str) {
        let (path, access) = (Arc::from(what), PathAccess::Read);
        self.add_path_use(PathUse { path, access, zone: PathZone::Protected }, PathUser::Command);
    }

    /// Adds files beneath a folder, or of a pattern, which the command uses without naming them.
    pub(crate) fn add_scan(&mut self, path: &str, access: PathAccess) {
        if self.is_stopped() || !self.is_new(Look::Scan, path, access) {
            return;
        }
        let of = |folder: &PathBuf| self.zones.path_uses_from(folder, path, PathAccess::Read);
        let uses: Vec<PathUse> = self.folders.iter().flat_map(of).collect();
        for used in uses {
            let scan = FileScan { path: used.path, access };
            if self.command.scans.len() >= MAX_PATHS {
                self.stop_at_limit("it names too many paths");
            } else if !self.command.scans.contains(&scan) {
                self.command.scans.push(scan);
            }
        }
    }

    fn path_uses(&self, path: &str, access: PathAccess) -> Vec<PathUse> {
        let of = |folder: &PathBuf| self.zones.path_uses_from(folder, path, access);
        self.folders.iter().flat_map(of).map(|used| self.with_certain_zone(used)).collect()
    }

    /// Returns the use with the zone `Outside` if an earlier command may have changed where a path
    /// of the workspace leads.
    fn with_certain_zone(&self, used: PathUse) -> PathUse {
        let is_lost = used.zone == PathZone::Workspace && !self.are_files_known();
        let zone = if is_lost { PathZone::Outside } else { used.zone };
        PathUse { zone, ..used }
    }

    fn add_path_use(&mut self, used: PathUse, of: PathUser) {
        let ShellCommand { reads, writes, redirects, .. } = &self.command;
        if reads.len() + writes.len() + redirects.len() >= MAX_PATHS {
            self.stop_at_limit("it names too many paths");
            return;
        }
        let list = match (used.access, of) {
            (PathAccess::Read, _) => &mut self.command.reads,
            (PathAccess::Write, PathUser::Command) => &mut self.command.writes,
            (PathAccess::Write, PathUser::Redirection) => &mut self.command.redirects,
        };
        if !list.contains(&used) {
            list.push(used);
        }
    }

    pub(crate) fn into_shell_command(self) -> ShellCommand {
        self.command
    }
}

/// Returns a program's relative path relative to the workspace. In the workspace's own folder it is
/// unchanged.
fn program_from_root(name: &str, folder: &Path, zones: &PathZones) -> String {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    if folder == zones.root() {
        return name.to_owned();
    }
    let mut full_path = folder.clone();
    let mut has_name = false;
    for part in Path::new(name).components() {
        match part {
            Component::CurDir => {}
            // After a name that may be a link, `..` leads anywhere: no rule is written like that.
            Component::ParentDir if has_name => return folder.join(name).display().to_string(),
            Component::ParentDir => drop(full_path.pop()),
            Component::Normal(part) => {
                has_name = true;
                full_path.push(part);
            }
            Component::RootDir | Component::Prefix(_) => return name.to_owned(),
        }
    }
    let is_dotted = name.starts_with('.');
    match full_path.strip_prefix(zones.root()) {
        // A bare name would be looked up in `PATH`.
        Ok(beneath) if is_dotted || beneath.components().count() < 2 => {
            format!("./{}", beneath.display())
        }
        Ok(beneath) => beneath.display().to_string(),
        Err(_) => full_path.display().to_string(),
    }
}

/// Whether a path is used by a command or by a redirection.
#[derive(Clone, Copy)]
enum PathUser {
    Command,
    Redirection,
}
