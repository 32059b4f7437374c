//! What is fetched: an address that was parsed once, with one parser.

use url::{Host, Url};

use crate::fetch_error::FetchError;

/// Maximum length of an address.
const MAX_URL_BYTES: usize = 8_192;

/// Hosts that may be fetched although they are not public: those that a person has named.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LocalHosts(Vec<String>);

impl LocalHosts {
    /// Returns the list of these hosts, each with a port or for every port: `localhost:8080`.
    pub fn new(hosts: impl IntoIterator<Item = String>) -> Self {
        Self(hosts.into_iter().map(|host| host.to_lowercase()).collect())
    }

    pub(crate) fn contain(&self, target: &FetchTarget) -> bool {
        let with_port = format!("{}:{}", target.host, target.port);
        self.0.iter().any(|host| *host == target.host || *host == with_port)
    }
}

/// An address to fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FetchTarget {
    pub(crate) url: Url,
    /// The host, without the brackets of an IPv6 address.
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl FetchTarget {
    /// Parses an address. Characters that parsers drop silently are an error.
    pub(crate) fn parse(text: &str) -> Result<Self, FetchError> {
        if text.len() > MAX_URL_BYTES {
            return invalid(format!(
                "the URL has {} bytes; the limit is {MAX_URL_BYTES}",
                text.len()
            ));
        }
        let is_odd = |c: char| c.is_control() || c.is_whitespace() || c == '\\';
        if text.contains(is_odd) {
            return invalid("the URL contains a character that does not belong there".to_owned());
        }
        match Url::parse(text) {
            Ok(url) => Self::from_url(url),
            Err(error) => invalid(format!("the URL is not valid: {error}")),
        }
    }

    /// Checks a parsed address.
    pub(crate) fn from_url(mut url: Url) -> Result<Self, FetchError> {
        if !matches!(url.scheme(), "http" | "https") {
            return invalid(format!("only http and https can be fetched, not {}", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return invalid("the URL contains credentials; leave them out".to_owned());
        }
        url.set_fragment(None);
        let host = match url.host() {
            Some(Host::Domain(name)) => name.to_owned(),
            Some(Host::Ipv4(address)) => address.to_string(),
            Some(Host::Ipv6(address)) => address.to_string(),
            None => return invalid("the URL has no host".to_owned()),
        };
        let Some(port) = url.port_or_known_default() else {
            return invalid("the URL has no port".to_owned());
        };
        Ok(Self { url, host, port })
    }

    /// The target of a redirect from here.
    pub(crate) fn redirected_to(&self, location: &str) -> Result<Self, FetchError> {
        match self.url.join(location) {
            Ok(url) => Self::parse(url.as_str()),
            Err(error) => {
                invalid(format!("the page redirects to an address that is not valid: {error}"))
            }
        }
    }

    /// The host as permission rules see it: a name without the dot at its end.
    pub(crate) fn rule_host(&self) -> &str {
        self.host.trim_end_matches('.')
    }

    /// Returns whether the name is one for this machine by definition.
    pub(crate) fn names_this_machine(&self) -> bool {
        let name = self.rule_host();
        name == "localhost" || name.ends_with(".localhost")
    }

    /// The value of the header `host`.
    pub(crate) fn authority(&self) -> String {
        let host = self.url.host_str().unwrap_or(&self.host);
        self.url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }

    /// The path and the query, as they are sent.
    pub(crate) fn path_and_query(&self) -> String {
        let query = self.url.query().map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{query}", self.url.path())
    }

    pub(crate) fn is_encrypted(&self) -> bool {
        self.url.scheme() == "https"
    }
}

fn invalid<T>(reason: String) -> Result<T, FetchError> {
    Err(FetchError::InvalidUrl(reason))
}
