//! Documents of the store with their types: what the server keeps beside conversations.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use windlass::core::log::ids::UnixMillis;
use windlass::ports::{Document, DocumentFilter, DocumentQuery, Store, StoreError, WriteCondition};

/// The content of a document of one kind.
pub(crate) trait DocumentBody: Serialize + DeserializeOwned {
    /// The name of the kind in the store.
    const KIND: &'static str;
}

/// A document that was read.
#[derive(Debug, Clone)]
pub(crate) struct Stored<T> {
    pub(crate) key: Arc<str>,
    pub(crate) tenant: Arc<str>,
    pub(crate) subject: Arc<str>,
    pub(crate) due_at: Option<UnixMillis>,
    pub(crate) version: u64,
    pub(crate) body: T,
}

/// The number of documents that are read at once.
const PAGE_DOCUMENTS: usize = 500;

impl<T: DocumentBody> Stored<T> {
    /// A document that is not stored yet.
    pub(crate) fn new(key: impl Into<Arc<str>>, tenant: impl Into<Arc<str>>, body: T) -> Self {
        let (key, tenant, subject) = (key.into(), tenant.into(), Arc::from(""));
        Self { key, tenant, subject, due_at: None, version: 0, body }
    }

    /// The document about a subject.
    pub(crate) fn about(self, subject: impl Into<Arc<str>>) -> Self {
        Self { subject: subject.into(), ..self }
    }

    /// The document as due at a moment.
    pub(crate) fn due(self, due_at: UnixMillis) -> Self {
        Self { due_at: Some(due_at), ..self }
    }

    fn parse(found: &Document) -> Result<Self, StoreError> {
        let body = serde_json::from_str(&found.body).map_err(|error| StoreError::Corrupt {
            location: format!("the document {} {}", found.kind, found.key),
            reason: error.to_string(),
        })?;
        Ok(Self {
            key: found.key.clone(),
            tenant: found.tenant.clone(),
            subject: found.subject.clone(),
            due_at: found.due_at,
            version: found.version,
            body,
        })
    }

    fn to_document(&self) -> Result<Document, StoreError> {
        let body = serde_json::to_string(&self.body).map_err(|error| StoreError::Invalid {
            message: format!("the document cannot be encoded: {error}"),
        })?;
        Ok(Document {
            kind: Arc::from(T::KIND),
            key: self.key.clone(),
            tenant: self.tenant.clone(),
            subject: self.subject.clone(),
            due_at: self.due_at,
            version: self.version,
            body: Arc::from(body),
        })
    }

    /// Stores a new document; returns whether there was none with this key.
    pub(crate) async fn insert(&self, store: &dyn Store) -> Result<bool, StoreError> {
        store.write_document(self.to_document()?, WriteCondition::Absent).await
    }

    /// Replaces the version that was read; returns whether it was still the newest.
    pub(crate) async fn replace(&self, store: &dyn Store) -> Result<bool, StoreError> {
        let condition = WriteCondition::Version(self.version);
        store.write_document(self.to_document()?, condition).await
    }

    /// Deletes the version that was read; returns whether it was still the newest.
    pub(crate) async fn delete(&self, store: &dyn Store) -> Result<bool, StoreError> {
        let kind = Arc::from(T::KIND);
        store.delete_document(kind, self.key.clone(), Some(self.version)).await
    }
}

/// Reads a document.
pub(crate) async fn find_document<T: DocumentBody>(
    store: &dyn Store,
    key: &str,
) -> Result<Option<Stored<T>>, StoreError> {
    Ok(read_documents(store, [key]).await?.pop())
}

/// Reads the documents with these keys that exist.
pub(crate) async fn read_documents<'k, T: DocumentBody>(
    store: &dyn Store,
    keys: impl IntoIterator<Item = &'k str>,
) -> Result<Vec<Stored<T>>, StoreError> {
    let keys: Vec<Arc<str>> = keys.into_iter().map(Arc::from).collect();
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let found = store.read_documents(Arc::from(T::KIND), keys).await?;
    found.iter().map(Stored::parse).collect()
}

/// Lists documents after a key, at most `limit`.
pub(crate) async fn list_page<T: DocumentBody>(
    store: &dyn Store,
    tenant: Option<&Arc<str>>,
    filter: DocumentFilter,
    after: &str,
    limit: usize,
) -> Result<Vec<Stored<T>>, StoreError> {
    let query = DocumentQuery {
        kind: Arc::from(T::KIND),
        tenant: tenant.cloned(),
        filter,
        after: Arc::from(after),
        limit,
    };
    let found = store.list_documents(query).await?;
    found.iter().map(Stored::parse).collect()
}

/// Lists documents in the order of their keys, at most `limit`, however many that is.
pub(crate) async fn list_documents<T: DocumentBody>(
    store: &dyn Store,
    tenant: Option<&Arc<str>>,
    filter: DocumentFilter,
    limit: usize,
) -> Result<Vec<Stored<T>>, StoreError> {
    let mut all: Vec<Stored<T>> = Vec::new();
    while all.len() < limit {
        let after = all.last().map_or_else(|| Arc::from(""), |last| last.key.clone());
        let wanted = PAGE_DOCUMENTS.min(limit - all.len());
        let page = list_page(store, tenant, filter.clone(), &after, wanted).await?;
        let is_last = page.len() < wanted;
        all.extend(page);
        if is_last {
            break;
        }
    }
    Ok(all)
}
