//! Requests to addresses that users of the server chose, with the rules of `WebFetch`.

use windlass::ports::BoxFuture;
use windlass_server::Outbound;
use windlass_web::Fetcher;

/// Sends the messages to webhooks.
pub(crate) struct OutboundRequests {
    fetcher: Fetcher,
}

impl OutboundRequests {
    /// Requests under the rules of a fetcher.
    pub(crate) fn new(fetcher: Fetcher) -> Self {
        Self { fetcher }
    }
}

impl Outbound for OutboundRequests {
    fn check_address<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(
            async move { self.fetcher.check_address(url).await.map_err(|error| error.to_string()) },
        )
    }

    fn post<'a>(
        &'a self,
        url: &'a str,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    ) -> BoxFuture<'a, Result<u16, String>> {
        Box::pin(async move {
            self.fetcher.post(url, &headers, body).await.map_err(|error| error.to_string())
        })
    }
}
