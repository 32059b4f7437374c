//! Hosts by rule: what the proxy lets through, and that nothing goes around it.

use std::io::{Read, Write};
use std::net::TcpListener;

use crate::sandboxed::{ScriptEnd, World};
use windlass_sandbox::{HostRule, Layers};

/// Starts a server that answers every connection with the first line it got.
fn start_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                let count = client.read(&mut bytes).unwrap_or(0);
                let line =
                    String::from_utf8_lossy(&bytes[..count]).lines().next().map(str::to_owned);
                let answer =
                    format!("HTTP/1.0 200 OK\r\n\r\nserved {}\n", line.unwrap_or_default());
                drop(client.write_all(answer.as_bytes()));
            });
        }
    });
    port
}

fn world(rules: &[String]) -> World {
    let mut world = World::new(Layers::ALL);
    world.policy.hosts = rules.iter().map(|rule| HostRule::parse(rule).unwrap()).collect();
    world
}

/// Sends bytes to the proxy, written as for `printf`, and returns what it answers.
async fn ask(world: &World, bytes: &str) -> ScriptEnd {
    let script = format!(
        "bash -c 'exec 3<>/dev/tcp/127.0.0.1/${{HTTP_PROXY##*:}}; printf \"%b\" \"$0\" >&3; timeout 10 cat <&3 | od -An -c | tr -d \" \\n\"' '{bytes}'"
    );
    world.run(&script).await
}

#[tokio::test]
async fn a_host_is_reached_if_a_rule_covers_it() {
    let port = start_server();
    let world = world(&[format!("made-up.test:80=127.0.0.1:{port}")]);
    let plain =
        ask(&world, "GET http://made-up.test/x HTTP/1.1\\r\\nHost: made-up.test\\r\\n\\r\\n").await;
    assert!(plain.output.contains("servedGET/xHTTP/1.1"), "{plain:?}");
    let tunnel = ask(&world, "CONNECT made-up.test:80 HTTP/1.1\\r\\n\\r\\nping\\n").await;
    assert!(
        tunnel.output.contains("200Connection") && tunnel.output.contains("servedping"),
        "{tunnel:?}"
    );
    let socks = ask(&world, "\\05\\01\\00\\05\\01\\00\\03\\014made-up.test\\00\\0120ping\\n").await;
    assert!(socks.output.contains("servedping"), "{socks:?}");
    assert!(plain.blocked_hosts.is_empty() && tunnel.blocked_hosts.is_empty());
}

#[tokio::test]
async fn every_other_host_is_refused_and_named() {
    let port = start_server();
    let world = world(&[format!("made-up.test:80=127.0.0.1:{port}"), format!("localhost:{port}")]);
    for (host, named) in [
        ("other.test", "other.test:80"),
        ("made-up.test.evil.test", "made-up.test.evil.test:80"),
        ("evilmade-up.test", "evilmade-up.test:80"),
        ("x.made-up.test", "x.made-up.test:80"),
        ("made-up.test.", "made-up.test.:80"),
        ("127.0.0.1", "127.0.0.1:80"),
        ("169.254.169.254", "169.254.169.254:80"),
    ] {
        let ended = ask(&world, &format!("CONNECT {host}:80 HTTP/1.1\\r\\n\\r\\n")).await;
        assert!(ended.output.contains("403Forbidden"), "{host}: {ended:?}");
        assert_eq!(ended.blocked_hosts, [named], "{host}");
    }
    // A rule names this host, and it leads to this machine.
    let ended = ask(&world, &format!("CONNECT localhost:{port} HTTP/1.1\\r\\n\\r\\n")).await;
    assert!(ended.output.contains("403Forbidden"), "{ended:?}");
    assert_eq!(ended.blocked_hosts, [format!("localhost:{port}, which leads to this machine")]);
    let nul = "\\05\\01\\00\\05\\01\\00\\03\\026evil.test\\00.made-up.test\\00\\0120";
    let ended = ask(&world, nul).await;
    assert!(!ended.output.contains("served"), "{ended:?}");
    let other_name = "GET http://made-up.test/ HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n";
    let ended = ask(&world, other_name).await;
    assert!(ended.output.contains("400Bad"), "{ended:?}");
}

#[tokio::test]
async fn without_a_rule_the_proxy_refuses_and_says_what() {
    let world = world(&[]);
    let ended = ask(&world, "CONNECT registry.test:443 HTTP/1.1\\r\\n\\r\\n").await;
    assert!(ended.output.contains("doesnotallowregistry.test:443"), "{ended:?}");
    assert_eq!(ended.blocked_hosts, ["registry.test:443"]);
}

#[tokio::test]
async fn a_port_of_this_machine_is_reached_if_it_is_allowed() {
    let port = start_server();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; echo hello >&3; cat <&3'");
    let mut world = world(&[]);
    world.fails(&connect).await;
    world.policy.local_ports = vec![port];
    assert!(world.succeeds(&connect).await.contains("served hello"));
}
