//! Hosts that confined processes may reach, matched exactly.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use serde::{Deserialize, Serialize};

/// Maximum length of a host name.
const MAX_NAME_BYTES: usize = 253;

/// Ports that a rule without a port covers.
const DEFAULT_PORTS: [u16; 2] = [80, 443];

/// A host that confined processes may reach: `example.org`, `*.example.org` for the hosts beneath it,
/// `example.org:8443` for one port, or `registry.test:80=127.0.0.1:4873` for a name that leads to
/// this address and is not looked up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HostRule {
    name: String,
    covers_subdomains: bool,
    port: Option<u16>,
    address: Option<SocketAddr>,
}

impl HostRule {
    /// Parses a rule.
    ///
    /// # Errors
    ///
    /// Returns why the text is not a rule.
    pub fn parse(text: &str) -> Result<Self, String> {
        let invalid = || {
            format!(
                "`{text}` is not a host; write it as example.org, *.example.org or example.org:8443"
            )
        };
        let (host, address) = match text.split_once('=') {
            Some((host, address)) => {
                (host, Some(address.parse::<SocketAddr>().map_err(|_| {
                    format!("`{address}` in `{text}` is not an address with a port, such as 127.0.0.1:4873")
                })?))
            }
            None => (text, None),
        };
        let (covers_subdomains, host) = match host.strip_prefix("*.") {
            Some(rest) => (true, rest),
            None => (false, host),
        };
        let (name, port) = split_port(host).ok_or_else(invalid)?;
        let name = normalize_host(name).ok_or_else(invalid)?;
        Ok(Self { name, covers_subdomains, port, address })
    }

    /// Returns the rule for one host and port, `example.org:443`, that a person allowed beside
    /// `configured`: it leads to where a configured rule for the host leads.
    ///
    /// # Errors
    ///
    /// Returns why the text is not a host with a port.
    pub(crate) fn for_one_host(text: &str, configured: &[Self]) -> Result<Self, String> {
        let own = Self::parse(text)?;
        let (Some(port), false, None) = (own.port, own.covers_subdomains, own.address) else {
            return Err(format!("`{text}` is not one host with a port"));
        };
        let found = configured.iter().find(|rule| rule.covers(&own.name, port));
        Ok(Self { address: found.and_then(Self::address), ..own })
    }

    /// Returns whether both rules cover some host.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let is_beneath = |name: &str, above: &Self| {
            let rest = name.strip_suffix(&above.name).unwrap_or_default();
            above.covers_subdomains && rest.ends_with('.')
        };
        self.name == other.name || is_beneath(&self.name, other) || is_beneath(&other.name, self)
    }

    /// Returns whether the rule covers a host, in the form of [`normalize_host`], and a port.
    pub(crate) fn covers(&self, host: &str, port: u16) -> bool {
        let name_fits = match self.covers_subdomains {
            true => host.strip_suffix(&self.name).is_some_and(|rest| rest.ends_with('.')),
            false => host == self.name,
        };
        name_fits && self.port.map_or(DEFAULT_PORTS.contains(&port), |own| own == port)
    }

    /// Returns the address that the name leads to, if the rule says so.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Returns whether the rule names this address itself.
    pub(crate) fn names_address(&self) -> bool {
        self.name.parse::<IpAddr>().is_ok()
    }
}

impl TryFrom<String> for HostRule {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<HostRule> for String {
    fn from(rule: HostRule) -> Self {
        rule.to_string()
    }
}

impl fmt::Display for HostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.covers_subdomains { "*." } else { "" };
        match self.name.contains(':') {
            true => write!(f, "{star}[{}]", self.name)?,
            false => write!(f, "{star}{}", self.name)?,
        }
        if let Some(port) = self.port {
            write!(f, ":{port}")?;
        }
        match self.address {
            Some(address) => write!(f, "={address}"),
            None => Ok(()),
        }
    }
}

/// Splits a host and its port; an IPv6 address is in brackets.
pub(crate) fn split_port(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, rest) = match text.strip_prefix('[') {
        Some(inner) => inner.split_once(']')?,
        None => match text.split_once(':') {
            Some((host, _)) => (host, text.get(host.len()..)?),
            None => (text, ""),
        },
    };
    match rest.strip_prefix(':') {
        // A sign and leading zeros would be another spelling of a port.
        Some(port) if port.bytes().all(|b| b.is_ascii_digit()) && !port.starts_with('0') => {
            Some((host, Some(port.parse().ok()?)))
        }
        Some(_) => None,
        None => rest.is_empty().then_some((host, None)),
    }
}

/// Returns a host in lower case; `None` for anything that is not plainly one name or address. A dot
/// at the end, bytes that are not ASCII and a NUL are refused: what compares names and what looks
/// them up could read them differently.
pub(crate) fn normalize_host(host: &str) -> Option<String> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Some(address.to_string());
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let is_label =
        |label: &str| !label.is_empty() && label.len() <= 63 && label.chars().all(is_plain);
    (host.len() <= MAX_NAME_BYTES && host.split('.').all(is_label))
        .then(|| host.to_ascii_lowercase())
}
