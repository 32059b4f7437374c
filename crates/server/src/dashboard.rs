//! The pages of the dashboard: files that are built into the program. They hold no data, so they
//! need no token; what they show comes through the API.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};

#[cfg(test)]
#[path = "dashboard_tests.rs"]
mod dashboard_tests;

/// What the pages may do: run the program's own script, and ask this server alone.
const PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);

/// A file of the dashboard, as it is and compressed.
pub(crate) struct DashboardFile {
    /// Its path.
    pub(crate) path: &'static str,
    media_type: &'static str,
    plain: &'static [u8],
    gzip: &'static [u8],
}

macro_rules! dashboard_file {
    ($path:literal, $name:literal, $media_type:literal) => {
        DashboardFile {
            path: $path,
            media_type: $media_type,
            plain: include_bytes!(concat!("../../../dashboard/dist/", $name)),
            gzip: include_bytes!(concat!("../../../dashboard/dist/", $name, ".gz")),
        }
    };
}

/// All files. A path that is not here does not exist, whatever it contains.
pub(crate) static DASHBOARD_FILES: [DashboardFile; 4] = [
    dashboard_file!("/", "index.html", "text/html; charset=utf-8"),
    dashboard_file!("/dashboard.js", "dashboard.js", "text/javascript; charset=utf-8"),
    dashboard_file!("/dashboard.css", "dashboard.css", "text/css; charset=utf-8"),
    dashboard_file!("/icon.svg", "icon.svg", "image/svg+xml"),
];

/// Returns whether a path is a file of the dashboard.
pub(crate) fn is_dashboard_path(path: &str) -> bool {
    DASHBOARD_FILES.iter().any(|file| file.path == path)
}

impl DashboardFile {
    /// Responds with the file, compressed if the client accepts that.
    pub(crate) fn respond(&self, request: &HeaderMap) -> Response {
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static(self.media_type)),
            (header::CONTENT_SECURITY_POLICY, PAGE_POLICY),
            (header::VARY, HeaderValue::from_static("accept-encoding")),
            (
                HeaderName::from_static("cross-origin-opener-policy"),
                HeaderValue::from_static("same-origin"),
            ),
        ];
        if accepts_gzip(request) {
            let encoding = [(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"))];
            return (headers, encoding, self.gzip).into_response();
        }
        (headers, self.plain).into_response()
    }
}

/// Returns whether a client accepts gzip. A weight of zero means that it does not.
fn accepts_gzip(request: &HeaderMap) -> bool {
    let values = request.get_all(header::ACCEPT_ENCODING).iter().filter_map(|it| it.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        is_gzip && !parts.any(|weight| matches!(weight, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}
