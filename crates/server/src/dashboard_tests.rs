use super::*;

fn headers(accept: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(accept))])
}

#[test]
fn a_client_says_whether_it_unpacks() {
    assert!(accepts_gzip(&headers("br, gzip;q=0.8")));
    assert!(!accepts_gzip(&headers("gzip;q=0, br")));
    assert!(!accepts_gzip(&headers("identity")));
    assert!(!accepts_gzip(&HeaderMap::new()));
}

#[test]
fn the_page_asks_for_files_that_exist() {
    let page = DASHBOARD_FILES.iter().find(|file| file.path == "/").unwrap();
    let text = std::str::from_utf8(page.plain).unwrap();
    for file in DASHBOARD_FILES.iter().filter(|file| file.path != "/") {
        assert!(text.contains(&format!("\"{}\"", file.path)), "{}", file.path);
    }
}
