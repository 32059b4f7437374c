//! Requests for tokens.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::web::{Web, encode, shown};
use super::{OAuthError, RegisteredClient};
use crate::plain_text::plain_text;

/// Tokens as they were issued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct IssuedTokens {
    pub(super) access_token: String,
    pub(super) refresh_token: Option<String>,
    pub(super) expires_in_ms: Option<u64>,
}

/// Asks for tokens with these fields, and the proof of the client.
pub(super) async fn request_tokens(
    web: &Web,
    endpoint: &str,
    client: &RegisteredClient,
    fields: &[(&str, &str)],
) -> Result<IssuedTokens, OAuthError> {
    let mut fields = fields.to_vec();
    let mut headers = Vec::new();
    let secret = client.secret.as_deref().unwrap_or_default();
    match client.auth_method.as_str() {
        "client_secret_basic" => {
            let both = STANDARD.encode(format!("{}:{}", encode(&client.id), encode(secret)));
            headers.push(("Authorization".to_owned(), format!("Basic {both}")));
        }
        "client_secret_post" => {
            fields.extend([("client_id", client.id.as_str()), ("client_secret", secret)]);
        }
        // The fields have the proof.
        "private_key_jwt" => {}
        _ => fields.push(("client_id", client.id.as_str())),
    }
    let answer = web.post_form(endpoint, &fields, headers).await?;
    let json = answer.json().unwrap_or_default();
    let text = |name: &str| json.get(name).and_then(|value| value.as_str()).map(str::to_owned);
    if !(200..300).contains(&answer.status) {
        let error = text("error").unwrap_or_else(|| format!("HTTP {}", answer.status));
        let about = text("error_description").unwrap_or_default();
        let said = plain_text(format!("{error} {about}").trim(), 300);
        return Err(OAuthError::Refused(format!("{} gave no token: {said}", shown(endpoint))));
    }
    let is_bearer = text("token_type").is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
    let access_token = text("access_token").filter(|token| is_bearer && is_token(token));
    let access_token = access_token.ok_or_else(|| {
        OAuthError::Refused(format!("{} gave a token that is not usable", shown(endpoint)))
    })?;
    let seconds = json.get("expires_in").and_then(serde_json::Value::as_u64);
    Ok(IssuedTokens {
        access_token,
        refresh_token: text("refresh_token").filter(|token| is_token(token)),
        expires_in_ms: seconds.map(|seconds| seconds.saturating_mul(1_000)),
    })
}

/// Returns whether a text can be a token in a header.
fn is_token(text: &str) -> bool {
    !text.is_empty() && text.len() <= 64 << 10 && text.bytes().all(|byte| byte.is_ascii_graphic())
}
