//! What is recorded beside the logs of lanes: shared spending, statistics, and events of workers.

use std::sync::Arc;

use windlass_core::budget::Spent;
use windlass_core::ids::{LaneId, Millis};
use windlass_core::raw::Raw;

use super::WorkerId;

/// Where the spending of several conversations is added up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpendingAccount {
    /// The profile.
    pub profile: Arc<str>,
    /// The period, such as `2026-11`.
    pub period: Arc<str>,
}

/// More is not spent at once: an absurd figure must not break the sum.
const LARGEST_CHANGE: u64 = 1 << 50;

/// How an append changes what an account has spent and set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendingChange {
    /// Which account.
    pub account: SpendingAccount,
    /// Tokens more, or fewer: what was set aside and not used is given back.
    pub tokens: i64,
    /// Micro-dollars more, or fewer.
    pub usd_micros: i64,
}

impl SpendingChange {
    /// The way from one figure to another; none if nothing changes.
    #[must_use]
    pub fn between(account: SpendingAccount, before: &Spent, after: &Spent) -> Option<Self> {
        let change = |before: u64, after: u64| {
            let size = after.abs_diff(before).min(LARGEST_CHANGE).cast_signed();
            if after < before { -size } else { size }
        };
        let tokens = change(before.tokens, after.tokens);
        let usd_micros = change(before.usd_micros, after.usd_micros);
        (tokens != 0 || usd_micros != 0).then_some(Self { account, tokens, usd_micros })
    }
}

/// How a tool did, over all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolStats {
    /// Which tool.
    pub tool: Arc<str>,
    /// Calls that ran.
    pub calls: u64,
    /// How often they ran, retries included.
    pub attempts: u64,
    /// Calls that were tried more than once.
    pub retried: u64,
    /// Calls that ended badly.
    pub failed: u64,
}

/// How often an event happened to an agent under a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventCount {
    /// Which agent.
    pub agent: Arc<str>,
    /// The profile; empty if none was chosen.
    pub profile: Arc<str>,
    /// The event's name.
    pub name: Arc<str>,
    /// How often.
    pub count: u64,
    /// How often it led further: every time but those whose fields say `"escalated":false`.
    pub escalated: u64,
}

/// Something a worker process did that belongs to no entry of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerEvent {
    /// When.
    pub at: Millis,
    /// Which process.
    pub worker: WorkerId,
    /// The lane it is about, if it is about one.
    pub lane: Option<LaneId>,
    /// Its name.
    pub name: Arc<str>,
    /// What it says, as a JSON object.
    pub fields: Raw,
}

/// An event of a worker and its number, which grows from event to event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedWorkerEvent {
    /// The number. Two processes that store events at once may become visible in another order.
    pub no: u64,
    /// The event.
    pub event: WorkerEvent,
}

/// Which events of workers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerEventPage {
    /// The newest.
    Newest,
    /// The first after this number.
    After(u64),
}
