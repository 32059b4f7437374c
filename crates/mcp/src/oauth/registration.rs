//! Gets a client of an authorization server: one that is configured, one that a document describes,
//! or one that is registered now.

use serde_json::json;

use super::metadata::ServerMetadata;
use super::web::{Web, shown};
use super::{OAuthError, RegisteredClient};
use crate::plain_text::plain_text;
use crate::server_config::OAuthConfig;

/// The name under which people see the client.
const CLIENT_NAME: &str = "Windlass";

/// How clients prove who they are, the preferred one first.
const AUTH_METHODS: [&str; 3] = ["client_secret_basic", "client_secret_post", "none"];

/// Returns the client to log in with.
pub(super) async fn get_client(
    web: &Web,
    server: &ServerMetadata,
    config: &OAuthConfig,
    (redirect_uri, scope): (&str, Option<&str>),
) -> Result<RegisteredClient, OAuthError> {
    if let Some(id) = &config.client_id {
        return Ok(configured_client(server, id, config.client_secret.as_deref()));
    }
    if server.client_id_metadata_document_supported
        && let Some(url) = &config.client_metadata_url
    {
        return Ok(public_client(url));
    }
    match &server.registration_endpoint {
        Some(endpoint) => register(web, server, endpoint, (redirect_uri, scope)).await,
        None => Err(OAuthError::NoClient(format!(
            "the authorization server {} registers no clients; register one there and configure it \
             as `oauth.clientId`",
            shown(&server.issuer)
        ))),
    }
}

/// A client that was registered beforehand.
pub(super) fn configured_client(
    server: &ServerMetadata,
    id: &str,
    secret: Option<&str>,
) -> RegisteredClient {
    let auth_method = choose_auth_method(server, secret.is_some(), None);
    RegisteredClient {
        id: id.to_owned(),
        secret: secret.map(str::to_owned),
        auth_method,
        redirect_uri: None,
    }
}

fn public_client(id: &str) -> RegisteredClient {
    let auth_method = "none".to_owned();
    RegisteredClient { id: id.to_owned(), secret: None, auth_method, redirect_uri: None }
}

/// Registers a client (RFC 7591).
async fn register(
    web: &Web,
    server: &ServerMetadata,
    endpoint: &str,
    (redirect_uri, scope): (&str, Option<&str>),
) -> Result<RegisteredClient, OAuthError> {
    let supported = server.token_endpoint_auth_methods_supported.as_deref();
    let wanted = match supported {
        // A public client has no secret that could be lost.
        Some(list) if list.iter().any(|method| method == "none") => "none",
        Some(list) => {
            let known = AUTH_METHODS.iter().find(|method| list.iter().any(|one| one == *method));
            known.copied().unwrap_or("client_secret_basic")
        }
        None => "none",
    };
    let mut body = json!({
        "client_name": CLIENT_NAME,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted,
        "application_type": "native",
    });
    if let (Some(scope), Some(table)) = (scope, body.as_object_mut()) {
        table.insert("scope".to_owned(), json!(scope));
    }
    let answer = web.post_json(endpoint, &body).await?;
    let registered = answer.json().filter(|_| (200..300).contains(&answer.status));
    let text = |name: &str| registered.as_ref()?.get(name)?.as_str().map(str::to_owned);
    let Some(id) = text("client_id") else {
        return Err(OAuthError::NoClient(format!(
            "the authorization server {} did not register the client (HTTP {}): {}",
            shown(&server.issuer),
            answer.status,
            plain_text(&String::from_utf8_lossy(&answer.body), 300)
        )));
    };
    let secret = text("client_secret").filter(|secret| !secret.is_empty());
    let named = text("token_endpoint_auth_method");
    let auth_method = choose_auth_method(server, secret.is_some(), named.as_deref());
    Ok(RegisteredClient { id, secret, auth_method, redirect_uri: Some(redirect_uri.to_owned()) })
}

/// Returns how a client proves who it is: as registered, else as the server supports it.
fn choose_auth_method(server: &ServerMetadata, has_secret: bool, named: Option<&str>) -> String {
    if let Some(named) = named.filter(|named| AUTH_METHODS.contains(named)) {
        return named.to_owned();
    }
    let supported = server.token_endpoint_auth_methods_supported.as_deref();
    let is_supported =
        |method: &&&str| supported.is_none_or(|list| list.iter().any(|one| one == **method));
    let usable = AUTH_METHODS.iter().filter(|method| has_secret != (**method == "none"));
    let chosen = usable.clone().find(is_supported).or_else(|| usable.clone().next());
    chosen.copied().unwrap_or("none").to_owned()
}

/// The id that a configuration alone gives, for tests and messages.
#[cfg(test)]
pub(super) fn chosen_method(supported: &serde_json::Value, has_secret: bool) -> String {
    let server = json!({"token_endpoint_auth_methods_supported": supported});
    let server: ServerMetadata = serde_json::from_value(server).unwrap_or_default();
    choose_auth_method(&server, has_secret, None)
}
