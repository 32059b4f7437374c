//! What the tools of an agent share: the places they know, the desks of the conversations, a clock.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use windlass_core::facts::Facts;
use windlass_core::ids::LaneId;
use windlass_core::outcome::ToolError;
use windlass_core::permission::{Access, Asked, Effect, Lean, Permissions, Ruling, Subject, Zone};
use windlass_runtime::SystemClock;
use windlass_runtime::ports::{CallContext, Clock};

use crate::desk::{Desk, Desks};
use crate::files::{Place, Zones};
use crate::shell::{Background, CommandsUnderWay};

/// A workspace and everything around it that tools need. Cloning it is cheap, and the clones share
/// their desks.
#[derive(Clone)]
pub struct Workplace {
    zones: Arc<Zones>,
    desks: Arc<Desks>,
    hidden: Arc<Gitignore>,
    rules: Option<Arc<Permissions>>,
    clock: Arc<dyn Clock>,
    background: Arc<Background>,
    under_way: Arc<CommandsUnderWay>,
    variables: Arc<Vec<(String, String)>>,
}

impl Workplace {
    /// A place to work in `workspace`, with the folders of this user. What tools keep is lost with
    /// this process.
    #[must_use]
    pub fn new(workspace: &Path) -> Self {
        Self::over(Zones::new(workspace))
    }

    /// A place to work in the zones given.
    #[must_use]
    pub fn over(zones: Zones) -> Self {
        Self {
            zones: Arc::new(zones),
            desks: Arc::new(Desks::passing()),
            hidden: Arc::new(Gitignore::empty()),
            rules: None,
            clock: Arc::new(SystemClock::start()),
            background: Arc::default(),
            under_way: Arc::default(),
            variables: Arc::default(),
        }
    }

    /// The same, where commands find these variables in their environment too.
    #[must_use]
    pub fn with_variables(mut self, variables: impl IntoIterator<Item = (String, String)>) -> Self {
        // A name that no environment can hold would keep every command from starting.
        let fits = |(name, _): &(String, String)| !name.is_empty() && !name.contains(['=', '\0']);
        self.variables = Arc::new(variables.into_iter().filter(fits).collect());
        self
    }

    /// The same, keeping what belongs to a conversation in `folder`, so that whoever resumes it
    /// finds it.
    #[must_use]
    pub fn keeping_in(mut self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        // What tools remember is not for tools to change.
        self.zones = Arc::new(Zones::clone(&self.zones).protecting(&folder));
        self.desks = Arc::new(Desks::Kept(folder));
        self
    }

    /// Throws away what is kept for the conversation on `lane`.
    pub fn forget(&self, lane: &LaneId) -> std::io::Result<()> {
        self.desk(lane).clear()
    }

    /// The same, keeping time by `clock`.
    #[must_use]
    pub fn timed_by(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The same, under these rules: what they deny to read is not found by searching either. Whether
    /// a call may run at all is judged elsewhere.
    #[must_use]
    pub fn ruled_by(mut self, rules: Permissions) -> Self {
        self.rules = Some(Arc::new(rules));
        self
    }

    /// The same, under the rules of the run that a call belongs to: they are what its prompt brought
    /// along, whichever process runs it.
    #[must_use]
    pub(crate) fn of_run(&self, context: &CallContext) -> Self {
        match (&self.rules, &context.settings) {
            (Some(_), Some(settings)) => self.clone().ruled_by(settings.rules.clone()),
            (None, _) | (_, None) => self.clone(),
        }
    }

    /// The same, with paths that `Glob` and `Grep` pass over, written as in a `.gitignore` and from
    /// the workspace. A pattern that cannot be read hides everything.
    #[must_use]
    pub fn hiding<'p>(mut self, patterns: impl IntoIterator<Item = &'p str>) -> Self {
        let mut builder = GitignoreBuilder::new(self.zones.root());
        for pattern in patterns {
            if builder.add_line(None, pattern).is_err() {
                drop(builder.add_line(None, "**"));
            }
        }
        self.hidden = Arc::new(builder.build().unwrap_or_else(|_| Gitignore::empty()));
        self
    }

