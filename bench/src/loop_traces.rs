//! Traces for loop detection, as text files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use windlass_core::guard::loop_detection::{
    CallObservation, EscalationLevel, LoopDetectorConfig, LoopGuard, ObservedEffect,
};
use windlass_core::message::raw_json::fingerprint;
use windlass_core::settings::conversation_settings::{ModelSpec, Settings};

/// One run as loop detection sees it.
pub struct LoopTrace {
    /// The name of the file.
    pub name: String,
    /// The rounds of the run, each with its calls.
    pub rounds: Vec<Vec<CallObservation>>,
}

/// The result of loop detection for a trace.
pub struct DetectorResult {
    /// The number of detections.
    pub detections: usize,
    /// The highest escalation level.
    pub level: EscalationLevel,
    /// The round in which a human was asked.
    pub human_at: Option<usize>,
}

/// Every trace of a folder, sorted by name.
pub fn read_traces(path: &Path) -> anyhow::Result<Vec<LoopTrace>> {
    let entries = std::fs::read_dir(path).with_context(|| path.display().to_string())?;
    let mut files: Vec<PathBuf> = entries.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.sort();
    files.iter().map(|file| read_trace(file)).collect()
}

fn read_trace(file: &Path) -> anyhow::Result<LoopTrace> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let rounds = lines.map(|line| line.split(" ; ").map(parse_call).collect::<anyhow::Result<_>>());
    Ok(LoopTrace { rounds: rounds.collect::<anyhow::Result<_>>().context(name.clone())?, name })
}

fn parse_call(text: &str) -> anyhow::Result<CallObservation> {
    let (call, result) = text.split_once("=>").with_context(|| format!("no `=>` in {text:?}"))?;
    let tool = call.split_whitespace().next().with_context(|| format!("no tool in {text:?}"))?;
    let effect =
        if tool.ends_with('!') { ObservedEffect::Mutating } else { ObservedEffect::ReadOnly };
    let result = result.trim();
    Ok(CallObservation {
        tool: Arc::from(tool.trim_end_matches('!')),
        input: fingerprint(call.trim()),
        result: (!result.is_empty()).then(|| fingerprint(result)),
        effect,
    })
}

/// Runs loop detection over a trace.
#[must_use]
pub fn run_detector(trace: &LoopTrace) -> DetectorResult {
    let settings = Settings::new(ModelSpec::with_defaults("m"));
    let mut guard = LoopGuard::default();
    let mut watched =
        DetectorResult { detections: 0, level: EscalationLevel::Calm, human_at: None };
    for (at, round) in trace.rounds.iter().enumerate() {
        if let Some(found) = guard.observe(round, LoopDetectorConfig::from_settings(&settings)) {
            watched.detections += 1;
            watched.level = watched.level.max(found.level);
            if found.level == EscalationLevel::Human && watched.human_at.is_none() {
                watched.human_at = Some(at + 1);
            }
        }
    }
    watched
}
