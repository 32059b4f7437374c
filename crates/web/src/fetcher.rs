//! Fetches a page: address rules, redirects, time and size.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use windlass_runtime::network_addresses::{is_metadata_service, refusal};
use windlass_runtime::ports::Clock;

use crate::fetch_error::FetchError;
use crate::http_exchange::{OpenAnswer, RequestKind, send_request};
use crate::resolver::{Resolver, SystemResolver};
use crate::target::{FetchTarget, LocalHosts};

/// Media types that are text, besides `text/…`, `…+json` and `…+xml`.
const TEXT_TYPES: [&str; 6] = [
    "application/json",
    "application/xml",
    "application/javascript",
    "application/x-javascript",
    "application/yaml",
    "application/toml",
];

/// Maximum number of addresses of one host that are tried.
const MAX_ADDRESSES: usize = 16;

/// Bounds of one fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchLimits {
    /// Milliseconds for everything: resolving, connecting, redirects and reading.
    pub total_ms: u64,
    /// Bytes of a page, decompressed.
    pub max_bytes: usize,
    /// Redirects that are followed.
    pub max_redirects: u32,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self { total_ms: 30_000, max_bytes: 10 * 1024 * 1024, max_redirects: 5 }
    }
}

/// A page that was fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FetchedPage {
    /// The address it came from, after redirects.
    pub(crate) url: String,
    pub(crate) content_type: String,
    pub(crate) bytes: Vec<u8>,
    /// Whether that is all of it.
    pub(crate) is_whole: bool,
}

/// What came of a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FetchOutcome {
    /// The page.
    Page(FetchedPage),
    /// The page is on another host, which needs a permission of its own.
    OtherHost(String),
}

