use crate::base64::{encode, whole_groups};

#[test]
fn bytes_become_letters() {
    for (bytes, text) in
        [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
    {
        assert_eq!(encode(bytes.as_bytes()), text);
    }
    assert_eq!(whole_groups(b"foob"), "Zm9v");
}
