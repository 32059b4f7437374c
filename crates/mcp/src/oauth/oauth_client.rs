//! Gets tokens: with the help of a person, or as the client itself.

use std::collections::BTreeSet;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest, Sha256};
use windlass_runtime::ports::Clock;

use super::challenge::Challenge;
use super::discovery::{canonical_url, discover};
use super::loopback::{Callback, Loopback};
use super::metadata::Discovered;
use super::registration::{configured_client, get_client};
use super::token_endpoint::{IssuedTokens, request_tokens};
use super::web::{Web, check_url, encode_form, shown};
use super::{
    BrowserOpener, LoginStore, OAuthError, RegisteredClient, StoredLogin, client_assertion,
};
use crate::http::{HttpRequest, HttpTransport};
use crate::plain_text::plain_text;
use crate::server::PROTOCOL_VERSION;
use crate::server_config::OAuthConfig;

/// The scope with which an authorization server issues refresh tokens.
const OFFLINE_ACCESS: &str = "offline_access";

/// How often a login is repeated for scopes that were asked for already.
const MAX_STEP_UPS: u32 = 2;

/// Gets tokens for one server.
pub struct OAuthClient {
    pub(super) web: Web,
    pub(super) store: Arc<dyn LoginStore>,
    pub(super) clock: Arc<dyn Clock>,
    /// The URL of the server.
    pub(super) url: String,
    pub(super) config: OAuthConfig,
}

/// How a person takes part in a login.
pub struct LoginPrompt {
    /// Opens the page.
    pub browser: Arc<dyn BrowserOpener>,
}

impl OAuthClient {
    /// Creates a client for the server at a URL.
    #[must_use]
    pub fn new(
        url: &str,
        config: OAuthConfig,
        transport: Arc<dyn HttpTransport>,
        (store, clock): (Arc<dyn LoginStore>, Arc<dyn Clock>),
    ) -> Self {
        Self { web: Web(transport), store, clock, url: url.to_owned(), config }
    }

    /// Returns what is stored for the server.
    ///
    /// # Errors
    ///
    /// Returns [`OAuthError::Store`] if it cannot be read.
    pub fn stored(&self) -> Result<Option<StoredLogin>, OAuthError> {
        self.store.load(&canonical_url(&self.url)).map_err(OAuthError::Store)
    }

    pub(super) fn save(&self, mut login: StoredLogin) -> Result<(), OAuthError> {
        login.resource = canonical_url(&self.url);
        self.store.save(&login).map_err(OAuthError::Store)
    }

