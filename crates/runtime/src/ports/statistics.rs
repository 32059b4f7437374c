//! Data beside the logs of lanes: shared spending, tool statistics, and events of workers.

use std::sync::Arc;

use windlass_core::budget::spending::Spending;
use windlass_core::log::ids::{LaneId, UnixMillis};
use windlass_core::message::raw_json::RawJson;

use super::WorkerId;

/// An account to which the spending of several conversations is added.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpendingAccount {
    /// The profile whose conversations share the account.
    pub profile: Arc<str>,
    /// The period, such as `2026-11`.
    pub period: Arc<str>,
}

/// The upper bound of one change, so that an absurd figure cannot overflow the sum.
const MAX_SPENDING_CHANGE: u64 = 1 << 50;

/// How an append changes the spending and the reservations of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendingChange {
    /// The account that changes.
    pub account: SpendingAccount,
    /// The change in tokens; negative when a reservation was not used and is returned.
    pub tokens: i64,
    /// The change in micro-dollars.
    pub usd_micros: i64,
}

impl SpendingChange {
    /// Returns the change from `before` to `after`; `None` if nothing changes.
    #[must_use]
    pub fn between(account: SpendingAccount, before: &Spending, after: &Spending) -> Option<Self> {
        let change = |before: u64, after: u64| {
            let size = after.abs_diff(before).min(MAX_SPENDING_CHANGE).cast_signed();
            if after < before { -size } else { size }
        };
        let tokens = change(before.tokens, after.tokens);
        let usd_micros = change(before.usd_micros, after.usd_micros);
        (tokens != 0 || usd_micros != 0).then_some(Self { account, tokens, usd_micros })
    }
}

/// Statistics of a tool over all runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolStats {
    /// The name of the tool.
    pub tool: Arc<str>,
    /// The number of calls that ran.
    pub calls: u64,
    /// The number of attempts, retries included.
    pub attempts: u64,
    /// The number of calls that were tried more than once.
    pub retried: u64,
    /// The number of calls that failed.
    pub failed: u64,
}

/// How often an event occurred for an agent under a profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventCount {
    /// The name of the agent.
    pub agent: Arc<str>,
    /// The name of the profile; empty if none was chosen.
    pub profile: Arc<str>,
    /// The name of the event.
    pub name: Arc<str>,
    /// The number of events.
    pub count: u64,
    /// The number of events that were escalated: all but those whose fields say
    /// `"escalated":false`.
    pub escalated: u64,
}

/// An event of a worker process that belongs to no entry of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerEvent {
    /// The time of the event.
    pub at: UnixMillis,
    /// The worker process.
    pub worker: WorkerId,
    /// The lane that the event is about, if there is one.
    pub lane: Option<LaneId>,
    /// The name of the event.
    pub name: Arc<str>,
    /// The fields of the event, as a JSON object.
    pub fields: RawJson,
}

/// An event of a worker with its number, which grows from event to event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedWorkerEvent {
    /// The number. Events that two processes store at the same time may become visible in another
    /// order.
    pub no: u64,
    /// The event itself.
    pub event: WorkerEvent,
}

/// Which events of workers are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerEventPage {
    /// The newest events.
    Newest,
    /// The first events after this number.
    After(u64),
}
