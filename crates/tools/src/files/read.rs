//! `Read`: a page of a file, of whatever kind.

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::facts::Facts;
use windlass_core::ids::LaneId;
use windlass_core::outcome::{Outcome, ToolError};
use windlass_core::permission::{Access, Subject};
use windlass_core::raw::Raw;
use windlass_core::settings::ToolSpec;
use windlass_runtime::ports::{CallContext, Task, Tool};

use super::blocking::blocking;
use super::page::Wanted;
use super::pages::Pages;
use super::place::Place;
use super::{digest, kind};
use crate::desk::Desk;
use crate::input::{self, Input, unfit};
use crate::limits::PAGE_LINES;
use crate::offer::offer;
use crate::workplace::Workplace;

/// Reads files: text a page at a time, pictures, pages of PDFs, notebooks.
#[derive(Debug, Clone)]
pub struct Read {
    workplace: Workplace,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// The file: absolute, or relative to the workspace
    #[schemars(length(min = 1))]
    file_path: String,
    /// The first line (of a notebook: cell), counted from 1
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// How many lines or cells at most; 2000 if left out
    #[schemars(range(min = 1))]
    limit: Option<u64>,
    /// Which pages of a PDF, such as "3" or "1-5"; at most 20
    pages: Option<Pages>,
    /// Taken for the sake of older callers: a long file always comes in pages
    #[serde(rename = "allow_large")]
    _allow_large: Option<bool>,
}

impl Input for Asked {
    fn problem(&self) -> Option<String> {
        match (self.offset, self.limit) {
            (Some(0), _) => Some("the offset is 0, and lines are counted from 1".to_owned()),
            (_, Some(0)) => Some("the limit is 0".to_owned()),
            _ => input::path_problem("file_path", &self.file_path),
        }
    }
}

impl Asked {
    fn wanted(&self) -> kind::Wanted {
        let lines =
            Wanted { first: self.offset.unwrap_or(1), count: self.limit.unwrap_or(PAGE_LINES) };
        kind::Wanted { lines, pages: self.pages }
    }
}

impl Read {
    /// Reads files in `workplace`, where paths that are not absolute begin.
    #[must_use]
    pub fn new(workplace: impl Into<Workplace>) -> Self {
        Self { workplace: workplace.into() }
    }

    fn desk(&self, lane: &LaneId) -> Desk {
        self.workplace.desk(lane)
    }

    fn facts(&self, asked: &Asked) -> Facts {
        // Links are followed once, for what it touches and for what it is about.
        let uses = self.workplace.zones().uses(&asked.file_path, Access::Read);
        let keys = uses.iter().rev().map(|used| used.path.clone()).collect();
        input::looks(keys, &asked.file_path).about(Subject::Paths(uses))
    }
}

fn look(workplace: &Workplace, desk: &Desk, asked: &Asked) -> Result<Raw, ToolError> {
    let place = workplace.place_to_read(desk, &asked.file_path)?;
    shown(&place, desk, asked.wanted())
}

/// Reads, and remembers as what the file was seen.
pub(super) fn shown(place: &Place, desk: &Desk, wanted: kind::Wanted) -> Result<Raw, ToolError> {
    let mut file = place.open_file()?;
    let refused = |error: std::io::Error| super::open::refused(&place.shown, &error);
    // The hash comes first: should the file change now, the page is newer than what is remembered,
    // and an edit is refused that need not have been. The other way round one would go through.
    let hash = digest::of_file(&mut file).map_err(refused)?;
    let content = kind::read(file, &place.shown, wanted)?;
    if let Some(hash) = hash {
        // Without a note the file counts as not read, which an edit will say.
        desk.note_seen(&place.real(), &hash).unwrap_or_default();
    }
    Ok(content)
}

impl Tool for Read {
    fn spec(&self) -> ToolSpec {
        offer::<Asked>(
            "Read",
            "Reads a file. Text comes as numbered lines, a long file in pages: go on with offset. \
             Pictures are shown, PDFs come by page, notebooks by cell.",
        )
    }

    fn assess(&self, input: &Raw) -> Facts {
        input::read(input).map_or_else(unfit, |asked| self.facts(&asked))
    }

    fn assess_on(&self, lane: &LaneId, input: &Raw) -> Facts {
        self.workplace.with_outputs(lane, self.assess(input))
    }

    fn run(&self, context: CallContext, input: Raw) -> Task<'_, Outcome> {
        let (workplace, desk) = (self.workplace.clone(), self.desk(&context.lane));
        blocking(move || look(&workplace, &desk, &input::read(&input)?))
    }
}