    /// Logs in: a person agrees in a browser that returns to a loopback address.
    ///
    /// # Errors
    ///
    /// Returns an [`OAuthError`] that says what is missing.
    pub async fn login(&self, prompt: &LoginPrompt) -> Result<(), OAuthError> {
        if self.config.is_client_credentials {
            return self.login_as_client().await;
        }
        let stored = self.stored()?.unwrap_or_default();
        let challenge = self.challenge(&stored).await?;
        let step_ups = count_step_ups(&challenge, &stored);
        if step_ups > MAX_STEP_UPS {
            self.save(StoredLogin { challenge: String::new(), step_ups: 0, ..stored })?;
            return Err(OAuthError::NotCompleted(format!(
                "the server requires scopes that {step_ups} logins asked for already; ask its operator"
            )));
        }
        let found = self.discover(&challenge).await?;
        check_pkce(&found)?;
        let scopes = self.scopes(&challenge, &found, &stored);
        let scope = joined(&scopes);
        let loopback = Loopback::listen(self.config.callback_port).await?;
        let redirect_uri = loopback.redirect_uri().to_owned();
        let client =
            get_client(&self.web, &found.server, &self.config, (&redirect_uri, scope.as_deref()))
                .await?;
        let (verifier, state) = (random_text(), random_text());
        let page = authorization_url(
            &found,
            &client,
            (&redirect_uri, &verifier, &state),
            scope.as_deref(),
        )?;
        prompt.browser.open(&page).await;
        let callback = loopback.wait_for_answer(&state).await?;
        let code = accepted_code(&found, callback)?;
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", redirect_uri.as_str()),
            ("code_verifier", verifier.as_str()),
            ("resource", found.resource.as_str()),
        ];
        let endpoint = &found.server.token_endpoint;
        let tokens = request_tokens(&self.web, endpoint, &client, &fields).await?;
        self.keep(&found, client, (tokens, scopes), step_ups)
    }

    /// Logs in as the client itself, without a person (client credentials).
    ///
    /// # Errors
    ///
    /// Returns an [`OAuthError`] that says what is missing.
    pub async fn login_as_client(&self) -> Result<(), OAuthError> {
        let stored = self.stored()?.unwrap_or_default();
        let challenge = self.challenge(&stored).await?;
        let found = self.discover(&challenge).await?;
        let Some(id) = &self.config.client_id else {
            return Err(OAuthError::NoClient(
                "a login without a person requires `oauth.clientId`".to_owned(),
            ));
        };
        let mut client = configured_client(&found.server, id, self.config.client_secret.as_deref());
        let scopes = self.scopes(&challenge, &found, &stored);
        let scope = joined(&scopes);
        let assertion = match &self.config.private_key {
            Some(key) => {
                client.auth_method = "private_key_jwt".to_owned();
                let issuer = &found.server.issuer;
                Some(client_assertion::sign(key, id, issuer, self.clock.now().0)?)
            }
            None => None,
        };
        let mut fields =
            vec![("grant_type", "client_credentials"), ("resource", found.resource.as_str())];
        fields.extend(scope.as_deref().map(|scope| ("scope", scope)));
        if let Some(assertion) = &assertion {
            fields.push(("client_assertion_type", client_assertion::ASSERTION_TYPE));
            fields.push(("client_assertion", assertion));
        }
        let endpoint = &found.server.token_endpoint;
        let tokens = request_tokens(&self.web, endpoint, &client, &fields).await?;
        self.keep(&found, client, (tokens, scopes), stored.step_ups)
    }

    /// Gets a new access token with the refresh token; returns it.
    pub(super) async fn refresh(&self, login: StoredLogin) -> Result<String, OAuthError> {
        let refresh_token = login.refresh_token.clone().unwrap_or_default();
        let resource = login.resource.clone();
        let fields = [
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token.as_str()),
            ("resource", resource.as_str()),
        ];
        check_url(&login.token_endpoint)?;
        let tokens =
            request_tokens(&self.web, &login.token_endpoint, &login.client, &fields).await?;
        let access_token = tokens.access_token.clone();
        self.save(StoredLogin {
            access_token: tokens.access_token,
            // A refresh token that is not replaced stays valid.
            refresh_token: tokens.refresh_token.or(login.refresh_token.clone()),
            expires_at_ms: self.expiry(tokens.expires_in_ms),
            ..login
        })?;
        Ok(access_token)
    }

    fn keep(
        &self,
        found: &Discovered,
        client: RegisteredClient,
        (tokens, scopes): (IssuedTokens, BTreeSet<String>),
        step_ups: u32,
    ) -> Result<(), OAuthError> {
        self.save(StoredLogin {
            resource: String::new(),
            issuer: found.server.issuer.clone(),
            token_endpoint: found.server.token_endpoint.clone(),
            client,
            access_token: tokens.access_token,
            refresh_token: tokens.refresh_token,
            expires_at_ms: self.expiry(tokens.expires_in_ms),
            scopes,
            challenge: String::new(),
            step_ups,
        })
    }

    fn expiry(&self, expires_in_ms: Option<u64>) -> Option<u64> {
        expires_in_ms.map(|ms| self.clock.now().0.saturating_add(ms))
    }

    async fn discover(&self, challenge: &Challenge) -> Result<Discovered, OAuthError> {
        discover(&self.web, &self.url, challenge, self.config.metadata_url.as_deref()).await
    }

    /// What the server says about the login: the last time, or asked now.
    async fn challenge(&self, stored: &StoredLogin) -> Result<Challenge, OAuthError> {
        if !stored.challenge.is_empty() {
            return Ok(Challenge::parse(&stored.challenge));
        }
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": {},
            "clientInfo": {"name": "windlass", "version": env!("CARGO_PKG_VERSION")},
        }});
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: self.url.clone(),
            headers: vec![
                header("Content-Type", "application/json"),
                header("Accept", "application/json, text/event-stream"),
            ],
            body: hello.to_string().into_bytes(),
        };
        let sent =
            tokio::time::timeout(std::time::Duration::from_secs(30), self.web.0.send(request));
        let answer = match sent.await {
            Ok(Ok(answer)) => answer,
            Ok(Err(error)) => return Err(OAuthError::Unreachable(error.message)),
            Err(_) => return Err(OAuthError::Unreachable("the server does not answer".to_owned())),
        };
        Ok(Challenge::parse(answer.header("www-authenticate").unwrap_or_default()))
    }

    /// The scopes to ask for: those configured, those that the server requires, else those that it
    /// names, and those of an earlier login.
    fn scopes(
        &self,
        challenge: &Challenge,
        found: &Discovered,
        stored: &StoredLogin,
    ) -> BTreeSet<String> {
        let split = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let wanted = match (&self.config.scopes, &challenge.scope) {
            (Some(configured), _) => split(configured),
            (None, Some(required)) => split(required),
            (None, None) => found.resource_scopes.clone().unwrap_or_default(),
        };
        let mut scopes: BTreeSet<String> = wanted.into_iter().collect();
        if challenge.error.as_deref() == Some("insufficient_scope") {
            scopes.extend(stored.scopes.iter().cloned());
        }
        let supported = found.server.scopes_supported.as_deref().unwrap_or_default();
        let is_offline = supported.iter().any(|scope| scope == OFFLINE_ACCESS);
        if is_offline && !self.config.is_client_credentials {
            scopes.insert(OFFLINE_ACCESS.to_owned());
        }
        scopes
    }
}

