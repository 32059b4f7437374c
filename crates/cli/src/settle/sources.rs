//! Settings files that people already have: `.claude/settings.json` of the user, of the project, and
//! the local one, and what `--settings` says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::Deserialize;

use super::paths;
use super::trust::Trust;
use crate::args::PermissionArgs;

/// Bytes of one settings file.
const FILE_BYTES: u64 = 4 << 20;

/// One file's settings, as far as we know them; the rest of the file is somebody else's.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Source {
    /// Permission rules.
    pub(crate) permissions: Rules,
    /// Variables for tools.
    pub(crate) env: BTreeMap<String, String>,
    /// Hooks, as they stand in the file.
    pub(crate) hooks: serde_json::Value,
    /// The model.
    pub(crate) model: Option<String>,
}

/// Permission rules of a file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Rules {
    pub(crate) allow: Vec<String>,
    pub(crate) ask: Vec<String>,
    pub(crate) deny: Vec<String>,
    pub(crate) additional_directories: Vec<PathBuf>,
    pub(crate) default_mode: Option<String>,
}

/// Every source in force, the strongest last.
pub(crate) fn all(
    args: &PermissionArgs,
    workspace: &Path,
    trust: Trust,
) -> anyhow::Result<Vec<Source>> {
    let mut sources = Vec::new();
    if let Some(folder) = paths::shared_settings().filter(|_| args.reads("user")) {
        sources.extend(file(&folder.join("settings.json"))?);
    }
    let project = workspace.join(".claude");
    for (name, place) in [("project", "settings.json"), ("local", "settings.local.json")] {
        if args.reads(name) {
            let source = file(&project.join(place))?;
            sources.extend(source.map(|source| as_trusted(source, trust)));
        }
    }
    if let Some(given) = &args.settings {
        sources.push(inline(given)?);
    }
    Ok(sources)
}

/// What a folder nobody trusts says can only hold back.
fn as_trusted(source: Source, trust: Trust) -> Source {
    match trust {
        Trust::Given => source,
        Trust::Missing => {
            let Rules { ask, deny, .. } = source.permissions;
            let permissions = Rules { ask, deny, ..Rules::default() };
            Source { permissions, ..Source::default() }
        }
    }
}

/// One file, if it is there.
pub(crate) fn file(path: &Path) -> anyhow::Result<Option<Source>> {
    match std::fs::metadata(path) {
        Err(_) => return Ok(None),
        Ok(found) if found.len() > FILE_BYTES => {
            bail!("{} is larger than {} MiB; make it shorter", path.display(), FILE_BYTES >> 20)
        }
        Ok(_) => {}
    }
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("the settings {} cannot be read", path.display()))?;
    parse(&text, &path.display().to_string()).map(Some)
}

fn inline(given: &str) -> anyhow::Result<Source> {
    if given.trim_start().starts_with('{') {
        return parse(given, "given with --settings");
    }
    match file(Path::new(given))? {
        Some(source) => Ok(source),
        None => bail!("the settings {given} do not exist; give a file or a JSON object"),
    }
}

fn parse(text: &str, place: &str) -> anyhow::Result<Source> {
    serde_json::from_str(text).map_err(|error| {
        anyhow::anyhow!("the settings {place} are not valid ({error}); mend them and try again")
    })
}
