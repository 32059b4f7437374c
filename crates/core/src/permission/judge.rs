//! The order of judgement: deny, ask, mode, allow, the tool's own check, classifier, human. What a
//! hook said comes before; what it allowed never overrides deny or ask.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::bounded;
use super::grant::Grant;
use super::mode::Mode;
use super::program_text::shows_what_it_runs;
use super::readonly::{is_read_only, only_wraps};
use super::rule::Rule;
use super::scope::Places;
use super::subject::{Access, PathUse, Seen, Shell, SimpleCommand, Subject, Zone};
use super::verdict::{Human, Lean, Otherwise, Verdict};

/// The permissions of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Permissions {
    /// Tools that are blocked whatever else is said.
    #[serde(deserialize_with = "bounded::rules")]
    pub disallowed: Vec<Rule>,
    /// Never.
    #[serde(deserialize_with = "bounded::rules")]
    pub deny: Vec<Rule>,
    /// Only after a human said yes.
    #[serde(deserialize_with = "bounded::rules")]
    pub ask: Vec<Rule>,
    /// Without asking.
    #[serde(deserialize_with = "bounded::rules")]
    pub allow: Vec<Rule>,
    /// The mode.
    pub mode: Mode,
    /// The folder that path rules are written from, links resolved.
    pub root: Arc<str>,
    /// The home folder, for rules that begin with `~/`.
    pub home: Arc<str>,
    /// What happens to a call that nothing speaks for or against.
    pub otherwise: Otherwise,
    /// Whether there is anybody to ask.
    pub human: Human,
}

/// A call as the rules see it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Which tool.
    pub tool: &'a str,
    /// What it is about.
    pub subject: &'a Subject,
    /// Whether it changes nothing.
    pub effect: Effect,
    /// What a hook thinks of it.
    pub lean: Lean,
    /// What people have allowed in this conversation.
    pub grants: &'a [Grant],
}

/// Whether a call changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only looks. Somebody we trust says so: a server's own hint about itself does not count.
    None,
    /// It may change something.
    Some,
}

/// What the rules say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// It runs.
    Allow(Arc<str>),
    /// A human decides, whatever a hook said.
    Ask(Arc<str>),
    /// Nothing speaks for or against it: hook, classifier or human decide.
    Open,
    /// It does not run.
    Deny(Arc<str>),
}

impl Permissions {
    /// Everything runs that no rule holds back. For tests and for people who mean it.
    #[must_use]
    pub fn allow_all() -> Self {
        Self { otherwise: Otherwise::Allow, ..Self::default() }
    }

    /// The verdict on a call: what the rules say, and where they are silent the hook, the
    /// classifier, or a human.
    #[must_use]
    pub fn decide(&self, asked: Asked<'_>) -> Verdict {
        let by_default = || Arc::from("default");
        match (self.judge(asked), asked.lean) {
            (Ruling::Deny(reason), _) => Verdict::Deny { reason },
            (Ruling::Ask(by), _) => Verdict::ask(asked.tool, by, self.human),
            (_, Lean::Ask) => Verdict::ask(asked.tool, Arc::from("hook"), self.human),
            (Ruling::Allow(by), _) => Verdict::Allow { by },
            (Ruling::Open, Lean::Allow) => Verdict::Allow { by: Arc::from("hook") },
            (Ruling::Open, Lean::Neutral) => match (self.mode, self.otherwise) {
                (Mode::Auto, _) => Verdict::Refer {},
                (_, Otherwise::Ask) => Verdict::ask(asked.tool, by_default(), self.human),
                (_, Otherwise::Allow) => Verdict::Allow { by: by_default() },
                (_, Otherwise::Deny) => {
                    Verdict::Deny { reason: Arc::from(format!("no rule allows {}", asked.tool)) }
                }
            },
        }
    }

    /// What the rules say of a call.
    #[must_use]
    pub fn judge(&self, asked: Asked<'_>) -> Ruling {
        self.held_back(asked)
            .or_else(|| self.by_mode(asked))
            .or_else(|| self.for_person(asked))
            .or_else(|| self.let_go(asked))
            .or_else(|| own_check(asked))
            .unwrap_or_else(|| self.otherwise(asked))
    }

    /// Deny and ask: any part of the call is enough.
    fn held_back(&self, asked: Asked<'_>) -> Option<Ruling> {
        if let Some(rule) =
            self.hit(&self.disallowed, asked).or_else(|| self.hit(&self.deny, asked))
        {
            return deny(&format!("the rule {rule} denies it"));
        }
        if let Some(path) = protected_write(asked.subject) {
            return deny(&format!("{path} decides what may run and is not for tools to change"));
        }
        // A rule that would deny it may not have seen the part it is about.
        if is_half_seen(asked.subject) {
            return deny(
                "the command is too large to be looked through; split it into smaller ones",
            );
        }
        self.hit(&self.ask, asked).map(Ruling::Ask)
    }

