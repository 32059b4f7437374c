//! Traces for the circle detector, as files people can write.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use windlass_core::raw::fingerprint;
use windlass_core::settings::{Model, Settings};
use windlass_core::thrash::{Detectors, Effect, Guard, Level, Seen};

/// One run as the detector sees it.
pub struct Trace {
    /// The file's name.
    pub name: String,
    /// Its rounds.
    pub rounds: Vec<Vec<Seen>>,
}

/// What the guard made of a trace.
pub struct Watched {
    /// Detections.
    pub detections: usize,
    /// The highest level it rose to.
    pub level: Level,
    /// The round in which a human was forced in.
    pub human_at: Option<usize>,
}

/// Every trace of a folder, sorted by name.
pub fn folder(path: &Path) -> anyhow::Result<Vec<Trace>> {
    let entries = std::fs::read_dir(path).with_context(|| path.display().to_string())?;
    let mut files: Vec<PathBuf> = entries.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    files.sort();
    files.iter().map(|file| read(file)).collect()
}

fn read(file: &Path) -> anyhow::Result<Trace> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let rounds = lines.map(|line| line.split(" ; ").map(call).collect::<anyhow::Result<_>>());
    Ok(Trace { rounds: rounds.collect::<anyhow::Result<_>>().context(name.clone())?, name })
}

fn call(text: &str) -> anyhow::Result<Seen> {
    let (call, result) = text.split_once("=>").with_context(|| format!("no `=>` in {text:?}"))?;
    let tool = call.split_whitespace().next().with_context(|| format!("no tool in {text:?}"))?;
    let effect = if tool.ends_with('!') { Effect::Changes } else { Effect::Looks };
    let result = result.trim();
    Ok(Seen {
        tool: Arc::from(tool.trim_end_matches('!')),
        input: fingerprint(call.trim()),
        result: (!result.is_empty()).then(|| fingerprint(result)),
        effect,
    })
}

/// Lets the guard watch a trace.
#[must_use]
pub fn watch(trace: &Trace) -> Watched {
    let settings = Settings::new(Model::named("m"));
    let mut guard = Guard::default();
    let mut watched = Watched { detections: 0, level: Level::Calm, human_at: None };
    for (at, round) in trace.rounds.iter().enumerate() {
        if let Some(found) = guard.observe(round, Detectors::of(&settings)) {
            watched.detections += 1;
            watched.level = watched.level.max(found.level);
            if found.level == Level::Human && watched.human_at.is_none() {
                watched.human_at = Some(at + 1);
            }
        }
    }
    watched
}
