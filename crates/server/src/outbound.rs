//! Requests that the server sends to addresses that its users chose. The program implements them with
//! the rules of `WebFetch`: only public addresses, checked before each connection.

use windlass::ports::BoxFuture;

/// Sends requests to addresses that users chose.
pub trait Outbound: Send + Sync + 'static {
    /// Checks whether an address may be reached, and says why not.
    fn check_address<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<(), String>>;

    /// Sends a body to an address; returns the status of the answer, or why there was none.
    fn post<'a>(
        &'a self,
        url: &'a str,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    ) -> BoxFuture<'a, Result<u16, String>>;
}
