//! Who sends a request: the tenant and the scopes of its token.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Method;
use axum::http::request::Parts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass::ports::DEFAULT_TENANT;

use crate::problem::{Problem, ProblemCode};

#[cfg(test)]
#[path = "caller_tests.rs"]
mod caller_tests;

/// What a token may do.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Read conversations, runs and questions.
    Read,
    /// Send prompts, and cancel, resume and fork runs.
    Prompt,
    /// Answer questions, and so approve calls.
    Answer,
    /// Everything, with the tokens and webhooks of the tenant.
    Admin,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Self; 4] = [Self::Read, Self::Prompt, Self::Answer, Self::Admin];

    /// The name of the scope.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Prompt => "prompt",
            Self::Answer => "answer",
            Self::Admin => "admin",
        }
    }

    /// The scope with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

/// Who sends a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The tenant whose conversations it sees; all for an operator.
    tenant: Option<Arc<str>>,
    scopes: BTreeSet<Scope>,
    /// The name of the token, for people.
    pub(crate) name: Arc<str>,
    /// The beginning of the hash of the token, for limits.
    pub(crate) token_id: Arc<str>,
}

impl Caller {
    pub(crate) fn new(
        tenant: Option<Arc<str>>,
        scopes: impl IntoIterator<Item = Scope>,
        name: &str,
        token_id: &str,
    ) -> Self {
        let scopes = scopes.into_iter().collect();
        Self { tenant, scopes, name: Arc::from(name), token_id: Arc::from(token_id) }
    }

    /// Who has the token of the server's file: everything, for all tenants.
    pub(crate) fn operator() -> Self {
        Self::new(None, [Scope::Admin], "token file", "token-file")
    }

    /// Returns whether the token has a scope.
    pub(crate) fn has(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.scopes.contains(&Scope::Admin)
    }

    /// Returns whether what belongs to a tenant exists for this caller.
    pub(crate) fn sees(&self, tenant: &str) -> bool {
        self.tenant.as_deref().is_none_or(|own| own == tenant)
    }

    /// The only tenant that the caller sees; `None` for an operator.
    pub(crate) fn tenant(&self) -> Option<&Arc<str>> {
        self.tenant.as_ref()
    }

    /// The tenant that something new belongs to.
    pub(crate) fn tenant_of_new(&self) -> Arc<str> {
        self.tenant.clone().unwrap_or_else(|| Arc::from(DEFAULT_TENANT))
    }

    /// Checks that the caller sees all tenants.
    pub(crate) fn check_operator(&self) -> Result<(), Problem> {
        match self.tenant {
            None => Ok(()),
            Some(_) => Err(Problem::new(
                ProblemCode::Forbidden,
                "this concerns all tenants; use a token that is not of one tenant",
            )),
        }
    }

    /// Checks that the token has a scope.
    pub(crate) fn check_scope(&self, scope: Scope) -> Result<(), Problem> {
        match self.has(scope) {
            true => Ok(()),
            false => Err(Problem::new(
                ProblemCode::Forbidden,
                format!("the token lacks the scope `{}`; use another token", scope.as_str()),
            )),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let missing = || Problem::new(ProblemCode::Unauthorized, "send a token");
        parts.extensions.get::<Self>().cloned().ok_or_else(missing)
    }
}

/// The resources that only an administrator of the tenant may see or change.
const ADMIN_PATHS: [&str; 3] = ["/v1/tokens", "/v1/webhooks", "/v1/tenants"];

/// The scope that a request needs. What is not listed here as less needs a scope that changes
/// things.
pub(crate) fn required_scope(method: &Method, path: &str) -> Scope {
    let is_under = |root: &str| {
        path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_read = method == Method::GET || method == Method::HEAD;
    if ADMIN_PATHS.into_iter().any(is_under) {
        Scope::Admin
    } else if is_read {
        Scope::Read
    } else if is_under("/v1/questions") {
        Scope::Answer
    } else if method == Method::DELETE && is_under("/v1/conversations") {
        Scope::Admin
    } else {
        Scope::Prompt
    }
}
