//! Arguments that would corrupt a store, refused before they reach one.

use windlass_core::ids::{LaneId, Seq};
use windlass_core::project::Row;
use windlass_runtime::ports::{Append, Letter, StoreError, Whose};

/// Longest lane id or mail key, in bytes.
const LONGEST_NAME: usize = 512;

pub(crate) fn lane(lane: &LaneId) -> Result<(), StoreError> {
    name("a lane id", lane.as_str())
}

pub(crate) fn worker(worker: &str) -> Result<(), StoreError> {
    name("a worker id", worker)
}

pub(crate) fn letter(letter: &Letter) -> Result<(), StoreError> {
    name("a mail key", &letter.key)
}

pub(crate) fn whose(whose: &Whose) -> Result<(), StoreError> {
    let names = [("a tenant", &whose.tenant), ("an agent", &whose.agent)];
    let names = names.into_iter().chain([("an affinity", &whose.affinity)]);
    names.filter(|(_, text)| !text.is_empty()).try_for_each(|(what, text)| name(what, text))
}

/// The shape of an append; whether it may land is the fence's question.
pub(crate) fn append(append: &Append) -> Result<(), StoreError> {
    lane(&append.lane)?;
    for (to, out) in &append.mail_out {
        lane(to)?;
        letter(out)?;
    }
    append.rows.iter().try_for_each(row)?;
    dense(append)
}

/// Runs are named by UUIDs: the trace has a column of that type.
fn row(row: &Row) -> Result<(), StoreError> {
    let run = match row {
        Row::Run(row) => &row.run,
        Row::Trace(row) => &row.run,
        Row::ToolResult(_) | Row::Checkpoint(_) | Row::Event(_) | Row::Raw(_) => return Ok(()),
    };
    match run.is_uuid() {
        true => Ok(()),
        false => Err(invalid(format!("the run id `{run}` is not a UUID; give every run a UUID"))),
    }
}

fn dense(append: &Append) -> Result<(), StoreError> {
    let due = (append.head.saturating_add(1))..;
    match due.zip(&append.entries).find(|(due, entry)| *due != entry.seq) {
        None => Ok(()),
        Some((due, entry)) => Err(gap(&append.lane, due, entry.seq)),
    }
}

fn gap(lane: &LaneId, due: Seq, found: Seq) -> StoreError {
    invalid(format!(
        "lane {lane}: entry {found} where {due} was due; reload the lane and decide again"
    ))
}

fn name(what: &str, text: &str) -> Result<(), StoreError> {
    match text {
        "" => Err(invalid(format!("{what} is empty; give it a name"))),
        _ if text.contains('\0') => {
            Err(invalid(format!("{what} contains a NUL byte; leave it out")))
        }
        _ if text.len() > LONGEST_NAME => Err(invalid(format!(
            "{what} is {} bytes long; at most {LONGEST_NAME} are allowed",
            text.len()
        ))),
        _ => Ok(()),
    }
}

pub(crate) fn invalid(what: String) -> StoreError {
    StoreError::Invalid { what }
}

/// Refusals that every store words alike.
pub(crate) mod refusal {
    use super::invalid;
    use windlass_core::ids::{LaneId, MailId, RunId, Seq};
    use windlass_runtime::ports::StoreError;

    pub(crate) fn mail_not_waiting(lane: &LaneId, mail: MailId) -> StoreError {
        invalid(format!("lane {lane}: mail {mail} is not waiting to be read; reload the lane"))
    }

    pub(crate) fn second_active_run(lane: &LaneId) -> StoreError {
        invalid(format!("lane {lane} has an active run already; end it before starting another"))
    }

    pub(crate) fn foreign_run(lane: &LaneId, run: &RunId) -> StoreError {
        invalid(format!("run {run} does not belong to lane {lane}; give every run its own id"))
    }

    pub(crate) fn fork_beyond_head(parent: &LaneId, at: Seq, head: Seq) -> StoreError {
        invalid(format!("lane {parent} ends at entry {head}; it cannot be forked at {at}"))
    }

    pub(crate) fn unfinished(lane: &LaneId) -> StoreError {
        invalid(format!("a run of {lane} is not finished; cancel it first: windlass cancel {lane}"))
    }

    pub(crate) fn has_forks(lane: &LaneId, fork: &LaneId) -> StoreError {
        invalid(format!("{fork} is a fork of {lane} and shares its history; delete the fork first"))
    }

    pub(crate) fn fork_exists(child: &LaneId) -> StoreError {
        invalid(format!("lane {child} exists already; choose another name for the fork"))
    }
}