    /// The places it knows.
    #[must_use]
    pub fn zones(&self) -> &Zones {
        &self.zones
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Variables for commands.
    pub(crate) fn variables(&self) -> &[(String, String)] {
        &self.variables
    }

    /// The commands in the background.
    pub(crate) fn background(&self) -> &Background {
        &self.background
    }

    /// The commands that run now.
    pub(crate) fn under_way(&self) -> &Arc<CommandsUnderWay> {
        &self.under_way
    }

    pub(crate) fn desk(&self, lane: &LaneId) -> Desk {
        self.desks.of(lane)
    }

    /// Whether a search passes over `path`.
    pub(crate) fn hides(&self, path: &Path, is_folder: bool) -> bool {
        let inside = path.starts_with(self.zones.root());
        let is_hidden = || self.hidden.matched_path_or_any_parents(path, is_folder).is_ignore();
        // What its own commands printed, a conversation may search.
        let is_own = self.zones.is_own(path) && !Desk::may_be_output(path);
        (inside && is_hidden()) || is_own || self.zones.is_private(path) || self.denies(path)
    }

    fn denies(&self, path: &Path) -> bool {
        let Some(rules) = &self.rules else { return false };
        matches!(self.read_judged(rules, &path.to_string_lossy()), Ruling::Deny(_))
    }

    /// What the rules say of reading `path`; without rules what lies in the workspace may be read.
    pub(crate) fn judged_to_read(&self, path: &str) -> Ruling {
        let rules = self.rules.as_deref().cloned().unwrap_or_default();
        self.read_judged(&rules, path)
    }

    fn read_judged(&self, rules: &Permissions, path: &str) -> Ruling {
        let subject = self.looking(path);
        let (tool, effect, lean) = ("Read", Effect::None, Lean::Neutral);
        rules.judge(Asked { tool, subject: &subject, effect, lean, grants: &[] })
    }

    /// The file that `path` means for looking at it: in the zones, or among what this
    /// conversation's commands printed.
    pub(crate) fn place_to_read(&self, desk: &Desk, path: &str) -> Result<Place, ToolError> {
        let zones = self.zones.as_ref();
        let outputs = Desk::may_be_output(Path::new(path)).then(|| desk.outputs_path());
        match outputs.flatten() {
            Some(outputs) => zones.place_or_beneath(path, &outputs),
            None => zones.place(path),
        }
    }

    /// The folder that `path` means for a search.
    pub(crate) fn folder_to_search(&self, path: &str) -> Result<Place, ToolError> {
        let place = self.zones.place(path)?;
        place.check_folder()?;
        self.check_shown(&place)?;
        Ok(place)
    }

    /// The file or folder that `path` means for a search in contents.
    pub(crate) fn place_to_search(&self, desk: &Desk, path: &str) -> Result<Place, ToolError> {
        let place = self.place_to_read(desk, path)?;
        place.check_readable()?;
        self.check_shown(&place)?;
        Ok(place)
    }

    fn check_shown(&self, place: &Place) -> Result<(), ToolError> {
        match self.hides(&place.real(), true) {
            true => Err(ToolError::new(
                "hidden",
                &format!("{} is hidden from searches", place.shown.display()),
                "search elsewhere, or ask the user",
            )),
            false => Ok(()),
        }
    }

    /// What a call about `path` touches.
    pub(crate) fn keys(&self, path: &str) -> Vec<Arc<str>> {
        crate::files::keys_of(&self.zones, path)
    }

    /// What a call that looks at `path` is about.
    pub(crate) fn looking(&self, path: &str) -> Subject {
        Subject::Paths(self.zones.uses(path, Access::Read))
    }

    /// The same facts, knowing that a conversation may look at what its own commands printed.
    pub(crate) fn with_outputs(&self, lane: &LaneId, mut facts: Facts) -> Facts {
        let Subject::Paths(uses) = &mut facts.subject else { return facts };
        if !uses.iter().all(|used| Desk::may_be_output(Path::new(&*used.path))) {
            return facts;
        }
        let Some(outputs) = self.desk(lane).outputs_path() else { return facts };
        if uses.iter().all(|used| Path::new(&*used.path).starts_with(&outputs)) {
            uses.iter_mut().for_each(|used| used.zone = Zone::Workspace);
        }
        facts
    }

    /// What a call that changes `path` is about.
    pub(crate) fn changing(&self, path: &str) -> Subject {
        Subject::Paths(self.zones.uses(path, Access::Write))
    }
}

impl From<&Path> for Workplace {
    fn from(workspace: &Path) -> Self {
        Self::new(workspace)
    }
}

impl From<&str> for Workplace {
    fn from(workspace: &str) -> Self {
        Self::new(Path::new(workspace))
    }
}

impl From<&PathBuf> for Workplace {
    fn from(workspace: &PathBuf) -> Self {
        Self::new(workspace)
    }
}

impl From<PathBuf> for Workplace {
    fn from(workspace: PathBuf) -> Self {
        Self::new(&workspace)
    }
}

impl From<OsString> for Workplace {
    fn from(workspace: OsString) -> Self {
        Self::new(Path::new(&workspace))
    }
}

impl From<&Self> for Workplace {
    fn from(place: &Self) -> Self {
        place.clone()
    }
}

impl std::fmt::Debug for Workplace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Workplace").field("zones", &self.zones).finish_non_exhaustive()
    }
}
