//! Tokens, as the API manages them.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::body::ApiBody;
use crate::caller::{Caller, Scope};
use crate::json::ApiJson;
use crate::problem::{Problem, ProblemCode};
use crate::router::ApiState;
use crate::time::{now, parse_time};
use crate::token_registry::{self, NewToken, TokenCreationError, TokenInfo};
use crate::views::Page;

/// A token to be created.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TokenRequest {
    /// What it is for, at most 64 characters.
    name: String,
    /// What it may do.
    scopes: Vec<Scope>,
    /// The tenant whose conversations it sees, if not that of the caller. Only an operator can
    /// choose.
    #[serde(default)]
    tenant: Option<String>,
    /// When it stops to be valid, in ISO 8601.
    #[serde(default)]
    expires_at: Option<String>,
}

/// A token that was created.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CreatedToken {
    /// The text of the token. It cannot be read again.
    token: String,
    /// Identifies the token.
    token_id: String,
    /// What it is for.
    name: String,
    /// The tenant whose conversations it sees; `null` for all.
    tenant: Option<String>,
    /// What it may do.
    scopes: Vec<Scope>,
    /// When it was created, in ISO 8601.
    created_at: String,
    /// When it stops to be valid, in ISO 8601.
    expires_at: Option<String>,
}

impl CreatedToken {
    fn new(token: String, info: TokenInfo) -> Self {
        let TokenInfo { token_id, name, tenant, scopes, created_at, expires_at } = info;
        Self { token, token_id, name, tenant, scopes, created_at, expires_at }
    }
}

/// `GET /v1/tokens`.
pub(crate) async fn list_tokens(
    State(state): State<ApiState>,
    caller: Caller,
) -> Result<ApiJson<Page<TokenInfo>>, Problem> {
    let data = token_registry::list_tokens(state.windlass.store(), caller.tenant()).await?;
    Ok(ApiJson(Page { data, next_cursor: None }))
}

/// `POST /v1/tokens`.
pub(crate) async fn create_token(
    State(state): State<ApiState>,
    caller: Caller,
    ApiBody(body): ApiBody<TokenRequest>,
) -> Result<Response, Problem> {
    if body.tenant.as_deref().is_some_and(|tenant| !caller.sees(tenant)) {
        return Err(Problem::new(
            ProblemCode::Forbidden,
            "`tenant` is another tenant; leave it out, or use a token that is not of one tenant",
        ));
    }
    let expires_at = body.expires_at.as_deref().map(|text| parse_time("expires_at", text));
    let new = NewToken {
        tenant: body.tenant.or_else(|| caller.tenant().map(|tenant| tenant.to_string())),
        name: body.name,
        scopes: body.scopes,
        expires_at: expires_at.transpose()?,
    };
    let store = state.windlass.store();
    match token_registry::create_token(store, &new, now()).await {
        Ok((token, info)) => {
            Ok((StatusCode::CREATED, ApiJson(CreatedToken::new(token, info))).into_response())
        }
        Err(TokenCreationError::Invalid(detail)) => Err(Problem::invalid(detail)),
        Err(TokenCreationError::Store(error)) => Err(error.into()),
        Err(TokenCreationError::Random(error)) => {
            Err(Problem::new(ProblemCode::Internal, error.to_string()))
        }
    }
}

/// `DELETE /v1/tokens/{token_id}`.
pub(crate) async fn revoke_token(
    State(state): State<ApiState>,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    let tenant: Option<&Arc<str>> = caller.tenant();
    match token_registry::revoke_token(state.windlass.store(), tenant, &id).await? {
        true => {
            state.authenticator.forget_all();
            Ok(StatusCode::NO_CONTENT)
        }
        false => Err(Problem::not_found("token")),
    }
}
