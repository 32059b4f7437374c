use axum::http::Method;

use super::{Caller, Scope, required_scope};

#[test]
fn each_request_needs_its_scope() {
    for (method, path, scope) in [
        (Method::GET, "/v1/runs", Scope::Read),
        (Method::GET, "/metrics", Scope::Read),
        (Method::GET, "/v1/questions", Scope::Read),
        (Method::POST, "/v1/conversations", Scope::Prompt),
        (Method::POST, "/v1/runs/x/cancel", Scope::Prompt),
        (Method::POST, "/v1/questions/x/1/answer", Scope::Answer),
        (Method::POST, "/v1/questions/answer", Scope::Answer),
        (Method::DELETE, "/v1/conversations/x", Scope::Admin),
        (Method::GET, "/v1/tokens", Scope::Admin),
        (Method::GET, "/v1/webhooks/x/deliveries", Scope::Admin),
        (Method::PUT, "/v1/tenants/x", Scope::Admin),
        (Method::GET, "/v1/tokensmith", Scope::Read),
        (Method::POST, "/anything", Scope::Prompt),
        (Method::POST, "/mcp", Scope::Prompt),
    ] {
        assert_eq!(required_scope(&method, path), scope, "{method} {path}");
    }
}

#[test]
fn a_token_of_a_tenant_sees_that_tenant_alone() {
    let caller = Caller::new(Some("acme".into()), [Scope::Read], "ci", "1");
    assert!(caller.sees("acme") && !caller.sees("default") && !caller.sees(""));
    assert!(caller.has(Scope::Read) && !caller.has(Scope::Prompt) && !caller.has(Scope::Admin));
    assert!(caller.check_operator().is_err());
    assert_eq!(&*caller.tenant_of_new(), "acme");
    let operator = Caller::operator();
    assert!(operator.sees("acme") && operator.has(Scope::Answer));
    assert!(operator.check_operator().is_ok());
    assert_eq!(&*operator.tenant_of_new(), "default");
}
