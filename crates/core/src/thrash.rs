//! Loop detection. Two detectors look at the last calls after every round: the same call again and
//! again, and the same tool again and again. What a detection leads to is weighed by progress,
//! because reading twenty files is work and asking the same question twenty times is not.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::settings::Settings;

/// Results and writes remembered, to tell new from seen.
const MEMORY: usize = 64;

/// A call that came back, as the detectors see it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seen {
    /// Which tool.
    pub tool: Arc<str>,
    /// Fingerprint of tool and arguments.
    pub input: u64,
    /// Fingerprint of what it brought back; `None` if that was empty or an error.
    pub result: Option<u64>,
    /// Whether it changed something.
    pub effect: Effect,
}

/// Whether a call changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It only looks.
    Looks,
    /// It changes something.
    Changes,
}

/// The numbers of the detectors, and the tools that one of them leaves alone.
#[derive(Debug, Clone, Copy)]
pub struct Detectors<'a> {
    /// Calls looked back on.
    pub window: u32,
    /// The same call so often among them is a loop. No tool is exempt from this.
    pub identical: u32,
    /// The same tool so often among them is a loop.
    pub same_tool: u32,
    /// Tools that may be called as often as they like, as long as the arguments differ.
    pub exempt: &'a [Arc<str>],
}

impl<'a> Detectors<'a> {
    /// The detectors of these settings.
    #[must_use]
    pub fn of(settings: &'a Settings) -> Self {
        let limits = &settings.limits;
        Self {
            window: limits.loop_window_calls,
            identical: limits.loop_identical_calls,
            same_tool: limits.loop_same_tool_calls,
            exempt: &settings.guards.exempt,
        }
    }
}

/// What the guard remembers of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Guard {
    recent: Vec<Seen>,
    known: Vec<u64>,
    level: Level,
}

/// How far the guard has risen.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing is wrong.
    #[default]
    Calm,
    /// A hint: try something else.
    Nudge,
    /// A directive.
    Directive,
    /// A human is asked.
    Human,
}

/// What a detector found.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Detection {
    /// Which detector.
    pub tier: Tier,
    /// Which tool goes in circles.
    pub tool: Arc<str>,
    /// How far the guard has risen with it.
    pub level: Level,
}

/// Which detector fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// The same call with the same arguments.
    Identical,
    /// The same tool with other arguments.
    Pattern,
}

impl Guard {
    /// Takes in the calls of a round; says what it found. A round without calls says nothing about
    /// what was done before it.
    pub fn observe(&mut self, round: &[Seen], detectors: Detectors<'_>) -> Option<Detection> {
        if round.is_empty() {
            return None;
        }
        let progress = self.remember(round, detectors);
        let found = self.detect(round.len(), detectors);
        self.level = match (&found, progress) {
            (Some(_), Progress::None) => self.level.next(),
            (Some(_), Progress::Made) => self.level.back(),
            (None, Progress::Made) => Level::Calm,
            (None, Progress::None) => self.level,
        };
        found.map(|(tier, tool)| Detection { tier, tool, level: self.level })
    }

    /// Takes in the calls of a round without judging them.
    pub fn remember(&mut self, round: &[Seen], detectors: Detectors<'_>) -> Progress {
        let mut progress = Progress::None;
        for seen in round {
            if self.is_new(seen) {
                progress = Progress::Made;
            }
            self.keep(seen, detectors.window);
        }
        progress
    }

    /// How far it has risen.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Rises or falls to where a judgement put it.
    pub fn set_level(&mut self, level: Level) {
        self.level = level;
    }

    /// After a human spoke: the past is past.
    pub fn calm(&mut self) {
        *self = Self::default();
    }

    /// Whether the call brought the work forward: something never seen, or a change never made.
    /// Empty and failed results never do.
    fn is_new(&self, seen: &Seen) -> bool {
        match (seen.effect, &seen.result) {
            (_, None) => false,
            (Effect::Changes, Some(_)) => !self.known.contains(&seen.input),
            (Effect::Looks, Some(result)) => {
                !self.known.contains(result) || self.is_after_change(seen)
            }
        }
    }

    /// Looking again after something changed is what careful work looks like.
    fn is_after_change(&self, seen: &Seen) -> bool {
        let since = self.recent.iter().rev().take_while(|earlier| earlier.input != seen.input);
        since.filter(|earlier| earlier.effect == Effect::Changes && earlier.result.is_some()).any(
            |change| {
                self.recent.iter().filter(|earlier| earlier.input == change.input).count() == 1
            },
        )
    }

    fn keep(&mut self, seen: &Seen, window: u32) {
        for hash in seen.result.into_iter().chain([seen.input]) {
            if !self.known.contains(&hash) {
                self.known.push(hash);
            }
        }
        let forget = self.known.len().saturating_sub(MEMORY);
        self.known.drain(..forget);
        self.recent.push(seen.clone());
        let forget = self.recent.len().saturating_sub(window as usize);
        self.recent.drain(..forget);
    }

    /// Looks at the last `fresh` calls, newest first: a call that goes in circles may have company.
    fn detect(&self, fresh: usize, detectors: Detectors<'_>) -> Option<(Tier, Arc<str>)> {
        let Detectors { identical, same_tool, exempt, .. } = detectors;
        let often = |same: &dyn Fn(&Seen) -> bool| self.recent.iter().filter(|s| same(s)).count();
        let circles = |last: &&Seen| {
            often(&|seen| seen.tool == last.tool && seen.input == last.input) >= identical as usize
        };
        let repeats = |last: &&Seen| {
            !exempt.contains(&last.tool)
                && often(&|seen| seen.tool == last.tool) >= same_tool as usize
        };
        let fresh = || self.recent.iter().rev().take(fresh);
        let found = fresh().find(circles).map(|seen| (Tier::Identical, seen.tool.clone()));
        found.or_else(|| fresh().find(repeats).map(|seen| (Tier::Pattern, seen.tool.clone())))
    }
}

/// Whether a round brought the work forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// It did.
    Made,
    /// It did not.
    None,
}

impl Level {
    fn back(self) -> Self {
        match self {
            Self::Calm | Self::Nudge => Self::Calm,
            Self::Directive => Self::Nudge,
            Self::Human => Self::Directive,
        }
    }

    fn next(self) -> Self {
        match self {
            Self::Calm => Self::Nudge,
            Self::Nudge => Self::Directive,
            Self::Directive | Self::Human => Self::Human,
        }
    }
}
