//! Limits of tenants, which only an operator changes.

use std::sync::Arc;

use axum::extract::{Path, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass::ports::TenantLimits;

use crate::body::ApiBody;
use crate::caller::Caller;
use crate::json::ApiJson;
use crate::problem::Problem;
use crate::router::ApiState;
use crate::token_registry::is_tenant_name;
use crate::views::Page;

/// What a tenant may use. A limit that is not given does not apply.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LimitsBody {
    /// Prompts that wait to be taken by a worker.
    queued_prompts: Option<u64>,
    /// Conversations that are driven at once, without those of sub-agents.
    active_runs: Option<u64>,
}

/// A tenant with limits.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TenantView {
    /// The name of the tenant.
    tenant: String,
    /// What it may use.
    limits: LimitsBody,
}

impl TenantView {
    fn new(tenant: &str, limits: &TenantLimits) -> Self {
        let limits =
            LimitsBody { queued_prompts: limits.queued_prompts, active_runs: limits.active_runs };
        Self { tenant: tenant.to_owned(), limits }
    }
}

/// `GET /v1/tenants`: those that the caller sees, of those that have limits.
pub(crate) async fn list_tenants(
    State(state): State<ApiState>,
    caller: Caller,
) -> Result<ApiJson<Page<TenantView>>, Problem> {
    let found = state.windlass.store().tenant_limits().await?;
    let seen = found.iter().filter(|(tenant, _)| caller.sees(tenant));
    let data = seen.map(|(tenant, limits)| TenantView::new(tenant, limits)).collect();
    Ok(ApiJson(Page { data, next_cursor: None }))
}

/// `PUT /v1/tenants/{tenant}`.
pub(crate) async fn set_limits(
    State(state): State<ApiState>,
    caller: Caller,
    Path(tenant): Path<String>,
    ApiBody(body): ApiBody<LimitsBody>,
) -> Result<ApiJson<TenantView>, Problem> {
    caller.check_operator()?;
    if !is_tenant_name(&tenant) {
        return Err(Problem::invalid("this is not the name of a tenant"));
    }
    let limits = TenantLimits {
        queued_prompts: body.queued_prompts,
        active_runs: body.active_runs,
        usd_micros_per_day: None,
    };
    let view = TenantView::new(&tenant, &limits);
    state.windlass.store().set_tenant_limits(Arc::from(tenant), limits).await?;
    Ok(ApiJson(view))
}