/// Fetches pages from public addresses.
pub struct Fetcher {
    pub(crate) limits: FetchLimits,
    pub(crate) local_hosts: LocalHosts,
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Fetcher {
    /// Returns a fetcher that also reaches `local_hosts`.
    #[must_use]
    pub fn new(local_hosts: LocalHosts, limits: FetchLimits, clock: Arc<dyn Clock>) -> Self {
        Self { limits, local_hosts, resolver: Arc::new(SystemResolver), clock }
    }

    /// Checks whether an address may be reached, and returns why not.
    ///
    /// # Errors
    ///
    /// Returns a [`FetchError`] if the address is not valid, does not resolve, or is refused.
    pub async fn check_address(&self, url: &str) -> Result<(), FetchError> {
        let target = FetchTarget::parse(url)?;
        let total_ms = self.limits.total_ms;
        tokio::select! {
            checked = self.checked_addresses(&target) => checked.map(drop),
            () = self.clock.sleep(total_ms) => Err(FetchError::TimedOut(total_ms)),
        }
    }

    /// Sends a body to an address and returns the status of the answer. Redirects are not followed:
    /// the body was meant for this address.
    ///
    /// # Errors
    ///
    /// Returns a [`FetchError`] if the address is refused or does not answer in time.
    pub async fn post(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: Vec<u8>,
    ) -> Result<u16, FetchError> {
        let target = FetchTarget::parse(url)?;
        let total_ms = self.limits.total_ms;
        let sending = async {
            let addresses = self.checked_addresses(&target).await?;
            let kind = RequestKind::Post(body.into());
            let answer = send_request(&target, &addresses, headers, kind).await?;
            Ok(answer.status)
        };
        tokio::select! {
            outcome = sending => outcome,
            () = self.clock.sleep(total_ms) => Err(FetchError::TimedOut(total_ms)),
        }
    }

    /// Fetches a page. `may_follow` decides about a redirect to another host.
    pub(crate) async fn fetch(
        &self,
        target: FetchTarget,
        may_follow: impl Fn(&str) -> bool + Send + Sync,
    ) -> Result<FetchOutcome, FetchError> {
        let total_ms = self.limits.total_ms;
        tokio::select! {
            outcome = self.follow_redirects(target, may_follow) => outcome,
            () = self.clock.sleep(total_ms) => Err(FetchError::TimedOut(total_ms)),
        }
    }

    async fn follow_redirects(
        &self,
        mut target: FetchTarget,
        may_follow: impl Fn(&str) -> bool + Send + Sync,
    ) -> Result<FetchOutcome, FetchError> {
        for _ in 0..=self.limits.max_redirects {
            let answer = self.open(&target).await?;
            let Some(next) = redirect_of(&answer, &target)? else {
                return self.read_page(&target, answer).await.map(FetchOutcome::Page);
            };
            if next.rule_host() != target.rule_host() && !may_follow(next.rule_host()) {
                // The address is checked before it is told: the model must not be sent there.
                self.checked_addresses(&next).await?;
                return Ok(FetchOutcome::OtherHost(next.url.to_string()));
            }
            target = next;
        }
        Err(FetchError::TooManyRedirects(self.limits.max_redirects))
    }

    async fn open(&self, target: &FetchTarget) -> Result<OpenAnswer, FetchError> {
        let addresses = self.checked_addresses(target).await?;
        let accept = "text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.5".to_owned();
        send_request(target, &addresses, &[("accept", accept)], RequestKind::Get).await
    }

    /// Resolves a host once, and checks every address: the connection goes to one of these.
    async fn checked_addresses(&self, target: &FetchTarget) -> Result<Vec<SocketAddr>, FetchError> {
        let unreachable =
            |reason: String| FetchError::Unreachable { host: target.host.clone(), reason };
        let is_local = self.local_hosts.contain(target);
        let addresses = match target.host.parse::<IpAddr>() {
            Ok(address) => vec![SocketAddr::new(address, target.port)],
            // These names mean this machine, whether a resolver knows them or not.
            Err(_) if target.names_this_machine() && !is_local => {
                vec![SocketAddr::new(Ipv4Addr::LOCALHOST.into(), target.port)]
            }
            Err(_) => {
                let found = self.resolver.resolve(&target.host, target.port).await;
                found.map_err(|error| unreachable(error.to_string()))?
            }
        };
        if addresses.is_empty() {
            return Err(unreachable("it has no address".to_owned()));
        }
        for address in &addresses {
            let reason = match refusal(address.ip()) {
                Some(_) if is_metadata_service(address.ip()) => "a metadata service",
                Some(reason) if !is_local => reason,
                Some(_) | None => continue,
            };
            let (host, address) = (target.host.clone(), address.ip().to_string());
            return Err(FetchError::RefusedAddress { host, address, reason });
        }
        Ok(addresses.into_iter().take(MAX_ADDRESSES).collect())
    }

    async fn read_page(
        &self,
        target: &FetchTarget,
        answer: OpenAnswer,
    ) -> Result<FetchedPage, FetchError> {
        if !(200..300).contains(&answer.status) {
            let (host, status) = (target.host.clone(), answer.status);
            return Err(FetchError::Status { host, status });
        }
        let content_type = answer.header("content-type").to_ascii_lowercase();
        if !is_text(&content_type) {
            return Err(FetchError::NotText(content_type));
        }
        let (bytes, is_whole) = answer.read_body(target, self.limits.max_bytes).await?;
        Ok(FetchedPage { url: target.url.to_string(), content_type, bytes, is_whole })
    }
}

fn redirect_of(
    answer: &OpenAnswer,
    target: &FetchTarget,
) -> Result<Option<FetchTarget>, FetchError> {
    let location = answer.header("location");
    let redirects = matches!(answer.status, 301 | 302 | 303 | 307 | 308) && !location.is_empty();
    redirects.then(|| target.redirected_to(location)).transpose()
}

/// Returns whether the media type is text. Without a type the content is looked at as text.
fn is_text(content_type: &str) -> bool {
    let media = content_type.split(';').next().unwrap_or_default().trim();
    media.is_empty()
        || media.starts_with("text/")
        || media.ends_with("+json")
        || media.ends_with("+xml")
        || TEXT_TYPES.contains(&media)
}

impl std::fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fetcher").field("limits", &self.limits).finish_non_exhaustive()
    }
}
