//! Loop detection. Two detectors look at the last calls after every round: the same call repeated,
//! and the same tool repeated. What a detection leads to is weighed by progress, because reading
//! twenty files is work and repeating one question twenty times is not.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::settings::conversation_settings::Settings;

/// Number of results and writes that are remembered, to tell new from seen.
const REMEMBERED_FINGERPRINTS: usize = 64;

/// A call that returned, as the detectors see it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallObservation {
    /// Name of the tool.
    pub tool: Arc<str>,
    /// Fingerprint of tool and arguments.
    pub input: u64,
    /// Fingerprint of the result; `None` if it was empty or an error.
    pub result: Option<u64>,
    /// Whether the call changed something.
    pub effect: ObservedEffect,
}

/// Whether a call changes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObservedEffect {
    /// The call is read-only.
    ReadOnly,
    /// The call changes something.
    Mutating,
}

/// Thresholds of the detectors, and the tools that one of them ignores.
#[derive(Debug, Clone, Copy)]
pub struct LoopDetectorConfig<'a> {
    /// Number of last calls that are examined.
    pub window: u32,
    /// This many identical calls among them are a loop. No tool is exempt from this.
    pub identical: u32,
    /// This many calls of the same tool among them are a loop.
    pub same_tool: u32,
    /// Tools that may be called any number of times, as long as the arguments differ.
    pub exempt: &'a [Arc<str>],
}

impl<'a> LoopDetectorConfig<'a> {
    /// Returns the thresholds of these settings.
    #[must_use]
    pub fn from_settings(settings: &'a Settings) -> Self {
        let limits = &settings.limits;
        Self {
            window: limits.loop_window_calls,
            identical: limits.loop_identical_calls,
            same_tool: limits.loop_same_tool_calls,
            exempt: &settings.guards.exempt,
        }
    }
}

/// What loop detection remembers of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct LoopGuard {
    recent: Vec<CallObservation>,
    known: Vec<u64>,
    level: EscalationLevel,
}

/// How far loop detection has escalated.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum EscalationLevel {
    /// No loop was detected.
    #[default]
    Calm,
    /// The model gets a hint: try something else.
    Nudge,
    /// The model gets a directive.
    Directive,
    /// A human is asked.
    Human,
}

/// What a detector found.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LoopDetection {
    /// The detector that fired.
    pub tier: LoopDetectorTier,
    /// The tool that is called in a loop.
    pub tool: Arc<str>,
    /// The escalation level after the detection.
    pub level: EscalationLevel,
}

/// Which detector fired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopDetectorTier {
    /// The same call with the same arguments.
    Identical,
    /// The same tool with different arguments.
    Pattern,
}

impl LoopGuard {
    /// Adds the calls of a round and returns what was detected. A round without calls says nothing
    /// about earlier calls.
    pub fn observe(
        &mut self,
        round: &[CallObservation],
        detectors: LoopDetectorConfig<'_>,
    ) -> Option<LoopDetection> {
        if round.is_empty() {
            return None;
        }
        let has_progress = self.record_round(round, detectors);
        let found = self.detect_loop(round.len(), detectors);
        self.level = match (&found, has_progress) {
            (Some(_), false) => self.level.one_level_higher(),
            (Some(_), true) => self.level.one_level_lower(),
            (None, true) => EscalationLevel::Calm,
            (None, false) => self.level,
        };
        found.map(|(tier, tool)| LoopDetection { tier, tool, level: self.level })
    }

    /// Adds the calls of a round without running the detectors. Returns whether the round made
    /// progress.
    pub fn record_round(
        &mut self,
        round: &[CallObservation],
        detectors: LoopDetectorConfig<'_>,
    ) -> bool {
        let mut has_progress = false;
        for observation in round {
            if self.is_progress(observation) {
                has_progress = true;
            }
            self.remember_call(observation, detectors.window);
        }
        has_progress
    }

    /// Returns the escalation level.
    #[must_use]
    pub fn level(&self) -> EscalationLevel {
        self.level
    }

    /// Sets the escalation level that was decided.
    pub fn set_level(&mut self, level: EscalationLevel) {
        self.level = level;
    }

    /// Forgets earlier calls after a human answered.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Returns whether the call made progress: a result never seen, or a change never made. Empty
    /// and failed results are no progress.
    fn is_progress(&self, observation: &CallObservation) -> bool {
        match (observation.effect, &observation.result) {
            (_, None) => false,
            (ObservedEffect::Mutating, Some(_)) => !self.known.contains(&observation.input),
            (ObservedEffect::ReadOnly, Some(result)) => {
                !self.known.contains(result) || self.is_after_mutation(observation)
            }
        }
    }

    /// Returns whether something changed since the same call was made: reading again after a change
    /// is careful work.
    fn is_after_mutation(&self, observation: &CallObservation) -> bool {
        let since =
            self.recent.iter().rev().take_while(|earlier| earlier.input != observation.input);
        since
            .filter(|earlier| {
                earlier.effect == ObservedEffect::Mutating && earlier.result.is_some()
            })
            .any(|change| {
                self.recent.iter().filter(|earlier| earlier.input == change.input).count() == 1
            })
    }

    fn remember_call(&mut self, observation: &CallObservation, window: u32) {
        for hash in observation.result.into_iter().chain([observation.input]) {
            if !self.known.contains(&hash) {
                self.known.push(hash);
            }
        }
        let forget = self.known.len().saturating_sub(REMEMBERED_FINGERPRINTS);
        self.known.drain(..forget);
        self.recent.push(observation.clone());
        let forget = self.recent.len().saturating_sub(window as usize);
        self.recent.drain(..forget);
    }

    /// Examines the last `fresh` calls, newest first: a round may contain other calls beside the
    /// one in a loop.
    fn detect_loop(
        &self,
        fresh: usize,
        detectors: LoopDetectorConfig<'_>,
    ) -> Option<(LoopDetectorTier, Arc<str>)> {
        let LoopDetectorConfig { identical, same_tool, exempt, .. } = detectors;
        let often = |same: &dyn Fn(&CallObservation) -> bool| {
            self.recent.iter().filter(|s| same(s)).count()
        };
        let circles = |last: &&CallObservation| {
            often(&|observation| observation.tool == last.tool && observation.input == last.input)
                >= identical as usize
        };
        let repeats = |last: &&CallObservation| {
            !exempt.contains(&last.tool)
                && often(&|observation| observation.tool == last.tool) >= same_tool as usize
        };
        let fresh = || self.recent.iter().rev().take(fresh);
        let found = fresh()
            .find(circles)
            .map(|observation| (LoopDetectorTier::Identical, observation.tool.clone()));
        found.or_else(|| {
            fresh()
                .find(repeats)
                .map(|observation| (LoopDetectorTier::Pattern, observation.tool.clone()))
        })
    }
}

impl EscalationLevel {
    fn one_level_lower(self) -> Self {
        match self {
            Self::Calm | Self::Nudge => Self::Calm,
            Self::Directive => Self::Nudge,
            Self::Human => Self::Directive,
        }
    }

    fn one_level_higher(self) -> Self {
        match self {
            Self::Calm => Self::Nudge,
            Self::Nudge => Self::Directive,
            Self::Directive | Self::Human => Self::Human,
        }
    }
}
