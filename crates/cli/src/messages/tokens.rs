//! Messages of `windlass token`.

use windlass::ports::TenantLimits;
use windlass_server::{Scope, TokenInfo};

/// Message when there is no token.
pub(crate) const NO_TOKENS: &str =
    "windlass: no tokens; create one with `windlass token add NAME --scope SCOPE`";

/// Message of a token that was created.
pub(crate) fn token_created(token: &TokenInfo) -> String {
    let about = token_line(token);
    format!("windlass: created {about}; the token is shown only now")
}

/// A token on one line.
pub(crate) fn token_line(token: &TokenInfo) -> String {
    let scopes: Vec<&str> = token.scopes.iter().map(|scope| Scope::as_str(*scope)).collect();
    let tenant = match &token.tenant {
        Some(tenant) => format!("tenant {tenant}"),
        None => "all tenants".to_owned(),
    };
    let expires = match &token.expires_at {
        Some(at) => format!(", expires {at}"),
        None => String::new(),
    };
    format!("{}  {} ({tenant}, {}{expires})", token.token_id, token.name, scopes.join(" "))
}

/// Message of a token that was revoked.
pub(crate) fn token_revoked(id: &str) -> String {
    format!("Revoked {id}.")
}

/// Why no token was revoked.
pub(crate) fn no_such_token(id: &str) -> String {
    format!("no token {id}; list them with `windlass token list`")
}

/// Why a tenant cannot be limited.
pub(crate) fn not_a_tenant(text: &str) -> String {
    format!("`{text}` is not the name of a tenant; use letters, digits, `-`, `_` and `.`")
}

/// The limits of a tenant on one line.
pub(crate) fn tenant_limited(tenant: &str, limits: &TenantLimits) -> String {
    let shown = |limit: Option<u64>| limit.map_or("no limit".to_owned(), |it| it.to_string());
    format!(
        "Tenant {tenant}: queued prompts: {}; active runs: {}.",
        shown(limits.queued_prompts),
        shown(limits.active_runs)
    )
}
