//! Runs as a table. Less important columns are left out if the terminal is narrow.

use std::path::Path;

use windlass::core::log::ids::UnixMillis;

use super::ListedRun;
use crate::inspect::id_lookup::LANE_PREFIX;
use crate::terminal::age::format_age;
use crate::terminal::number_format::format_dollars;
use crate::terminal::{Color, OutputStyle, to_one_line, truncate};

/// Characters of the end of an id: it is random, so it is practically unique.
const SHORT_ID_CHARS: usize = 8;

/// Characters of a random id.
const UUID_CHARS: usize = 36;

/// Maximum characters of a folder, an agent, or a state.
const MAX_CELL_CHARS: usize = 24;

/// Minimum characters of the prompt before another column is shown.
const MIN_PROMPT_CHARS: usize = 24;

/// Characters that are left for the prompt however narrow the terminal is.
const MIN_REST_CHARS: usize = 4;

/// The folder and time for which the table is rendered.
pub(crate) struct TableContext<'a> {
    /// The current folder.
    pub(crate) here: &'a Path,
    /// The home folder, which is written as `~`.
    pub(crate) home: Option<&'a Path>,
    /// The current time.
    pub(crate) now: UnixMillis,
}

/// A column before the prompt.
struct TableColumn {
    name: &'static str,
    cells: Vec<(String, Color)>,
    /// The column with the lowest rank is dropped first if the table is too wide.
    rank: u8,
    align: ColumnAlign,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ColumnAlign {
    Left,
    Right,
}

impl TableColumn {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|(cell, _)| cell.chars().count());
        cells.chain([self.name.len()]).max().unwrap_or_default()
    }

    fn pad_cell(&self, text: &str) -> String {
        let width = self.width();
        match self.align {
            ColumnAlign::Left => format!("{text:<width$}"),
            ColumnAlign::Right => format!("{text:>width$}"),
        }
    }
}

/// The lines of the table, each at most as wide as the output.
pub(crate) fn format_table(
    runs: &[ListedRun],
    around: &TableContext<'_>,
    style: OutputStyle,
) -> Vec<String> {
    let mut columns = build_columns(runs, around);
    let taken =
        |columns: &[TableColumn]| columns.iter().map(|column| column.width() + 2).sum::<usize>();
    let has_room = |columns: &[TableColumn]| taken(columns) + MIN_PROMPT_CHARS <= style.width();
    while !has_room(&columns) && columns.len() > 2 {
        let least = columns.iter().map(|column| column.rank).min();
        columns.retain(|column| Some(column.rank) != least);
    }
    // On the narrowest terminals the id stays complete and the state is cut.
    let overflow = (taken(&columns) + MIN_REST_CHARS).saturating_sub(style.width());
    if overflow > 0
        && let Some(last) = columns.last_mut()
    {
        let chars = last.width().saturating_sub(overflow);
        last.cells.iter_mut().for_each(|(cell, _)| *cell = truncate(cell, chars));
    }
    let remaining = style.width().saturating_sub(taken(&columns));
    let heads: String = columns.iter().map(|column| column.pad_cell(column.name) + "  ").collect();
    let mut lines = vec![style.paint(Color::Dim, &truncate(&(heads + "PROMPT"), style.width()))];
    for (at, listed) in runs.iter().enumerate() {
        let cells = columns.iter().filter_map(|column| {
            let (cell, ink) = column.cells.get(at)?;
            Some(style.paint(*ink, &column.pad_cell(cell)) + "  ")
        });
        let line = cells.collect::<String>() + &to_one_line(&prompt_text(listed), remaining);
        lines.push(line.trim_end().to_owned());
    }
    lines
}

fn build_columns(runs: &[ListedRun], around: &TableContext<'_>) -> Vec<TableColumn> {
    let column = |name, rank, align, cell: &dyn Fn(&ListedRun) -> (String, Color)| TableColumn {
        name,
        cells: runs.iter().map(cell).collect(),
        rank,
        align,
    };
    let faint = |text: String| (text, Color::Dim);
    let mut columns = vec![
        column("ID", 9, ColumnAlign::Left, &|listed| {
            (short_id(listed.run.run.as_str()), Color::Bold)
        }),
        column("AGE", 6, ColumnAlign::Right, &|listed| {
            faint(format_age(around.now.ms_since(listed.run.at)))
        }),
        column("STATE", 8, ColumnAlign::Left, &|listed| {
            let (word, ink) = listed.state_label();
            (truncate(&word, MAX_CELL_CHARS), ink)
        }),
        column("COST", 5, ColumnAlign::Right, &|listed| faint(format_cost(listed.run.usd_micros))),
    ];
    // A column in which every row has the default value is left out.
    let is_usual_agent = |listed: &ListedRun| agent_name(listed) == "default";
    if !runs.iter().all(is_usual_agent) {
        let cell = |listed: &ListedRun| faint(to_one_line(agent_name(listed), MAX_CELL_CHARS));
        columns.push(column("AGENT", 3, ColumnAlign::Left, &cell));
    }
    let is_here =
        |listed: &ListedRun| folder_name(listed).is_none_or(|of| Path::new(of) == around.here);
    if !runs.iter().all(is_here) {
        let cell =
            |listed: &ListedRun| faint(short_folder(folder_name(listed).unwrap_or("-"), around));
        columns.push(column("FOLDER", 4, ColumnAlign::Left, &cell));
    }
    columns
}

fn agent_name(listed: &ListedRun) -> &str {
    listed.run.description.agent.as_deref().unwrap_or("default")
}

fn folder_name(listed: &ListedRun) -> Option<&str> {
    listed.run.description.folder.as_deref()
}

fn format_cost(usd_micros: Option<u64>) -> String {
    usd_micros.map_or_else(|| "-".to_owned(), format_dollars)
}

/// Short form of a random id; names given by people stay complete.
pub(crate) fn short_id(id: &str) -> String {
    match id.len() == UUID_CHARS && id.is_ascii() {
        true => id.get(UUID_CHARS - SHORT_ID_CHARS..).unwrap_or(id).to_owned(),
        false => to_one_line(id, MAX_CELL_CHARS),
    }
}

/// The end of a folder's path, which distinguishes it from others.
fn short_folder(folder: &str, around: &TableContext<'_>) -> String {
    let inside = around.home.and_then(|home| Path::new(folder).strip_prefix(home).ok());
    let whole = match inside {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => folder.to_owned(),
    };
    let whole = to_one_line(&whole, usize::MAX);
    let chars = whole.chars().count();
    match chars > MAX_CELL_CHARS {
        true => {
            whole.chars().skip(chars - MAX_CELL_CHARS + 1).fold("…".to_owned(), |mut end, c| {
                end.push(c);
                end
            })
        }
        false => whole,
    }
}

/// The prompt of the run, after the name of its conversation if it has one.
fn prompt_text(listed: &ListedRun) -> String {
    let run = &listed.run;
    let asked = run.description.prompt.as_deref().or(run.text.as_deref()).unwrap_or_default();
    match run.lane.as_str() {
        lane if lane.starts_with(LANE_PREFIX) => asked.to_owned(),
        lane => format!("[{lane}] {asked}"),
    }
}
