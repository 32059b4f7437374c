//! Sends stored tokens, and refreshes them.

use windlass_runtime::ports::BoxFuture;

use super::oauth_client::OAuthClient;
use super::{OAuthError, StoredLogin};
use crate::connection::McpError;
use crate::http::{HttpAuthorization, Rejection};

/// A token that is about to expire is refreshed this long before.
const REFRESH_BEFORE_MS: u64 = 30_000;

/// The credentials of a stored login. No person is asked: a server that requires one fails with a
/// message that says how to log in.
pub struct OAuthAuthorization {
    client: OAuthClient,
    /// One refresh at a time: a refresh token may be good for one use.
    refreshing: tokio::sync::Mutex<()>,
}

impl OAuthAuthorization {
    /// Creates the credentials of a server.
    #[must_use]
    pub fn new(client: OAuthClient) -> Self {
        Self { client, refreshing: tokio::sync::Mutex::default() }
    }

    async fn current_token(&self) -> Result<Option<String>, OAuthError> {
        let is_usable = |login: &StoredLogin| !login.access_token.is_empty();
        let Some(login) = self.client.stored()?.filter(is_usable) else { return Ok(None) };
        if !self.is_expiring(&login) {
            return Ok(Some(login.access_token));
        }
        self.renew(&login.access_token).await
    }

    /// Gets a token in place of an old one; `None` if a person is needed.
    async fn renew(&self, old: &str) -> Result<Option<String>, OAuthError> {
        let _alone = self.refreshing.lock().await;
        let Some(login) = self.client.stored()? else { return Ok(None) };
        if login.access_token != old {
            return Ok(Some(login.access_token));
        }
        if login.refresh_token.is_some() {
            return match self.client.refresh(login).await {
                Ok(token) => Ok(Some(token)),
                // The refresh token is not good any more: a person logs in again.
                Err(OAuthError::Refused(_)) => Ok(None),
                Err(other) => Err(other),
            };
        }
        if self.client.config.is_client_credentials {
            self.client.login_as_client().await?;
            return Ok(self.client.stored()?.map(|login| login.access_token));
        }
        Ok(None)
    }

    fn is_expiring(&self, login: &StoredLogin) -> bool {
        let now = self.client.clock.now().0;
        login.expires_at_ms.is_some_and(|at| at < now.saturating_add(REFRESH_BEFORE_MS))
    }

    /// Returns whether another token may work; keeps what the server says for the next login.
    async fn reject(&self, rejection: Rejection) -> Result<bool, OAuthError> {
        let mut login = self.client.stored()?.unwrap_or_default();
        login.challenge.clone_from(&rejection.challenge);
        let has_token = rejection.token.is_some();
        self.client.save(login)?;
        if rejection.status == 401 && self.client.config.is_client_credentials && !has_token {
            self.client.login_as_client().await?;
            return Ok(true);
        }
        match rejection.token {
            Some(old) if rejection.status == 401 => {
                Ok(self.renew(&old).await?.is_some_and(|new| new != old))
            }
            Some(_) | None => Ok(false),
        }
    }
}

impl HttpAuthorization for OAuthAuthorization {
    fn access_token(&self) -> BoxFuture<'_, Result<Option<String>, McpError>> {
        Box::pin(async move { self.current_token().await.map_err(mcp_error) })
    }

    fn on_rejected(&self, rejection: Rejection) -> BoxFuture<'_, Result<bool, McpError>> {
        Box::pin(async move { self.reject(rejection).await.map_err(mcp_error) })
    }
}

fn mcp_error(error: OAuthError) -> McpError {
    match error {
        OAuthError::Unreachable(why) => McpError::Unreachable(why),
        OAuthError::Refused(why) | OAuthError::NoClient(why) | OAuthError::NotCompleted(why) => {
            McpError::NeedsLogin(why)
        }
        OAuthError::Store(why) => McpError::Misconfigured(why),
    }
}
