use crate::http::ApiTarget;

#[test]
fn an_address_is_read() {
    let target = ApiTarget::parse("https://api.example.com/v1/").unwrap();
    assert_eq!((&*target.origin.host, target.origin.port), ("api.example.com", 443));
    assert_eq!(target.path, "/v1");
    let local = ApiTarget::parse("http://127.0.0.1:8080").unwrap();
    assert_eq!((local.origin.port, local.path.as_str()), (8080, ""));
    assert_eq!(&*ApiTarget::parse("http://[::1]:1").unwrap().origin.host, "::1");
}

#[test]
fn what_is_no_address_is_refused_with_advice() {
    for bad in ["", "api.example.com", "ftp://a", "http://", "http://user:pw@host/"] {
        let error = ApiTarget::parse(bad).unwrap_err().to_string();
        assert!(error.contains("write one like"), "{bad}: {error}");
    }
}
