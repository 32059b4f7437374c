//! Shared tool context of an agent's tools: path zones, tool state, clock, background commands.

mod denied_files;
pub(crate) mod tool_state;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use windlass_core::call::call_facts::CallFacts;
use windlass_core::call::outcome::ToolError;
use windlass_core::log::ids::LaneId;
use windlass_core::permission::{
    CallEffect, CallSubject, HookPreference, PathAccess, PathZone, PermissionQuery, Permissions,
    RuleDecision,
};
use windlass_core::settings::conversation_settings::Settings;
use windlass_runtime::ports::{CallContext, Clock, LaunchAccess, ProcessLauncher};
use windlass_runtime::{SystemClock, UnconfinedLauncher};

use crate::background_agents::BackgroundAgents;
use crate::files::{OpenFiles, PathZones, ResolvedPath};
use crate::process::SandboxNeeds;
#[cfg(feature = "shell")]
use crate::shell::{BackgroundCommands, RunningCommands};
use crate::tool_context::tool_state::{ToolState, ToolStateStorage};

/// A workspace and everything around it that tools need. Cloning it is cheap, and the clones share
/// their tool state.
#[derive(Clone)]
pub struct ToolContext {
    zones: Arc<PathZones>,
    state_storage: Arc<ToolStateStorage>,
    hidden_patterns: Arc<Gitignore>,
    /// The lines of `hidden_patterns`.
    hidden_lines: Arc<Vec<String>>,
    /// The folder of the git worktrees of sub-agents.
    worktrees: Option<Arc<Path>>,
    /// Whether the run works in such a worktree.
    is_in_worktree: bool,
    rules: Option<Arc<Permissions>>,
    clock: Arc<dyn Clock>,
    launcher: Arc<dyn ProcessLauncher>,
    #[cfg(feature = "shell")]
    background_commands: Arc<BackgroundCommands>,
    #[cfg(feature = "shell")]
    running_commands: Arc<RunningCommands>,
    command_variables: Arc<Vec<(String, String)>>,
    open_files: Option<Arc<dyn OpenFiles>>,
    background_agents: Option<Arc<dyn BackgroundAgents>>,
}

impl ToolContext {
    /// Returns a tool context for `workspace`, with the folders of this user. The tool state is
    /// lost with this process.
    #[must_use]
    pub fn new(workspace: &Path) -> Self {
        Self::with_zones(PathZones::new(workspace))
    }

    /// Returns a tool context with these zones.
    #[must_use]
    pub fn with_zones(zones: PathZones) -> Self {
        Self {
            zones: Arc::new(zones),
            state_storage: Arc::new(ToolStateStorage::temporary()),
            hidden_patterns: Arc::new(Gitignore::empty()),
            hidden_lines: Arc::default(),
            worktrees: None,
            is_in_worktree: false,
            rules: None,
            clock: Arc::new(SystemClock::start()),
            launcher: Arc::new(UnconfinedLauncher),
            #[cfg(feature = "shell")]
            background_commands: Arc::default(),
            #[cfg(feature = "shell")]
            running_commands: Arc::default(),
            command_variables: Arc::default(),
            open_files: None,
            background_agents: None,
        }
    }

    /// Reads and writes files through an editor: what is typed there and not saved yet counts.
    #[must_use]
    pub fn with_open_files(mut self, open_files: Arc<dyn OpenFiles>) -> Self {
        self.open_files = Some(open_files);
        self
    }

    pub(crate) fn open_files(&self) -> Option<&dyn OpenFiles> {
        self.open_files.as_deref()
    }

    /// Lets the tools about background tasks see sub-agents, too.
    #[must_use]
    pub fn with_background_agents(mut self, agents: Arc<dyn BackgroundAgents>) -> Self {
        self.background_agents = Some(agents);
        self
    }

    #[cfg(feature = "shell")]
    pub(crate) fn background_agents(&self) -> Option<&dyn BackgroundAgents> {
        self.background_agents.as_deref()
    }

    /// Adds environment variables for commands.
    #[must_use]
    pub fn with_variables(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        // A name that no environment can contain would keep every command from starting.
        let fits = |(name, _): &(String, String)| !name.is_empty() && !name.contains(['=', '\0']);
        self.command_variables = Arc::new(variables.into_iter().filter(fits).collect());
        self
    }

