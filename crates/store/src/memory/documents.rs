//! Documents and limits of tenants.

use std::sync::Arc;

use windlass_core::log::ids::{InboxMessageId, LaneId};
use windlass_core::log::inbox::InboxCommand;
use windlass_core::run::child_runs;
use windlass_core::stop::RunState;
use windlass_runtime::ports::{
    Affinity, AppendRequest, DEFAULT_TENANT, Document, DocumentFilter, DocumentQuery,
    OutboxMessage, RUN_CHANGE_KIND, RunCount, StoreError, WEBHOOK_KIND, WriteCondition,
};

use super::store_state::StoreState;
use crate::column_values::is_active;
use crate::run_changes::run_changes;
use crate::tenant_limits::queue_limit_error;

impl StoreState {
    pub(super) fn read_documents(&self, kind: &Arc<str>, keys: &[Arc<str>]) -> Vec<Document> {
        let found = self.documents.values().filter(|it| it.kind == *kind);
        found.filter(|it| keys.contains(&it.key)).map(|it| Document::clone(it)).collect()
    }

    pub(super) fn list_documents(&self, query: &DocumentQuery) -> Vec<Document> {
        let is_wanted = |it: &Document| match &query.filter {
            DocumentFilter::All => true,
            DocumentFilter::Subject(subject) => !subject.is_empty() && it.subject == *subject,
            DocumentFilter::DueUntil(at) => it.due_at.is_some_and(|due| due <= *at),
        };
        let mut found: Vec<Document> = self
            .documents
            .values()
            .filter(|it| it.kind == query.kind && it.key > query.after)
            .filter(|it| query.tenant.as_ref().is_none_or(|tenant| it.tenant == *tenant))
            .filter(|it| is_wanted(it))
            .map(|it| Document::clone(it))
            .collect();
        if matches!(query.filter, DocumentFilter::DueUntil(_)) {
            found.sort_by_key(|it| it.due_at);
        }
        found.truncate(query.limit);
        found
    }

    pub(super) fn write_document(&mut self, document: Document, condition: WriteCondition) -> bool {
        let place = (document.kind.clone(), document.key.clone());
        let found = self.documents.get(&place).map(|known| known.version);
        let version = match (condition, found) {
            (WriteCondition::Absent, None) => 1,
            (WriteCondition::Version(wanted), Some(found)) if wanted == found => {
                found.saturating_add(1)
            }
            (WriteCondition::Absent | WriteCondition::Version(_), _) => return false,
        };
        self.documents.insert(place, Arc::new(Document { version, ..document }));
        true
    }

    pub(super) fn delete_document(
        &mut self,
        kind: &Arc<str>,
        key: &Arc<str>,
        version: Option<u64>,
    ) -> bool {
        let place = (kind.clone(), key.clone());
        let found = self.documents.get(&place).map(|known| known.version);
        let is_wanted = found.is_some_and(|found| version.is_none_or(|wanted| wanted == found));
        is_wanted && self.documents.remove(&place).is_some()
    }

    /// Leaves a document for each run that changed, if the tenant of the lane has a webhook.
    pub(super) fn insert_run_changes(&mut self, append: &AppendRequest) -> Result<(), StoreError> {
        let tenant = self.lane_ref(&append.lane)?.tenant();
        let is_webhook = |it: &Arc<Document>| &*it.kind == WEBHOOK_KIND && it.tenant == tenant;
        if !self.documents.values().any(is_webhook) {
            return Ok(());
        }
        for change in run_changes(append) {
            let document = Document {
                kind: Arc::from(RUN_CHANGE_KIND),
                key: Arc::from(change.key),
                tenant: tenant.clone(),
                subject: Arc::from(change.run),
                due_at: None,
                version: 1,
                body: Arc::from(change.body),
            };
            self.write_document(document, WriteCondition::Absent);
        }
        Ok(())
    }
}

impl StoreState {
    pub(super) fn enqueue_prompt(
        &mut self,
        lane: &LaneId,
        affinity: &Affinity,
        message: &OutboxMessage,
    ) -> Result<InboxMessageId, StoreError> {
        let tenant: Arc<str> = match &*affinity.tenant {
            "" => Arc::from(DEFAULT_TENANT),
            _ => affinity.tenant.clone(),
        };
        let known = self.find_lane(lane);
        if known.is_some_and(|known| known.tenant() != tenant) {
            return Err(StoreError::LaneNotFound { lane: lane.clone() });
        }
        if !known.is_some_and(|it| it.message_keys.contains_key(&message.idempotency_key)) {
            self.check_queue(&tenant)?;
        }
        self.register_lane(lane, affinity);
        Ok(self.enqueue_message(lane, message, affinity))
    }

    fn check_queue(&self, tenant: &Arc<str>) -> Result<(), StoreError> {
        let Some(limit) = self.tenant_limits.get(tenant).and_then(|it| it.queued_prompts) else {
            return Ok(());
        };
        let lanes = self.lanes.values().filter(|lane| lane.tenant() == *tenant);
        let queued = lanes.flat_map(|lane| lane.pending.values());
        let queued = queued.filter(|body| matches!(body, InboxCommand::Prompt { .. })).count();
        match (queued as u64) < limit {
            true => Ok(()),
            false => Err(queue_limit_error(limit)),
        }
    }

    /// Returns whether one more conversation of the lane's tenant may be driven. Sub-agents do not
    /// count.
    pub(super) fn may_be_driven(&self, id: &LaneId) -> bool {
        let is_child = |id: &LaneId| child_runs::root_lane(id) != *id;
        let Some(tenant) = self.find_lane(id).map(|lane| lane.tenant()) else { return true };
        let limit = self.tenant_limits.get(&tenant).and_then(|limits| limits.active_runs);
        let Some(limit) = limit.filter(|_| !is_child(id)) else { return true };
        let driven = self
            .lanes
            .iter()
            .filter(|(id, lane)| lane.owner.is_some() && lane.tenant() == tenant && !is_child(id));
        (driven.count() as u64) < limit
    }

    pub(super) fn count_runs(&self) -> Vec<RunCount> {
        let mut counts: Vec<RunCount> = Vec::new();
        let mut add = |state, cause| match counts
            .iter_mut()
            .find(|it| it.state == state && it.cause == cause)
        {
            Some(known) => known.count += 1,
            None => counts.push(RunCount { state, cause, count: 1 }),
        };
        let counted = self.runs.iter().filter(|run| {
            run.cause.is_some() || is_active(run.state) || run.state == RunState::TimedOut
        });
        counted.for_each(|run| add(run.state, run.cause));
        let pending = self.lanes.values().flat_map(|lane| lane.pending.values());
        let queued = pending.filter(|body| matches!(body, InboxCommand::Prompt { .. }));
        queued.for_each(|_| add(RunState::Queued, None));
        counts
    }
}
