//! Login to servers over HTTP: OAuth 2.1 as the MCP specification of 2025-11-25 has it.
//!
//! [`OAuthAuthorization`] sends stored tokens and refreshes them; [`OAuthClient::login`] gets new
//! ones with the help of a person, [`OAuthClient::login_as_client`] without. A token is used for the
//! server that it was issued for and for no other.

mod authorization;
mod challenge;
mod client_assertion;
mod discovery;
mod loopback;
mod metadata;
mod oauth_client;
mod registration;
mod token_endpoint;
mod web;

#[cfg(test)]
mod oauth_tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use windlass_runtime::ports::BoxFuture;

pub use authorization::OAuthAuthorization;
pub use oauth_client::{LoginPrompt, OAuthClient};

/// Why a login failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OAuthError {
    /// The server or its authorization server cannot be reached.
    #[error("{0}")]
    Unreachable(String),
    /// What the server or its authorization server says is not usable, or not safe.
    #[error("{0}")]
    Refused(String),
    /// No client is registered, and none can be.
    #[error("{0}")]
    NoClient(String),
    /// The person did not agree, or did not answer in time.
    #[error("{0}")]
    NotCompleted(String),
    /// The credentials cannot be stored.
    #[error("{0}")]
    Store(String),
}

/// What is kept of a login, for one server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredLogin {
    /// The URL of the server that the tokens are for: their audience.
    pub resource: String,
    /// The authorization server that issued them.
    pub issuer: String,
    /// Where tokens are refreshed.
    pub token_endpoint: String,
    /// The client that the tokens were issued to.
    pub client: RegisteredClient,
    /// The access token; empty before the first login.
    pub access_token: String,
    /// The refresh token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<String>,
    /// When the access token expires, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at_ms: Option<u64>,
    /// The scopes that were asked for.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub scopes: BTreeSet<String>,
    /// What the server last said about the login that it requires.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub challenge: String,
    /// How often in a row a login for more scopes did not help.
    #[serde(default)]
    pub step_ups: u32,
}

/// A client of an authorization server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegisteredClient {
    /// Its id.
    pub id: String,
    /// Its secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// How it proves who it is: `none`, `client_secret_post`, `client_secret_basic`.
    #[serde(default)]
    pub auth_method: String,
    /// Its redirect URI, if it is registered with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect_uri: Option<String>,
}

/// Keeps logins, by the URL of the server. Implementations may block for as long as a file takes.
pub trait LoginStore: Send + Sync + 'static {
    /// Returns the login for a server.
    ///
    /// # Errors
    ///
    /// Returns a text if the logins cannot be read.
    fn load(&self, resource: &str) -> Result<Option<StoredLogin>, String>;

    /// Replaces the login for a server.
    ///
    /// # Errors
    ///
    /// Returns a text if the login cannot be written.
    fn save(&self, login: &StoredLogin) -> Result<(), String>;
}

/// Opens the page of an authorization server for a person.
pub trait BrowserOpener: Send + Sync + 'static {
    /// Shows the URL, and opens it if there is a browser.
    fn open(&self, url: &str) -> BoxFuture<'_, ()>;
}