    /// Keeps the tool state of conversations in `folder`, so that the next process finds it.
    #[must_use]
    pub fn with_state_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        // Tools must not change their own state.
        self.zones = Arc::new(PathZones::clone(&self.zones).with_protected_folder(&folder));
        self.state_storage = Arc::new(ToolStateStorage::Persistent(folder));
        self
    }

    /// Deletes the tool state of the conversation on `lane`.
    pub fn delete_state(&self, lane: &LaneId) -> io::Result<()> {
        self.tool_state(lane).clear()
    }

    /// Uses `clock` to measure time.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Starts commands through `launcher`. Without it they are not confined.
    #[must_use]
    pub fn with_launcher(mut self, launcher: Arc<dyn ProcessLauncher>) -> Self {
        self.launcher = launcher;
        self
    }

    /// Applies these rules: files that they deny to read are not found by searching either. Whether
    /// a call may run at all is decided elsewhere.
    #[must_use]
    pub fn with_rules(mut self, rules: Permissions) -> Self {
        self.rules = Some(Arc::new(rules));
        self
    }

    /// Returns the context with the rules of the run that a call belongs to, and with the folders
    /// that were added to its workspace: they came with its prompt or since then, whichever process
    /// runs it.
    #[must_use]
    pub(crate) fn of_run(&self, context: &CallContext) -> Self {
        let Some(settings) = &context.settings else { return self.clone() };
        let own = self.with_folders_of(settings);
        match &own.rules {
            Some(_) => own.with_rules(settings.rules.clone()),
            None => own,
        }
    }

    /// Returns the context with the folders that were added to the workspace of a run.
    #[must_use]
    pub(crate) fn with_folders_of(&self, run: &Settings) -> Self {
        let mut own = self.clone();
        if let Some(worktree) = self.worktree_of(run) {
            own.zones = Arc::new(self.zones.moved_to(worktree));
            own.is_in_worktree = true;
            own.hidden_patterns = Arc::new(own.compile_hidden_patterns());
        }
        if !run.rules.folders.is_empty() {
            let add = |zones: PathZones, folder: &Arc<str>| zones.with_folder(Path::new(&**folder));
            own.zones = Arc::new(run.rules.folders.iter().fold((*own.zones).clone(), add));
        }
        own
    }

    /// Lets runs work in git worktrees beneath `folder`: one whose rules have a root there works in it
    /// and not in the workspace.
    #[must_use]
    pub fn with_worktrees(mut self, folder: &Path) -> Self {
        self.worktrees = Some(Arc::from(folder));
        self
    }

    /// The worktree in which a run works.
    fn worktree_of<'r>(&self, run: &'r Settings) -> Option<&'r Path> {
        let root = Path::new(&*run.rules.root);
        let is_beneath = |folder: &Arc<Path>| root.starts_with(folder) && root != &**folder;
        self.worktrees.as_ref().is_some_and(is_beneath).then_some(root)
    }

    /// Adds paths that `GlobTool` and `GrepTool` skip, written as in a `.gitignore` and relative to
    /// the workspace. An invalid pattern hides everything.
    #[must_use]
    pub fn with_hidden_patterns<'p>(mut self, patterns: impl IntoIterator<Item = &'p str>) -> Self {
        self.hidden_lines = Arc::new(patterns.into_iter().map(str::to_owned).collect());
        self.hidden_patterns = Arc::new(self.compile_hidden_patterns());
        self
    }

    fn compile_hidden_patterns(&self) -> Gitignore {
        let mut builder = GitignoreBuilder::new(self.zones.root());
        for pattern in self.hidden_lines.iter() {
            if builder.add_line(None, pattern).is_err() {
                drop(builder.add_line(None, "**"));
            }
        }
        builder.build().unwrap_or_else(|_| Gitignore::empty())
    }

    /// Returns the path zones.
    #[must_use]
    pub fn zones(&self) -> &PathZones {
        &self.zones
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Returns what a process of this context needs of the sandbox.
    ///
    /// # Errors
    ///
    /// Fails if the files that rules deny to read cannot all be found.
    pub(crate) fn sandbox_needs(&self, access: LaunchAccess) -> io::Result<SandboxNeeds> {
        let rules = self.rules.as_deref().cloned().unwrap_or_default();
        let added = rules.folders.iter().map(|folder| PathBuf::from(&**folder));
        Ok(SandboxNeeds {
            access,
            workplace: self.is_in_worktree.then(|| self.zones.root().to_owned()),
            added_folders: added.collect(),
            unreadable: denied_files::find_denied_files(&rules, self.zones.roots())?,
            ..SandboxNeeds::default()
        })
    }

    /// Returns the launcher of commands.
    #[must_use]
    pub fn launcher(&self) -> &Arc<dyn ProcessLauncher> {
        &self.launcher
    }

    /// Returns the environment variables for commands.
    pub(crate) fn command_variables(&self) -> &[(String, String)] {
        &self.command_variables
    }

    /// Returns the background commands.
    #[cfg(feature = "shell")]
    pub(crate) fn background_commands(&self) -> &BackgroundCommands {
        &self.background_commands
    }

    /// Returns the running commands.
    #[cfg(feature = "shell")]
    pub(crate) fn running_commands(&self) -> &Arc<RunningCommands> {
        &self.running_commands
    }

    pub(crate) fn tool_state(&self, lane: &LaneId) -> ToolState {
        self.state_storage.for_lane(lane)
    }

    /// Returns whether a search skips `path`.
    pub(crate) fn is_hidden(&self, path: &Path, is_folder: bool) -> bool {
        let inside = path.starts_with(self.zones.root());
        let is_hidden =
            || self.hidden_patterns.matched_path_or_any_parents(path, is_folder).is_ignore();
        // A conversation may search the output of its own commands.
        let is_own = self.zones.is_in_own_folder(path) && !ToolState::may_be_output(path);
        (inside && is_hidden()) || is_own || self.zones.is_private(path) || self.is_denied(path)
    }

    fn is_denied(&self, path: &Path) -> bool {
        let Some(rules) = &self.rules else { return false };
        matches!(self.read_decision_by(rules, &path.to_string_lossy()), RuleDecision::Deny(..))
    }

    /// Returns the permission decision about reading `path`; without rules, paths in the workspace
    /// may be read.
    pub(crate) fn read_decision(&self, path: &str) -> RuleDecision {
        let rules = self.rules.as_deref().cloned().unwrap_or_default();
        self.read_decision_by(&rules, path)
    }

    fn read_decision_by(&self, rules: &Permissions, path: &str) -> RuleDecision {
        let subject = self.read_subject(path);
        let (tool, effect, preference) = ("Read", CallEffect::ReadOnly, HookPreference::Neutral);
        rules.evaluate_rules(PermissionQuery {
            tool,
            subject: &subject,
            effect,
            preference,
            grants: &[],
        })
    }

    /// Resolves `path` for reading: in the zones, or among the output files of this conversation's
    /// commands.
    pub(crate) fn resolve_to_read(
        &self,
        state: &ToolState,
        path: &str,
    ) -> Result<ResolvedPath, ToolError> {
        let zones = self.zones.as_ref();
        let outputs =
            ToolState::may_be_output(Path::new(path)).then(|| state.real_outputs_folder());
        match outputs.flatten() {
            Some(outputs) => zones.resolve_with_folder(path, &outputs),
            None => zones.resolve(path),
        }
    }

    /// Resolves `path` as a folder to search.
    pub(crate) fn resolve_search_folder(&self, path: &str) -> Result<ResolvedPath, ToolError> {
        let resolved = self.zones.resolve(path)?;
        resolved.check_folder()?;
        self.check_not_hidden(&resolved)?;
        Ok(resolved)
    }

    /// Resolves `path` as a file or folder for a content search.
    pub(crate) fn resolve_to_search(
        &self,
        state: &ToolState,
        path: &str,
    ) -> Result<ResolvedPath, ToolError> {
        let resolved = self.resolve_to_read(state, path)?;
        resolved.check_readable()?;
        self.check_not_hidden(&resolved)?;
        Ok(resolved)
    }

    fn check_not_hidden(&self, resolved: &ResolvedPath) -> Result<(), ToolError> {
        match self.is_hidden(&resolved.real_path(), true) {
            true => Err(ToolError::new(
                "hidden",
                &format!("{} is hidden from searches", resolved.display_path.display()),
                "search elsewhere, or ask the user",
            )),
            false => Ok(()),
        }
    }

    /// Returns the resource keys of a call about `path`.
    pub(crate) fn resource_keys(&self, path: &str) -> Vec<Arc<str>> {
        crate::files::resource_keys(&self.zones, path)
    }

    /// Returns the permission subject of a call that reads `path`.
    pub(crate) fn read_subject(&self, path: &str) -> CallSubject {
        CallSubject::Paths(self.zones.path_uses(path, PathAccess::Read))
    }

    /// Returns the facts with permission for a conversation to read the output of its own commands.
    pub(crate) fn allow_own_outputs(&self, lane: &LaneId, mut facts: CallFacts) -> CallFacts {
        let CallSubject::Paths(uses) = &mut facts.subject else { return facts };
        if !uses.iter().all(|used| ToolState::may_be_output(Path::new(&*used.path))) {
            return facts;
        }
        let Some(outputs) = self.tool_state(lane).real_outputs_folder() else { return facts };
        if uses.iter().all(|used| Path::new(&*used.path).starts_with(&outputs)) {
            uses.iter_mut().for_each(|used| used.zone = PathZone::Workspace);
        }
        facts
    }

    /// Returns the permission subject of a call that changes `path`.
    pub(crate) fn write_subject(&self, path: &str) -> CallSubject {
        CallSubject::Paths(self.zones.path_uses(path, PathAccess::Write))
    }
}

impl From<&Path> for ToolContext {
    fn from(workspace: &Path) -> Self {
        Self::new(workspace)
    }
}

impl From<&str> for ToolContext {
    fn from(workspace: &str) -> Self {
        Self::new(Path::new(workspace))
    }
}

impl From<&PathBuf> for ToolContext {
    fn from(workspace: &PathBuf) -> Self {
        Self::new(workspace)
    }
}

impl From<PathBuf> for ToolContext {
    fn from(workspace: PathBuf) -> Self {
        Self::new(&workspace)
    }
}

impl From<OsString> for ToolContext {
    fn from(workspace: OsString) -> Self {
        Self::new(Path::new(&workspace))
    }
}

impl From<&Self> for ToolContext {
    fn from(context: &Self) -> Self {
        context.clone()
    }
}

impl std::fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolContext").field("zones", &self.zones).finish_non_exhaustive()
    }
}
