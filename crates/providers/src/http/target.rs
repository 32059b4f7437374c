//! Where a server is.

use std::sync::Arc;

use http::{HeaderValue, Uri};

use crate::fault::Fault;

/// A server and the path below which its API lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) origin: Origin,
    pub(crate) host_header: HeaderValue,
    pub(crate) path: String,
}

/// What two requests must share to share a connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Origin {
    pub(crate) security: Security,
    pub(crate) host: Arc<str>,
    pub(crate) port: u16,
}

/// Whether the connection is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Security {
    Plain,
    Tls,
}

impl Target {
    /// Reads an address such as `https://api.example.com/v1`.
    pub(crate) fn parse(address: &str) -> Result<Self, Fault> {
        let uri: Uri = address.trim().parse().map_err(|_| bad(address))?;
        let security = match uri.scheme_str() {
            Some("https") => Security::Tls,
            Some("http") => Security::Plain,
            _ => return Err(bad(address)),
        };
        let authority = uri.authority().ok_or_else(|| bad(address))?;
        // Who asks is said in a header, never in an address.
        if authority.as_str().contains('@') || uri.host().is_none_or(str::is_empty) {
            return Err(bad(address));
        }
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
        let default = if security == Security::Tls { 443 } else { 80 };
        let port = uri.port_u16().unwrap_or(default);
        let host_header = HeaderValue::from_str(authority.as_str()).map_err(|_| bad(address))?;
        let path = uri.path().trim_end_matches('/').to_owned();
        let origin = Origin { security, host: Arc::from(host), port };
        Ok(Self { origin, host_header, path })
    }
}

impl Target {
    /// Where a path of the API is.
    pub(crate) fn uri(&self, path: &str) -> Result<Uri, Fault> {
        let path = format!("{}{path}", self.path);
        path.parse().map_err(|_| bad(&path))
    }
}

fn bad(address: &str) -> Fault {
    Fault::Misconfigured(format!(
        "`{address}` is no address of a server; write one like https://api.example.com/v1"
    ))
}
