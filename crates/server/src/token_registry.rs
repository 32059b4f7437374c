//! Tokens of tenants. The store holds their hashes; the text of a token is shown once.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass::core::log::ids::UnixMillis;
use windlass::messages::format_iso_time;
use windlass::ports::{DocumentFilter, Store, StoreError};

use crate::caller::{Caller, Scope};
use crate::documents::{self, DocumentBody, Stored};
use crate::token::{hash_token, random_token};

/// The tenant in the store of tokens that see all tenants.
const ALL_TENANTS: &str = "*";

/// The characters of the hash of a token by which it is named.
const TOKEN_ID_CHARS: usize = 16;

/// The most tokens that are listed.
const MAX_TOKENS: usize = 10_000;

/// The most characters of the name of a tenant or a token.
const MAX_NAME_CHARS: usize = 64;

/// A token to be created.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// The tenant whose conversations it sees; all if not given.
    pub tenant: Option<String>,
    /// What it is for.
    pub name: String,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// When it stops to be valid.
    pub expires_at: Option<UnixMillis>,
}

/// What is known of a token: everything but its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TokenInfo {
    /// Identifies the token: the beginning of the hash of its text.
    pub token_id: String,
    /// What it is for.
    pub name: String,
    /// The tenant whose conversations it sees; `null` for all.
    pub tenant: Option<String>,
    /// What it may do.
    pub scopes: Vec<Scope>,
    /// When it was created, in ISO 8601.
    pub created_at: String,
    /// When it stops to be valid, in ISO 8601.
    pub expires_at: Option<String>,
}

/// Why a token was not created.
#[derive(Debug, thiserror::Error)]
pub enum TokenCreationError {
    /// The tenant, the name, the scopes or the time make no sense.
    #[error("{0}")]
    Invalid(String),
    /// The system's random numbers cannot be read.
    #[error("cannot read random numbers ({0}); check /dev/urandom")]
    Random(std::io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenRecord {
    name: String,
    scopes: Vec<Scope>,
    created_at_ms: u64,
    expires_at_ms: Option<u64>,
}

impl DocumentBody for TokenRecord {
    const KIND: &'static str = "token";
}

impl TokenInfo {
    fn new(stored: &Stored<TokenRecord>) -> Self {
        let record = &stored.body;
        Self {
            token_id: token_id(&stored.key).to_owned(),
            name: record.name.clone(),
            tenant: tenant_of(&stored.tenant).map(|tenant| tenant.to_string()),
            scopes: record.scopes.clone(),
            created_at: format_iso_time(UnixMillis(record.created_at_ms)),
            expires_at: record.expires_at_ms.map(|at| format_iso_time(UnixMillis(at))),
        }
    }
}

fn token_id(hash: &str) -> &str {
    hash.get(..TOKEN_ID_CHARS).unwrap_or(hash)
}

fn tenant_of(stored: &Arc<str>) -> Option<Arc<str>> {
    (**stored != *ALL_TENANTS).then(|| stored.clone())
}

/// Returns whether the text can be the name of a tenant.
#[must_use]
pub fn is_tenant_name(text: &str) -> bool {
    let is_known = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !text.is_empty() && text.len() <= MAX_NAME_CHARS && text.bytes().all(is_known)
}

/// Creates a token and returns its text, which cannot be read again.
///
/// # Errors
///
/// Returns a [`TokenCreationError`] if the token makes no sense or cannot be stored.
pub async fn create_token(
    store: &dyn Store,
    new: &NewToken,
    now: UnixMillis,
) -> Result<(String, TokenInfo), TokenCreationError> {
    check_new(new, now).map_err(TokenCreationError::Invalid)?;
    let text = random_token().map_err(TokenCreationError::Random)?;
    let mut scopes = new.scopes.clone();
    scopes.sort();
    scopes.dedup();
    let record = TokenRecord {
        name: new.name.clone(),
        scopes,
        created_at_ms: now.0,
        expires_at_ms: new.expires_at.map(|at| at.0),
    };
    let tenant = new.tenant.as_deref().unwrap_or(ALL_TENANTS);
    let stored = Stored::new(hash_token(&text), tenant, record);
    stored.insert(store).await?;
    Ok((text, TokenInfo::new(&stored)))
}

fn check_new(new: &NewToken, now: UnixMillis) -> Result<(), String> {
    let is_line = |text: &str| {
        !text.is_empty() && text.len() <= MAX_NAME_CHARS && !text.chars().any(char::is_control)
    };
    match new {
        NewToken { name, .. } if !is_line(name) => {
            Err(format!("`name` takes 1 to {MAX_NAME_CHARS} characters that say what it is for"))
        }
        NewToken { tenant: Some(tenant), .. } if !is_tenant_name(tenant) => Err(format!(
            "`{tenant}` is not the name of a tenant; use letters, digits, `-`, `_` and `.`, at \
             most {MAX_NAME_CHARS}"
        )),
        NewToken { scopes, .. } if scopes.is_empty() => {
            Err("`scopes` is empty; give some of read, prompt, answer and admin".to_owned())
        }
        NewToken { expires_at: Some(at), .. } if *at <= now => {
            Err("the token would have expired already; give a later time".to_owned())
        }
        NewToken { .. } => Ok(()),
    }
}

/// Lists the tokens of a tenant, or all.
///
/// # Errors
///
/// Returns a [`StoreError`] if the store fails.
pub async fn list_tokens(
    store: &dyn Store,
    tenant: Option<&Arc<str>>,
) -> Result<Vec<TokenInfo>, StoreError> {
    let found = list_records(store, tenant).await?;
    let mut tokens: Vec<TokenInfo> = found.iter().map(TokenInfo::new).collect();
    tokens.sort_by(|a, b| (&a.created_at, &a.token_id).cmp(&(&b.created_at, &b.token_id)));
    Ok(tokens)
}

async fn list_records(
    store: &dyn Store,
    tenant: Option<&Arc<str>>,
) -> Result<Vec<Stored<TokenRecord>>, StoreError> {
    documents::list_documents(store, tenant, DocumentFilter::All, MAX_TOKENS).await
}

/// Revokes a token of a tenant, or of any; returns whether there was one. Servers stop to accept it
/// within a second.
///
/// # Errors
///
/// Returns a [`StoreError`] if the store fails.
pub async fn revoke_token(
    store: &dyn Store,
    tenant: Option<&Arc<str>>,
    id: &str,
) -> Result<bool, StoreError> {
    let found = list_records(store, tenant).await?;
    let Some(token) = found.iter().find(|token| token_id(&token.key) == id) else {
        return Ok(false);
    };
    token.delete(store).await
}

/// Returns who has a token; `None` if it is not valid.
pub(crate) async fn find_caller(
    store: &dyn Store,
    presented: &str,
    now: UnixMillis,
) -> Result<Option<Caller>, StoreError> {
    let hash = hash_token(presented);
    let found = documents::find_document::<TokenRecord>(store, &hash).await?;
    let is_valid = |token: &Stored<TokenRecord>| {
        token.body.expires_at_ms.is_none_or(|expires_at| now.0 < expires_at)
    };
    Ok(found.filter(is_valid).map(|token| {
        let record = &token.body;
        let scopes = record.scopes.iter().copied();
        Caller::new(tenant_of(&token.tenant), scopes, &record.name, token_id(&token.key))
    }))
}
