//! `Grep`: files by what is in them.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::facts::Facts;
use windlass_core::ids::LaneId;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use super::found::Found;
use super::matches::{Matches, Shape};
use super::pattern::{self, Manner};
use super::stop::{Stop, within};
use super::walk::{Filters, Onward, walk};
use crate::desk::Desk;
use crate::files::Place;
use crate::input::{self, Input, unfit};
use crate::limits::{GREP_LINES, MAX_CONTEXT_LINES};
use crate::offer::offer;
use crate::workplace::Workplace;

/// Finds files by what is in them.
#[derive(Debug, Clone)]
pub struct Grep {
    workplace: Workplace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked {
    /// The regular expression to look for
    #[schemars(length(min = 1))]
    pattern: String,
    /// The file or folder to search; the workspace if left out
    path: Option<String>,
    /// Only files whose path fits, such as "*.rs" or "!tests/**"
    glob: Option<String>,
    /// Only files of this type, such as rust, py, js, md
    #[serde(rename = "type")]
    kind: Option<String>,
    /// What to bring: the paths of files (if left out), their lines, or how many lines match
    output_mode: Option<Mode>,
    /// Lines before each match; only with content
    #[serde(rename = "-B")]
    before: Option<u64>,
    /// Lines after each match; only with content
    #[serde(rename = "-A")]
    after: Option<u64>,
    /// Lines before and after each match; only with content
    #[serde(rename = "-C")]
    around: Option<u64>,
    /// Whether lines are numbered; they are if left out
    #[serde(rename = "-n")]
    numbers: Option<bool>,
    /// Whether upper and lower case are the same
    #[serde(rename = "-i")]
    ignore_case: Option<bool>,
    /// Whether a match may go over the end of a line, and a dot stands for it
    multiline: Option<bool>,
    /// How many lines or files at most; 250 if left out, 0 for as many as fit
    head_limit: Option<u64>,
    /// How many lines or files to pass over first
    offset: Option<u64>,
}

/// What a search brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    Content,
    FilesWithMatches,
    Count,
}

impl Input for Asked {
    fn problem(&self) -> Option<String> {
        let glob = self.glob.as_deref().and_then(pattern::problem);
        pattern::problem(&self.pattern)
            .or_else(|| input::path_problem("path", self.path()))
            .or(glob)
    }
}

impl Asked {
    fn path(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }

    fn manner(&self) -> Manner {
        Manner {
            ignore_case: self.ignore_case == Some(true),
            across_lines: self.multiline == Some(true),
        }
    }

    fn shape(&self) -> Shape {
        let lines = |own: Option<u64>| {
            let lines = own.or(self.around).unwrap_or(0).min(MAX_CONTEXT_LINES);
            usize::try_from(lines).unwrap_or(0)
        };
        match self.output_mode.unwrap_or(Mode::FilesWithMatches) {
            Mode::FilesWithMatches => Shape::Files,
            Mode::Count => Shape::Counts,
            Mode::Content => Shape::Lines {
                before: lines(self.before),
                after: lines(self.after),
                numbered: self.numbers != Some(false),
            },
        }
    }

    fn found(&self) -> Found {
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let room = match self.head_limit {
            None => GREP_LINES,
            Some(0) => usize::MAX,
            Some(limit) => number(limit),
        };
        Found::new(self.offset.map_or(0, number), room)
    }

    fn filters(&self, place: &Place) -> Result<Filters, ToolError> {
        let root = place.real();
        let paths = self.glob.as_deref().map(|glob| pattern::filter(&root, glob)).transpose()?;
        let types = self.kind.as_deref().map(pattern::kind).transpose()?;
        Ok(Filters { paths, types })
    }
}

impl Grep {
    /// Searches in `workplace`.
    #[must_use]
    pub fn new(workplace: impl Into<Workplace>) -> Self {
        Self { workplace: workplace.into() }
    }
}

fn search(
    workplace: &Workplace,
    desk: &Desk,
    asked: &Asked,
    stop: &Stop,
) -> Result<Raw, ToolError> {
    let matcher = pattern::contents(&asked.pattern, asked.manner())?;
    let place = workplace.place_to_search(desk, asked.path())?;
    let mut matches = Matches::new(matcher, asked.shape(), asked.manner(), asked.found());
    let mut unreadable = 0;
    let mut left_out = walk(workplace, &place, asked.filters(&place)?, stop, |entry| {
        // It is opened as the place it was found at; whoever put a link there gets nothing.
        let opened = place.below(entry.path()).and_then(|file| file.open_file().ok());
        let searched = opened.map(|file| matches.search(stop.reading(file), entry));
        if !matches!(searched, Some(Ok(()))) {
            unreadable += 1;
        }
        if matches.is_full() { Onward::Enough } else { Onward::Go }
    });
    left_out.unreadable += unreadable;
    // That there is more is said already.
    left_out.cut_short &= !matches.is_full();
    Ok(Raw::string(&matches.finish(&left_out.note())))
}

impl Tool for Grep {
    fn spec(&self) -> ToolSpec {
        offer::<Asked>(
            "Grep",
            "Searches the contents of files with a regular expression (Rust syntax). What \
             .gitignore names and binary files are passed over.",
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

    fn assess_on(&self, lane: &LaneId, input: &Raw) -> Facts {
        self.workplace.with_outputs(lane, self.assess(input))
    }

    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome> {
        let workplace = self.workplace.of_run(&context);
        let desk = workplace.desk(&context.lane);
        let search = move |stop: &Stop| search(&workplace, &desk, &input::read(&input)?, stop);
        Box::pin(within(self.workplace.clock().as_ref(), search))
    }
}
