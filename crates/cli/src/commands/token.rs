//! `windlass token`: tokens of the API and limits of tenants.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use serde_json::json;
use windlass::SystemClock;
use windlass::core::log::ids::UnixMillis;
use windlass::ports::{Clock, DEFAULT_TENANT, Store, TenantLimits};
use windlass_server::{NewToken, Scope, TokenInfo};

use crate::args::{ScopeArg, TokenArgs, TokenCommand};
use crate::exit::OrUsageError;
use crate::{messages, setup, terminal};

/// The length of a day.
const DAY_MS: u64 = 24 * 3_600 * 1_000;

pub(crate) async fn run(args: &TokenArgs) -> anyhow::Result<ExitCode> {
    let store = setup::open_store(args.command.store()).await?;
    let store = store.as_ref();
    match &args.command {
        TokenCommand::Add { name, tenant, all_tenants, scopes, expires_in_days, json, .. } => {
            let own = tenant.clone().unwrap_or_else(|| DEFAULT_TENANT.to_owned());
            let new = NewToken {
                tenant: (!all_tenants).then_some(own),
                name: name.clone(),
                scopes: scopes_or_read(scopes),
                expires_at: expires_in_days
                    .map(|days| UnixMillis(now().0.saturating_add(days.saturating_mul(DAY_MS)))),
            };
            add(store, &new, *json).await
        }
        TokenCommand::List { tenant, json, .. } => list(store, tenant.as_deref(), *json).await,
        TokenCommand::Revoke { token_id, .. } => {
            if !windlass_server::revoke_token(store, None, token_id).await? {
                bail!(messages::no_such_token(token_id));
            }
            terminal::print_line(&messages::token_revoked(token_id));
            Ok(ExitCode::SUCCESS)
        }
        TokenCommand::Limit { tenant, queued_prompts, active_runs, .. } => {
            if !windlass_server::is_tenant_name(tenant) {
                return Err(anyhow::anyhow!(messages::not_a_tenant(tenant))).or_usage_error();
            }
            let limits = TenantLimits {
                queued_prompts: *queued_prompts,
                active_runs: *active_runs,
                usd_micros_per_day: None,
            };
            store.set_tenant_limits(Arc::from(tenant.as_str()), limits).await?;
            terminal::print_line(&messages::tenant_limited(tenant, &limits));
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn now() -> UnixMillis {
    SystemClock::start().now()
}

fn scopes_or_read(given: &[ScopeArg]) -> Vec<Scope> {
    let scope = |arg: &ScopeArg| match arg {
        ScopeArg::Read => Scope::Read,
        ScopeArg::Prompt => Scope::Prompt,
        ScopeArg::Answer => Scope::Answer,
        ScopeArg::Admin => Scope::Admin,
    };
    match given {
        [] => vec![Scope::Read],
        _ => given.iter().map(scope).collect(),
    }
}

async fn add(store: &dyn Store, new: &NewToken, json: bool) -> anyhow::Result<ExitCode> {
    let (text, info) = windlass_server::create_token(store, new, now()).await?;
    if json {
        let mut shown = serde_json::to_value(&info)?;
        if let Some(fields) = shown.as_object_mut() {
            fields.insert("token".to_owned(), text.into());
        }
        terminal::print_line(&shown.to_string());
    } else {
        terminal::print_note(&messages::token_created(&info));
        terminal::print_line(&text);
    }
    Ok(ExitCode::SUCCESS)
}

async fn list(store: &dyn Store, tenant: Option<&str>, json: bool) -> anyhow::Result<ExitCode> {
    let tenant = tenant.map(Arc::from);
    let tokens: Vec<TokenInfo> = windlass_server::list_tokens(store, tenant.as_ref()).await?;
    if json {
        terminal::print_line(&json!({ "tokens": tokens }).to_string());
        return Ok(ExitCode::SUCCESS);
    }
    if tokens.is_empty() {
        terminal::print_note(messages::NO_TOKENS);
    }
    tokens.iter().for_each(|token| terminal::print_line(&messages::token_line(token)));
    let limits = store.tenant_limits().await?;
    for (name, limits) in limits.iter().filter(|it| tenant.as_ref().is_none_or(|t| *t == it.0)) {
        terminal::print_line(&messages::tenant_limited(name, limits));
    }
    Ok(ExitCode::SUCCESS)
}
