//! Which addresses are public. Everything that is not known to be is refused: this machine, private
//! networks, link-local addresses (and with them the metadata services of clouds), and every form in
//! which IPv6 hides an IPv4 address.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns why an address is not public; `None` if it is.
#[must_use]
pub fn refusal(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => refusal_v4(address),
        IpAddr::V6(address) => refusal_v6(address),
    }
}

/// Returns whether the address may be a metadata service of a cloud, which is refused whatever the
/// configuration says.
#[must_use]
pub fn is_metadata_service(address: IpAddr) -> bool {
    let link_local = |v4: Ipv4Addr| v4.is_link_local() || v4 == Ipv4Addr::new(100, 100, 100, 200);
    match address {
        IpAddr::V4(address) => link_local(address),
        IpAddr::V6(address) => {
            embedded_v4(address).is_some_and(link_local)
                || address.segments().starts_with(&[0xfd00, 0x0ec2])
                || address.is_unicast_link_local()
        }
    }
}

fn refusal_v4(address: Ipv4Addr) -> Option<&'static str> {
    let [a, b, c, _] = address.octets();
    Some(match (a, b, c) {
        (127, ..) => "this machine",
        (0, ..) => "this network",
        (10, ..) | (192, 168, _) | (172, 16..=31, _) => "a private network",
        (100, 64..=127, _) => "the network of a provider",
        (169, 254, _) => "link-local",
        (192, 0, 0 | 2) | (198, 51, 100) | (203, 0, 113) | (192, 88, 99) => "reserved",
        (198, 18 | 19, _) => "for benchmarks",
        (224..=239, ..) => "multicast",
        (240..=255, ..) => "reserved",
        _ => return None,
    })
}

fn refusal_v6(address: Ipv6Addr) -> Option<&'static str> {
    if let Some(inner) = embedded_v4(address) {
        return refusal_v4(inner);
    }
    let segments = address.segments();
    let [a, b, ..] = segments;
    Some(match a {
        _ if address.is_loopback() => "this machine",
        _ if address.is_unspecified() => "this network",
        0xfc00..=0xfdff => "a private network",
        0xfe80..=0xfebf => "link-local",
        0xff00..=0xffff => "multicast",
        0x2001 if b == 0 => "a tunnel",
        0x2001 if b == 0x0db8 || b < 0x0200 => "reserved",
        0x3fff if b < 0x1000 => "reserved",
        0x2000..=0x3fff => return None,
        _ => "reserved",
    })
}

/// The IPv4 address within an IPv6 address: mapped, compatible, translated (NAT64), or 6to4.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match (a, b, c, d, e, f) {
        (0, 0, 0, 0, 0, 0xffff) | (0, 0, 0, 0, 0xffff, 0) | (0x0064, 0xff9b, 0, 0, 0, 0) => {
            Some(v4(g, h))
        }
        (0, 0, 0, 0, 0, 0) if g != 0 || h > 1 => Some(v4(g, h)),
        (0x2002, high, low, ..) => Some(v4(high, low)),
        _ => None,
    }
}
