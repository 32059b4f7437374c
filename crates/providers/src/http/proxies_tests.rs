use super::Target;
use super::proxies::Proxies;

fn proxies(named: &'static str, except: &'static str) -> Proxies {
    let variable = move |name: &str| match name {
        "HTTPS_PROXY" => Some(named.to_owned()),
        "NO_PROXY" => Some(except.to_owned()),
        _ => None,
    };
    Proxies::from_variables(&variable).unwrap()
}

fn goes_through(proxies: &Proxies, address: &str) -> bool {
    proxies.of(&Target::parse(address).unwrap().origin).is_some()
}

#[test]
fn encrypted_servers_elsewhere_go_through_the_proxy() {
    let proxies = proxies("proxy.example.com:3128", "");
    assert!(goes_through(&proxies, "https://api.example.com/v1"));
    assert!(!goes_through(&proxies, "http://api.example.com/v1"));
    for here in ["https://localhost:8443", "https://127.0.0.1", "https://[::1]:9"] {
        assert!(!goes_through(&proxies, here), "{here}");
    }
    assert!(!goes_through(&Proxies::default(), "https://api.example.com"));
}

#[test]
fn exceptions_are_hosts_domains_ports_networks_and_everything() {
    let list = " api.example.com, .corp.test,*.wild.test, other.test:8443 ,10.0.0.0/8, 192.0.2.7, fd00::/8";
    let some = proxies("http://p", list);
    for direct in [
        "https://api.example.com",
        "https://API.example.com.",
        "https://eu.api.example.com",
        "https://corp.test",
        "https://a.corp.test",
        "https://a.wild.test",
        "https://other.test:8443",
        "https://10.9.8.7",
        "https://192.0.2.7:1",
        "https://[fd12::1]",
    ] {
        assert!(!goes_through(&some, direct), "{direct}");
    }
    for far in [
        "https://notapi.example.com",
        "https://example.com",
        "https://other.test",
        "https://11.0.0.1",
        "https://[fe80::1]",
    ] {
        assert!(goes_through(&some, far), "{far}");
    }
    assert!(!goes_through(&proxies("http://p", "*"), "https://example.com"));
    assert!(!goes_through(&proxies("http://p", "0.0.0.0/0"), "https://9.9.9.9"));
    assert!(!goes_through(&proxies("http://p", "9.9.9.9/99"), "https://9.9.9.9"));
}

#[test]
fn a_proxy_that_cannot_be_used_is_said_without_its_password() {
    for bad in ["socks5://p:1080", "https://u:geheim@p", "http://", "http://u:geheim@p:port"] {
        let variable = |name: &str| (name == "HTTPS_PROXY").then(|| bad.to_owned());
        let error = Proxies::from_variables(&variable).unwrap_err();
        assert!(error.to_string().contains("HTTPS_PROXY"), "{error}");
        assert!(!format!("{error} {error:?}").contains("geheim"));
    }
}

#[test]
fn passwords_show_nowhere() {
    let proxies = proxies("http://me:p%40ss%2Fword@proxy.test", "");
    assert!(!format!("{proxies:?}").contains("ss/"));
    let secrets: Vec<&str> = proxies.secrets().map(|secret| secret.expose()).collect();
    assert_eq!(secrets, ["bWU6cEBzcy93b3Jk", "p@ss/word"]);
}
