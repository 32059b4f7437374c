//! Runs as a table. Columns that matter less are left out where the terminal is narrow.

use std::path::Path;

use windlass::core::ids::Millis;

use super::Listed;
use crate::look::age::age;
use crate::look::find::LANE;
use crate::look::numbers::dollars;
use crate::look::paper::{Ink, Paper, cut, one_line};

/// Characters of the end of an id: random, so it is as good as unique.
const ID_CHARS: usize = 8;

/// Characters of a random id.
const UUID_CHARS: usize = 36;

/// Characters of a folder, an agent, or a state.
const MOST_CHARS: usize = 24;

/// Characters that the prompt needs before another column is shown.
const LEAST_PROMPT: usize = 24;

/// Characters that stay for the prompt however narrow the terminal is.
const LEAST_ROOM: usize = 4;

/// Where and when the table is read.
pub(crate) struct Around<'a> {
    /// The folder in which it is asked for.
    pub(crate) here: &'a Path,
    /// The home folder, which is written as `~`.
    pub(crate) home: Option<&'a Path>,
    /// The time.
    pub(crate) now: Millis,
}

/// A column before the prompt.
struct Column {
    name: &'static str,
    cells: Vec<(String, Ink)>,
    /// The lowest goes first when there is no room.
    rank: u8,
    aligned: Align,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|(cell, _)| cell.chars().count());
        cells.chain([self.name.len()]).max().unwrap_or_default()
    }

    fn pad(&self, text: &str) -> String {
        let width = self.width();
        match self.aligned {
            Align::Left => format!("{text:<width$}"),
            Align::Right => format!("{text:>width$}"),
        }
    }
}

/// The lines of the table, each at most as wide as the paper.
pub(crate) fn table(runs: &[Listed], around: &Around<'_>, paper: Paper) -> Vec<String> {
    let mut columns = columns(runs, around);
    let taken = |columns: &[Column]| columns.iter().map(|column| column.width() + 2).sum::<usize>();
    let has_room = |columns: &[Column]| taken(columns) + LEAST_PROMPT <= paper.width();
    while !has_room(&columns) && columns.len() > 2 {
        let least = columns.iter().map(|column| column.rank).min();
        columns.retain(|column| Some(column.rank) != least);
    }
    // On the narrowest terminals the id stays whole and the state gives way.
    let overflow = (taken(&columns) + LEAST_ROOM).saturating_sub(paper.width());
    if overflow > 0
        && let Some(last) = columns.last_mut()
    {
        let chars = last.width().saturating_sub(overflow);
        last.cells.iter_mut().for_each(|(cell, _)| *cell = cut(cell, chars));
    }
    let room = paper.width().saturating_sub(taken(&columns));
    let heads: String = columns.iter().map(|column| column.pad(column.name) + "  ").collect();
    let mut lines = vec![paper.ink(Ink::Faint, &cut(&(heads + "PROMPT"), paper.width()))];
    for (at, listed) in runs.iter().enumerate() {
        let cells = columns.iter().filter_map(|column| {
            let (cell, ink) = column.cells.get(at)?;
            Some(paper.ink(*ink, &column.pad(cell)) + "  ")
        });
        let line = cells.collect::<String>() + &one_line(&prompt(listed), room);
        lines.push(line.trim_end().to_owned());
    }
    lines
}

fn columns(runs: &[Listed], around: &Around<'_>) -> Vec<Column> {
    let column = |name, rank, aligned, cell: &dyn Fn(&Listed) -> (String, Ink)| Column {
        name,
        cells: runs.iter().map(cell).collect(),
        rank,
        aligned,
    };
    let faint = |text: String| (text, Ink::Faint);
    let mut columns = vec![
        column("ID", 9, Align::Left, &|listed| (short(listed.run.run.as_str()), Ink::Strong)),
        column("AGE", 6, Align::Right, &|listed| faint(age(around.now.since(listed.run.at)))),
        column("STATE", 8, Align::Left, &|listed| {
            let (word, ink) = listed.standing();
            (cut(&word, MOST_CHARS), ink)
        }),
        column("COST", 5, Align::Right, &|listed| faint(cost(listed.run.usd_micros))),
    ];
    // A column in which every row says the usual says nothing.
    let is_usual_agent = |listed: &Listed| agent(listed) == "default";
    if !runs.iter().all(is_usual_agent) {
        let cell = |listed: &Listed| faint(one_line(agent(listed), MOST_CHARS));
        columns.push(column("AGENT", 3, Align::Left, &cell));
    }
    let is_here = |listed: &Listed| folder(listed).is_none_or(|of| Path::new(of) == around.here);
    if !runs.iter().all(is_here) {
        let cell = |listed: &Listed| faint(shown_folder(folder(listed).unwrap_or("-"), around));
        columns.push(column("FOLDER", 4, Align::Left, &cell));
    }
    columns
}

fn agent(listed: &Listed) -> &str {
    listed.run.description.agent.as_deref().unwrap_or("default")
}

fn folder(listed: &Listed) -> Option<&str> {
    listed.run.description.folder.as_deref()
}

fn cost(usd_micros: Option<u64>) -> String {
    usd_micros.map_or_else(|| "-".to_owned(), dollars)
}

/// The end of an id that was made at random; a name that somebody gave stays whole.
pub(crate) fn short(id: &str) -> String {
    match id.len() == UUID_CHARS && id.is_ascii() {
        true => id.get(UUID_CHARS - ID_CHARS..).unwrap_or(id).to_owned(),
        false => one_line(id, MOST_CHARS),
    }
}

/// The end of a folder's name, which tells it from others.
fn shown_folder(folder: &str, around: &Around<'_>) -> String {
    let inside = around.home.and_then(|home| Path::new(folder).strip_prefix(home).ok());
    let whole = match inside {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => folder.to_owned(),
    };
    let whole = one_line(&whole, usize::MAX);
    let chars = whole.chars().count();
    match chars > MOST_CHARS {
        true => whole.chars().skip(chars - MOST_CHARS + 1).fold("…".to_owned(), |mut end, c| {
            end.push(c);
            end
        }),
        false => whole,
    }
}

/// What the run was asked, after the name of its conversation if somebody gave it one.
fn prompt(listed: &Listed) -> String {
    let run = &listed.run;
    let asked = run.description.prompt.as_deref().or(run.text.as_deref()).unwrap_or_default();
    match run.lane.as_str() {
        lane if lane.starts_with(LANE) => asked.to_owned(),
        lane => format!("[{lane}] {asked}"),
    }
}
