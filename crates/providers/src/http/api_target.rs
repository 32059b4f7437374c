//! The base URL of a server, parsed.

use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderValue, Uri};

use crate::error::call_error::CallError;

/// A server and the path below which its API is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiTarget {
    pub(crate) origin: Origin,
    pub(crate) host_header: HeaderValue,
    pub(crate) path: String,
}

/// The origin: what two requests must share to share a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    pub(crate) scheme: HttpScheme,
    pub(crate) host: Arc<str>,
    pub(crate) port: u16,
}

/// Whether the connection uses TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum HttpScheme {
    Http,
    Https,
}

impl ApiTarget {
    /// Parses a base URL such as `https://api.example.com/v1`.
    pub(crate) fn parse(address: &str) -> Result<Self, CallError> {
        let uri: Uri = address.trim().parse().map_err(|_| invalid_address(address))?;
        let scheme = match uri.scheme_str() {
            Some("https") => HttpScheme::Https,
            Some("http") => HttpScheme::Http,
            _ => return Err(invalid_address(address)),
        };
        let authority = uri.authority().ok_or_else(|| invalid_address(address))?;
        // Credentials are sent in a header, never in a URL.
        if authority.as_str().contains('@') || uri.host().is_none_or(str::is_empty) {
            return Err(invalid_address(address));
        }
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let default = if scheme == HttpScheme::Https { 443 } else { 80 };
        let port = uri.port_u16().unwrap_or(default);
        let host_header =
            HeaderValue::from_str(authority.as_str()).map_err(|_| invalid_address(address))?;
        let path = uri.path().trim_end_matches('/').to_owned();
        let origin = Origin { scheme, host: Arc::from(host), port };
        Ok(Self { origin, host_header, path })
    }
}

impl ApiTarget {
    /// The URL of a path of the API.
    pub(crate) fn uri(&self, path: &str) -> Result<Uri, CallError> {
        let path = format!("{}{path}", self.path);
        path.parse().map_err(|_| invalid_address(&path))
    }
}

fn invalid_address(address: &str) -> CallError {
    CallError::Misconfigured(format!(
        "`{address}` is not a valid base URL; write one like https://api.example.com/v1"
    ))
}

/// Returns whether a host name or address is that of the loopback interface.
#[must_use]
pub fn is_loopback_host(host: &str) -> bool {
    let address = host.parse::<IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}
