//! Proxy rules from `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`: which servers are reached through a
//! proxy.

use std::net::IpAddr;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use percent_encoding::percent_decode_str;

use super::api_target::{HttpScheme, Origin, is_loopback_host};
use crate::secret::Secret;

/// The variables that name a proxy; the first one that is set applies.
const PROXY_VARIABLES: [&str; 4] = ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// The variables that name servers which are reached without a proxy.
const NO_PROXY_VARIABLES: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// The port of a proxy without a port.
const DEFAULT_PROXY_PORT: u16 = 80;

/// The proxy rules. Servers without TLS and this machine's own are never reached through a proxy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProxyRules {
    proxy: Option<ProxyServer>,
    no_proxy: Vec<NoProxyRule>,
}

/// A variable that does not name a usable proxy. Its value may contain a password and is not shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{variable} is not a usable proxy URL; write it like http://proxy.example.com:3128")]
pub struct InvalidProxy {
    /// The name of the variable.
    pub variable: &'static str,
}

/// A proxy server and the credential for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProxyServer {
    pub(super) host: Arc<str>,
    pub(super) port: u16,
    /// User name and password, as the header value.
    pub(super) credential: Option<Secret>,
    password: Option<Secret>,
}

/// A rule for servers that are reached without a proxy.
#[derive(Debug, Clone, PartialEq, Eq)]
enum NoProxyRule {
    /// All servers.
    AllHosts,
    /// A host and its subdomains; at any port unless one is given.
    Host { name: String, port: Option<u16> },
    /// Addresses of a network, given by a prefix of `bits` bits.
    Network { address: IpAddr, bits: u32 },
}

impl ProxyRules {
    /// Reads the rules from the usual proxy variables.
    ///
    /// # Errors
    ///
    /// Returns [`InvalidProxy`] if a variable does not name a usable proxy.
    pub fn from_variables(variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, InvalidProxy> {
        let filled = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let named = PROXY_VARIABLES.iter().find_map(|name| Some((*name, filled(name)?)));
        let proxy = named
            .map(|(variable, value)| {
                ProxyServer::parse(value.trim()).ok_or(InvalidProxy { variable })
            })
            .transpose()?;
        let except = NO_PROXY_VARIABLES.iter().find_map(|name| filled(name)).unwrap_or_default();
        let except = except.split(',').map(str::trim).filter(|word| !word.is_empty());
        Ok(Self { proxy, no_proxy: except.map(NoProxyRule::parse).collect() })
    }

    /// The proxy for a server, if it is reached through one.
    pub(super) fn proxy_for(&self, origin: &Origin) -> Option<&ProxyServer> {
        let direct = origin.scheme == HttpScheme::Http
            || is_loopback_host(&origin.host)
            || self.no_proxy.iter().any(|exception| exception.matches(origin));
        self.proxy.as_ref().filter(|_| !direct)
    }

    pub(super) fn secrets(&self) -> impl Iterator<Item = &Secret> {
        let proxy = self.proxy.iter();
        proxy.flat_map(|proxy| proxy.credential.iter().chain(&proxy.password))
    }
}

impl ProxyServer {
    fn parse(text: &str) -> Option<Self> {
        let address = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        let (scheme, rest) = address.split_once("://")?;
        if !scheme.eq_ignore_ascii_case("http") {
            return None;
        }
        let (userinfo, authority) = match rest.rsplit_once('@') {
            Some((userinfo, authority)) => (Some(userinfo), authority),
            None => (None, rest),
        };
        let uri: Uri = format!("http://{authority}").parse().ok()?;
        let host = uri.host().filter(|host| !host.is_empty())?;
        let port =
            if uri.authority()?.as_str() == host { DEFAULT_PROXY_PORT } else { uri.port_u16()? };
        let (name, password) =
            userinfo.map(|person| person.split_once(':').unwrap_or((person, ""))).unzip();
        let password = password.map(percent_decode);
        let both = name
            .map(|name| format!("{}:{}", percent_decode(name), password.as_deref().unwrap_or("")));
        Some(Self {
            host: Arc::from(host.trim_matches(['[', ']'])),
            port,
            credential: both.map(|both| Secret::new(&STANDARD.encode(both))),
            password: password.map(|password| Secret::new(&password)),
        })
    }
}

impl NoProxyRule {
    fn parse(word: &str) -> Self {
        if word == "*" {
            return Self::AllHosts;
        }
        if let Some((address, bits)) = word.split_once('/')
            && let (Ok(address), Ok(bits)) = (address.parse(), bits.parse())
        {
            return Self::Network { address, bits };
        }
        let bare = word.trim_matches(['[', ']']);
        let (name, port) = match word.rsplit_once(':') {
            Some((name, port)) if bare.parse::<IpAddr>().is_err() => (name, port.parse().ok()),
            _ => (bare, None),
        };
        let name = name.trim_start_matches("*.").trim_matches(['.', '[', ']']).to_lowercase();
        Self::Host { name, port }
    }

    fn matches(&self, origin: &Origin) -> bool {
        match self {
            Self::AllHosts => true,
            Self::Host { name, port } => {
                port.is_none_or(|port| port == origin.port)
                    && is_domain_or_subdomain(&origin.host, name)
            }
            Self::Network { address, bits } => {
                origin.host.parse().is_ok_and(|host| is_in_network(host, *address, *bits))
            }
        }
    }
}

fn is_domain_or_subdomain(host: &str, name: &str) -> bool {
    let host = host.trim_end_matches('.').to_lowercase();
    host.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

fn is_in_network(a: IpAddr, b: IpAddr, bits: u32) -> bool {
    let same = |different: u128, width: u32| {
        different.checked_shr(width.saturating_sub(bits)).unwrap_or(0) == 0
    };
    match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => same(u128::from(a.to_bits() ^ b.to_bits()), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => same(a.to_bits() ^ b.to_bits(), 128),
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

/// Decodes percent-encoding: `%40` is an `@` that would otherwise end the password.
fn percent_decode(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}