    /// What may be about something that is held back is for a person: no rule, hook or classifier
    /// speaks for it.
    fn for_person(&self, asked: Asked<'_>) -> Option<Ruling> {
        let Subject::Shell(shell) = asked.subject else { return None };
        let reason = match () {
            () if names_protected(shell) => "it may change what decides which programs run",
            () if self.may_be_held_back(shell, asked) => "it may use what a rule holds back",
            () => return None,
        };
        Some(match self.mode {
            Mode::DontAsk => Ruling::Deny(Arc::from(format!("{reason}, and nobody is asked"))),
            Mode::Default
            | Mode::AcceptEdits
            | Mode::Plan
            | Mode::PlanNone
            | Mode::Auto
            | Mode::BypassPermissions => Ruling::Ask(Arc::from(reason)),
        })
    }

    fn hit(&self, rules: &[Rule], asked: Asked<'_>) -> Option<Arc<str>> {
        rules
            .iter()
            .find(|rule| rule.touches(asked.tool, asked.subject, self.places()))
            .map(|rule| rule.text().clone())
    }

    fn by_mode(&self, asked: Asked<'_>) -> Option<Ruling> {
        match self.mode {
            Mode::PlanNone => deny("the mode is plan:none; no tool runs"),
            Mode::Plan if !only_looks(asked) => deny("the mode is plan; nothing is changed"),
            Mode::AcceptEdits if is_file_edit(asked.subject) => allow("acceptEdits"),
            Mode::BypassPermissions => allow("bypassPermissions"),
            Mode::Default | Mode::AcceptEdits | Mode::Plan | Mode::DontAsk | Mode::Auto => None,
        }
    }

    /// Allow: every part of the call must be covered.
    fn let_go(&self, asked: Asked<'_>) -> Option<Ruling> {
        let mut rules = self.allowing(asked).filter(|rule| rule.names(asked.tool));
        let by = |rule: &Rule| Ruling::Allow(rule.text().clone());
        match asked.subject {
            Subject::Shell(shell) => self.shell_let_go(shell, asked),
            Subject::Nothing => rules.find(|rule| rule.is_unscoped()).map(by),
            Subject::Domain(host) => rules.find(|rule| rule.covers_domain(host)).map(by),
            Subject::Paths(paths) => self.paths_let_go(paths, asked),
        }
    }

    fn paths_let_go(&self, paths: &[PathUse], asked: Asked<'_>) -> Option<Ruling> {
        let covers = |rule: &Rule, used: &PathUse| {
            rule.names(asked.tool) && rule.covers_path(used, self.places())
        };
        let covered = |used: &PathUse| self.allowing(asked).any(|rule| covers(rule, used));
        let all = !paths.is_empty() && paths.iter().all(covered);
        all.then(|| Ruling::Allow(Arc::from("allow rules cover every path")))
    }

    fn shell_let_go(&self, shell: &Shell, asked: Asked<'_>) -> Option<Ruling> {
        if let Some(rule) = self.whole_tool(asked) {
            return Some(Ruling::Allow(rule));
        }
        let is_clear = shell.doubts.is_empty()
            && !shell.commands.is_empty()
            && all_in_workspace(&shell.writes)
            && shell.redirects.iter().all(|used| self.is_edit_allowed(used, asked));
        if !is_clear {
            return None;
        }
        let covered = |command: &SimpleCommand| {
            self.is_allowed(command, asked)
                || only_wraps(command)
                || self.is_harmless(command, shell)
        };
        let all = shell.commands.iter().all(covered);
        all.then(|| Ruling::Allow(Arc::from("every part of the command is allowed")))
    }

    /// A rule that lets every command run means it.
    fn whole_tool(&self, asked: Asked<'_>) -> Option<Arc<str>> {
        let is_whole = |rule: &&Rule| rule.is_unscoped() && rule.names(asked.tool);
        self.allowing(asked).find(is_whole).map(|rule| rule.text().clone())
    }

    /// Whether a rule that holds back may be about something the command does not show. Where there
    /// is such a rule, a command must be seen through first.
    fn may_be_held_back(&self, shell: &Shell, asked: Asked<'_>) -> bool {
        let shows_all = shows_all(shell);
        let may_touch = |rule: &Rule| {
            (!shows_all && rule.is_heard_in_commands(asked.tool))
                || rule.may_touch(asked.tool, shell, self.places())
        };
        let mut rules = self.disallowed.iter().chain(&self.deny).chain(&self.ask);
        rules.any(|rule| !rule.is_unscoped() && may_touch(rule))
    }

    /// Whether the file that a redirection writes to could be edited without asking.
    fn is_edit_allowed(&self, used: &PathUse, asked: Asked<'_>) -> bool {
        let is_accepted = self.mode == Mode::AcceptEdits && used.zone == Zone::Workspace;
        let covers = |rule: &Rule| rule.is_about_edits() && rule.covers_path(used, self.places());
        is_accepted || self.allowing(asked).any(covers)
    }

