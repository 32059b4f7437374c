use super::tunnel::server_name;

fn sized(bytes: &[u8], length_bytes: usize) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    [&length[4 - length_bytes..], bytes].concat()
}

fn hello(name: &str) -> Vec<u8> {
    let entry = [vec![0], sized(name.as_bytes(), 2)].concat();
    let extension = [vec![0, 0], sized(&sized(&entry, 2), 2)].concat();
    let other = [vec![0, 43], sized(&[3, 4], 2)].concat();
    let extensions = sized(&[other, extension].concat(), 2);
    let body = [
        vec![3, 3],
        vec![7; 32],
        sized(&[1; 32], 1),
        sized(&[1; 4], 2),
        sized(&[0], 1),
        extensions,
    ];
    let handshake = [vec![1], sized(&body.concat(), 3)].concat();
    [vec![22, 3, 1], sized(&handshake, 2)].concat()
}

#[test]
fn the_name_in_a_handshake_is_found_and_nothing_else_is() {
    let bytes = hello("a.test");
    assert_eq!(server_name(&bytes).as_deref(), Some("a.test"));
    for end in 0..bytes.len() {
        server_name(&bytes[..end]);
    }
    assert_eq!(server_name(b"SSH-2.0-x\r\n"), None);
    assert_eq!(server_name(&[]), None);
}