/// Counts the logins in a row that asked for scopes which the server still requires.
fn count_step_ups(challenge: &Challenge, stored: &StoredLogin) -> u32 {
    let lacks_scope = challenge.error.as_deref() == Some("insufficient_scope");
    let mut required = challenge.scope.as_deref().unwrap_or_default().split_whitespace();
    match lacks_scope && required.all(|scope| stored.scopes.contains(scope)) {
        true => stored.step_ups.saturating_add(1),
        false => 0,
    }
}

fn joined(scopes: &BTreeSet<String>) -> Option<String> {
    let scope = scopes.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    Some(scope).filter(|scope| !scope.is_empty())
}

/// A code that someone else reads must be of no use: without PKCE there is no login.
fn check_pkce(found: &Discovered) -> Result<(), OAuthError> {
    let methods = found.server.code_challenge_methods_supported.as_deref().unwrap_or_default();
    match found.is_assumed || methods.iter().any(|method| method == "S256") {
        true => Ok(()),
        false => Err(OAuthError::Refused(format!(
            "the authorization server {} does not offer PKCE with S256, which MCP requires",
            shown(&found.server.issuer)
        ))),
    }
}

fn authorization_url(
    found: &Discovered,
    client: &RegisteredClient,
    (redirect_uri, verifier, state): (&str, &str, &str),
    scope: Option<&str>,
) -> Result<String, OAuthError> {
    let endpoint = &found.server.authorization_endpoint;
    check_url(endpoint)?;
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()));
    let mut fields = vec![
        ("response_type", "code"),
        ("client_id", client.id.as_str()),
        ("redirect_uri", redirect_uri),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
        ("state", state),
        ("resource", found.resource.as_str()),
    ];
    fields.extend(scope.map(|scope| ("scope", scope)));
    if scope.is_some_and(|scope| scope.split(' ').any(|one| one == OFFLINE_ACCESS)) {
        fields.push(("prompt", "consent"));
    }
    let separator = if endpoint.contains('?') { '&' } else { '?' };
    Ok(format!("{endpoint}{separator}{}", encode_form(&fields)))
}

/// The code of an answer, if it comes from the right authorization server.
fn accepted_code(found: &Discovered, callback: Callback) -> Result<String, OAuthError> {
    if let Some(error) = callback.error {
        let about = callback.error_description.unwrap_or_default();
        let said = plain_text(format!("{error} {about}").trim(), 300);
        return Err(OAuthError::NotCompleted(format!("the login was refused: {said}")));
    }
    let must_be_named = found.server.authorization_response_iss_parameter_supported;
    let is_right = match &callback.issuer {
        Some(issuer) => *issuer == found.server.issuer,
        None => !must_be_named,
    };
    if !is_right {
        return Err(OAuthError::Refused(
            "the answer comes from another authorization server; the login was stopped".to_owned(),
        ));
    }
    callback.code.ok_or_else(|| OAuthError::NotCompleted("the answer has no code".to_owned()))
}

/// A text that cannot be guessed: 244 random bits.
fn random_text() -> String {
    let bytes = [*uuid::Uuid::new_v4().as_bytes(), *uuid::Uuid::new_v4().as_bytes()].concat();
    URL_SAFE_NO_PAD.encode(bytes)
}
