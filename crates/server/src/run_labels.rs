//! Tags and metadata of runs: given with a prompt, for people and for lists.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass::core::log::ids::RunId;
use windlass::ports::{DocumentFilter, Store, StoreError};

use crate::documents::{self, DocumentBody, Stored};
use crate::problem::Problem;

/// The most tags of a run.
const MAX_TAGS: usize = 16;

/// The most characters of a tag.
const MAX_TAG_CHARS: usize = 64;

/// The most fields of the metadata of a run.
const MAX_METADATA_FIELDS: usize = 32;

/// The most bytes of a name or a value in metadata.
const MAX_METADATA_BYTES: usize = 1_024;

/// The most runs with a tag that are searched.
const MAX_TAGGED_RUNS: usize = 10_000;

/// Tags and metadata of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RunLabels {
    /// Tags, by which runs are listed.
    pub(crate) tags: Vec<String>,
    /// Fields of the sender's choice.
    pub(crate) metadata: BTreeMap<String, String>,
}

impl DocumentBody for RunLabels {
    const KIND: &'static str = "run_labels";
}

/// Says that a run, whose id begins the key, has the tag that is the subject.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct RunTag {
    run: String,
}

impl DocumentBody for RunTag {
    const KIND: &'static str = "run_tag";
}

impl RunLabels {
    pub(crate) fn is_empty(&self) -> bool {
        self.tags.is_empty() && self.metadata.is_empty()
    }

    /// Checks the labels of a request.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let is_tag = |tag: &String| {
            let is_line = !tag.chars().any(char::is_control) && !tag.contains(',');
            is_line && !tag.trim().is_empty() && tag.chars().count() <= MAX_TAG_CHARS
        };
        if self.tags.len() > MAX_TAGS || !self.tags.iter().all(is_tag) {
            return Err(Problem::invalid(format!(
                "`tags` takes {MAX_TAGS} tags of 1 to {MAX_TAG_CHARS} characters without commas"
            )));
        }
        let is_field = |(name, value): (&String, &String)| {
            !name.is_empty()
                && name.len() <= MAX_METADATA_BYTES
                && value.len() <= MAX_METADATA_BYTES
        };
        match self.metadata.len() <= MAX_METADATA_FIELDS && self.metadata.iter().all(is_field) {
            true => Ok(()),
            false => Err(Problem::invalid(format!(
                "`metadata` takes {MAX_METADATA_FIELDS} fields of at most {MAX_METADATA_BYTES} \
                 bytes"
            ))),
        }
    }

    /// Stores the labels of a run, unless it has some: the same prompt may be sent again.
    pub(crate) async fn store(
        &self,
        store: &dyn Store,
        tenant: &Arc<str>,
        run: &RunId,
    ) -> Result<(), StoreError> {
        if self.is_empty() {
            return Ok(());
        }
        let labels = Stored::new(run.as_str(), tenant.clone(), self.clone());
        if !labels.insert(store).await? {
            return Ok(());
        }
        for (nth, tag) in self.tags.iter().enumerate() {
            let body = RunTag { run: run.to_string() };
            let tagged = Stored::new(format!("{run}/{nth}"), tenant.clone(), body);
            tagged.about(tag.as_str()).insert(store).await?;
        }
        Ok(())
    }
}

/// Returns the labels of runs, by their ids.
pub(crate) async fn labels_of<'r>(
    store: &dyn Store,
    runs: impl IntoIterator<Item = &'r str>,
) -> Result<HashMap<Arc<str>, RunLabels>, StoreError> {
    let found = documents::read_documents::<RunLabels>(store, runs).await?;
    Ok(found.into_iter().map(|labels| (labels.key, labels.body)).collect())
}

/// Returns the runs with a tag.
pub(crate) async fn tagged_runs(
    store: &dyn Store,
    tenant: Option<&Arc<str>>,
    tag: &str,
) -> Result<BTreeSet<RunId>, StoreError> {
    let filter = DocumentFilter::Subject(Arc::from(tag));
    let found: Vec<Stored<RunTag>> =
        documents::list_documents(store, tenant, filter, MAX_TAGGED_RUNS).await?;
    Ok(found.into_iter().map(|tagged| RunId::from(tagged.body.run)).collect())
}