    fn is_allowed(&self, command: &SimpleCommand, asked: Asked<'_>) -> bool {
        self.allowing(asked).any(|rule| rule.names(asked.tool) && rule.covers_command(command))
    }

    /// The rules that let go: those of the settings and those people gave on the way.
    fn allowing<'a>(&'a self, asked: Asked<'a>) -> impl Iterator<Item = &'a Rule> {
        let given = asked.grants.iter().filter(move |grant| grant.holds_for(asked.subject));
        self.allow.iter().chain(given.map(|grant| &grant.rule))
    }

    /// Reading is harmless within the workspace; where edits are accepted, so is arranging files.
    fn is_harmless(&self, command: &SimpleCommand, shell: &Shell) -> bool {
        let accepts = self.mode == Mode::AcceptEdits;
        all_in_workspace(&shell.reads) && ((accepts && arranges(command)) || is_read_only(command))
    }

    fn otherwise(&self, asked: Asked<'_>) -> Ruling {
        match self.mode {
            Mode::DontAsk => {
                let reason =
                    format!("no rule allows this call of {} and nobody is asked", asked.tool);
                Ruling::Deny(Arc::from(reason))
            }
            Mode::Default
            | Mode::AcceptEdits
            | Mode::Plan
            | Mode::PlanNone
            | Mode::Auto
            | Mode::BypassPermissions => Ruling::Open,
        }
    }

    fn places(&self) -> Places<'_> {
        Places { root: &self.root, home: &self.home }
    }
}

fn allow(why: &str) -> Option<Ruling> {
    Some(Ruling::Allow(Arc::from(why)))
}

fn deny(why: &str) -> Option<Ruling> {
    Some(Ruling::Deny(Arc::from(why)))
}

/// The tool's own check: a call that only looks, at nothing outside the workspace, needs no rule.
fn own_check(asked: Asked<'_>) -> Option<Ruling> {
    let is_inside = match asked.subject {
        Subject::Nothing => true,
        Subject::Paths(paths) => !paths.is_empty() && all_in_workspace(paths),
        // What is asked of a host tells it something, and commands have been judged by now.
        Subject::Domain(_) | Subject::Shell(_) => false,
    };
    (is_inside && only_looks(asked)).then(|| Ruling::Allow(Arc::from("it only looks")))
}

/// Whether the call changes nothing. A command is judged by its parts, whatever the tool says.
fn only_looks(asked: Asked<'_>) -> bool {
    let is_read = |used: &PathUse| used.access == Access::Read;
    match asked.subject {
        Subject::Shell(shell) => {
            shell.doubts.is_empty()
                && shell.writes.is_empty()
                && shell.redirects.is_empty()
                && !shell.commands.is_empty()
                && shell.commands.iter().all(|command| is_read_only(command) || only_wraps(command))
        }
        Subject::Paths(paths) => asked.effect == Effect::None && paths.iter().all(is_read),
        Subject::Nothing | Subject::Domain(_) => asked.effect == Effect::None,
    }
}

fn is_half_seen(subject: &Subject) -> bool {
    matches!(subject, Subject::Shell(shell) if shell.seen == Seen::Part)
}

fn all_in_workspace(paths: &[PathUse]) -> bool {
    paths.iter().all(|used| used.zone == Zone::Workspace)
}

fn protected_write(subject: &Subject) -> Option<&Arc<str>> {
    let (writes, more): (&[PathUse], &[PathUse]) = match subject {
        Subject::Paths(paths) => (paths, &[]),
        Subject::Shell(shell) => (&shell.writes, &shell.redirects),
        Subject::Nothing | Subject::Domain(_) => (&[], &[]),
    };
    let is_protected = |p: &&PathUse| p.access == Access::Write && p.zone == Zone::Protected;
    writes.iter().chain(more).find(is_protected).map(|used| &used.path)
}

/// Whether the words of the command show what it runs and uses, as far as they can.
fn shows_all(shell: &Shell) -> bool {
    shell.doubts.is_empty()
        && shell.hidden.is_empty()
        && shell.commands.iter().all(shows_what_it_runs)
}

/// Whether a command that may write names a place that decides what may run. No rule covers that.
fn names_protected(shell: &Shell) -> bool {
    shell.reads.iter().any(|used| used.zone == Zone::Protected)
}

/// A file tool that stays in the workspace.
fn is_file_edit(subject: &Subject) -> bool {
    matches!(subject, Subject::Paths(paths) if !paths.is_empty() && all_in_workspace(paths))
}

/// The four commands that arrange files.
fn arranges(command: &SimpleCommand) -> bool {
    matches!(command.name(), "mkdir" | "touch" | "mv" | "cp")
}
