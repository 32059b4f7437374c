//! Metadata of servers (RFC 9728) and of authorization servers (RFC 8414, OpenID Connect).

use serde::Deserialize;

/// What a server says about who may use it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct ResourceMetadata {
    /// The URL that tokens are issued for.
    pub(super) resource: Option<String>,
    /// The authorization servers.
    pub(super) authorization_servers: Vec<String>,
    /// The scopes that there are.
    pub(super) scopes_supported: Option<Vec<String>>,
}

/// What an authorization server says about itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct ServerMetadata {
    /// Its name, a URL.
    pub(super) issuer: String,
    /// Where a person agrees.
    pub(super) authorization_endpoint: String,
    /// Where tokens are issued.
    pub(super) token_endpoint: String,
    /// Where clients are registered.
    pub(super) registration_endpoint: Option<String>,
    /// How clients prove who they are.
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// How codes are protected.
    pub(super) code_challenge_methods_supported: Option<Vec<String>>,
    /// The scopes that there are.
    pub(super) scopes_supported: Option<Vec<String>>,
    /// Whether a client may be described by a document.
    pub(super) client_id_metadata_document_supported: bool,
    /// Whether the answer names the issuer.
    pub(super) authorization_response_iss_parameter_supported: bool,
}

/// A server together with the authorization server that it trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Discovered {
    /// The URL that tokens are asked for.
    pub(super) resource: String,
    /// The scopes of the server, if it names them.
    pub(super) resource_scopes: Option<Vec<String>>,
    pub(super) server: ServerMetadata,
    /// Whether the authorization server has no metadata, as in the specification of 2025-03-26.
    pub(super) is_assumed: bool,
}
