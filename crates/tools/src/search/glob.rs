//! `Glob`: files by name, the newest first.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::facts::Facts;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use super::found::{Found, shown};
use super::pattern;
use super::stop::{Stop, within};
use super::walk::{Filters, Onward, walk};
use crate::input::{self, Input, unfit};
use crate::limits::{GLOB_FILES, MAX_NAMES};
use crate::offer::offer;
use crate::workplace::Workplace;

/// Finds files by name.
#[derive(Debug, Clone)]
pub struct Glob {
    workplace: Workplace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The pattern for paths below the folder, such as "src/**/*.rs" or "*.toml"
    #[schemars(length(min = 1))]
    pattern: String,
    /// The folder to search; the workspace if left out
    path: Option<String>,
}

impl Input for Asked {
    fn problem(&self) -> Option<String> {
        let leads_away = |part: &str| part == "..";
        match Path::new(&self.pattern) {
            pattern if pattern.is_absolute() || self.pattern.split('/').any(leads_away) => {
                Some("the pattern leaves the folder; give the folder as path".to_owned())
            }
            _ => {
                pattern::problem(&self.pattern).or_else(|| input::path_problem("path", self.path()))
            }
        }
    }
}

impl Asked {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }
}

impl Glob {
    /// Searches in `workplace`.
    #[must_use]
    pub fn new(workplace: impl Into<Workplace>) -> Self {
        Self { workplace: workplace.into() }
    }
}

fn search(workplace: &Workplace, asked: &Asked, stop: &Stop) -> Result<Raw, ToolError> {
    let names = pattern::names(&asked.pattern)?;
    let place = workplace.folder_to_search(asked.path())?;
    let root = place.real();
    let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
    let left_out = walk(workplace, &place, Filters::default(), stop, |entry| {
        let below = entry.path().strip_prefix(&root).unwrap_or(entry.path());
        if names.is_match(below) {
            let changed = entry.metadata().ok().and_then(|found| found.modified().ok());
            files.push((changed.unwrap_or(SystemTime::UNIX_EPOCH), entry.path().to_owned()));
        }
        if files.len() < MAX_NAMES { Onward::Go } else { Onward::Enough }
    });
    files.sort_by(|(a, x), (b, y)| b.cmp(a).then_with(|| x.cmp(y)));
    let mut found = Found::new(0, GLOB_FILES);
    for (_, path) in &files {
        if !found.push(&shown(path)) {
            break;
        }
    }
    Ok(Raw::string(&found.finish("no file has such a name", &left_out.note())))
}

impl Tool for Glob {
    fn spec(&self) -> ToolSpec {
        offer::<Asked>(
            "Glob",
            "Finds files whose path fits a pattern, the newest first. What .gitignore names is \
             passed over.",
        )
    }

    fn assess(&self, input: &Raw) -> Facts {
        let facts = |asked: Asked| {
            let said = format!("{} in {}", asked.pattern, asked.path());
            let subject = self.workplace.looking(asked.path());
            input::looks(self.workplace.keys(asked.path()), &said).about(subject)
        };
        input::read(input).map_or_else(unfit, facts)
    }

    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome> {
        let workplace = self.workplace.of_run(&context);
        let search = move |stop: &Stop| search(&workplace, &input::read(&input)?, stop);
        Box::pin(within(self.workplace.clock().as_ref(), search))
    }
}
