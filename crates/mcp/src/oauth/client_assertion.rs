//! The proof of a client by its private key (RFC 7523): a signed token about itself.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::{Value, json};

use super::OAuthError;

/// The kind of proof.
pub(super) const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// How long a proof is valid, in seconds.
const VALID_SECONDS: u64 = 300;

/// Signs a proof for an authorization server with a key in PKCS #8 (ES256).
pub(super) fn sign(
    private_key: &str,
    client: &str,
    issuer: &str,
    now_ms: u64,
) -> Result<String, OAuthError> {
    let bad_key = || {
        OAuthError::NoClient(
            "`oauth.privateKey` is not an ES256 key in PKCS #8 (-----BEGIN PRIVATE KEY-----)"
                .to_owned(),
        )
    };
    let der: String = private_key.lines().filter(|line| !line.starts_with("-----")).collect();
    let der = STANDARD.decode(der.trim()).map_err(|_| bad_key())?;
    let random = SystemRandom::new();
    let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &der, &random);
    let key = key.map_err(|_| bad_key())?;
    let now = now_ms / 1_000;
    let claims = json!({
        "iss": client,
        "sub": client,
        "aud": issuer,
        "iat": now,
        "exp": now + VALID_SECONDS,
        "jti": uuid::Uuid::new_v4().to_string(),
    });
    let encode = |part: &Value| URL_SAFE_NO_PAD.encode(part.to_string());
    let signed = format!("{}.{}", encode(&json!({"alg": "ES256", "typ": "JWT"})), encode(&claims));
    let signature = key.sign(&random, signed.as_bytes()).map_err(|_| bad_key())?;
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature)))
}
