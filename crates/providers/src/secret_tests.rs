use crate::secret::{Redactor, Secret};

const KEY: &str = "k3y/with+odd\"signs-0123456789";

#[test]
fn a_secret_does_not_show_itself() {
    let secret = Secret::new(" topsecretvalue\n");
    assert_eq!(format!("{secret:?}"), "[redacted]");
    assert_eq!(secret.expose(), "topsecretvalue");
    assert!(!format!("{:?}", Redactor::new([&secret])).contains("topsecret"));
}

// Protocol case 92.
#[test]
fn a_panic_that_names_a_secret_does_not_show_it() {
    let secret = Secret::new(KEY);
    let panic = std::panic::catch_unwind(|| panic!("cannot use {secret:?}")).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    assert_eq!(message, "cannot use [redacted]");
}

#[test]
fn every_form_of_a_secret_is_taken_out() {
    let redactor = Redactor::new([&Secret::new(KEY)]);
    let json = serde_json::to_string(KEY).unwrap();
    let hex = hex::encode(KEY);
    let url = "k3y%2Fwith%2Bodd%22signs-0123456789";
    for form in [KEY, json.as_str(), hex.as_str(), url] {
        let text = redactor.redact(&format!("before {form} after"));
        assert!(text.contains("[redacted]"), "{text}");
        assert!(!text.contains("0123456789"), "{text}");
        assert!(text.starts_with("before ") && text.ends_with(" after"), "{text}");
    }
}

#[test]
fn base64_is_found_wherever_it_begins() {
    // "user:" and the key, as basic authentication sends them.
    let encoded = "dXNlcjpzZWNyZXQtdmFsdWUtMTIzNA==";
    let redactor = Redactor::new([&Secret::new("secret-value-1234")]);
    assert!(redactor.redact(encoded).contains("[redacted]"));
}

#[test]
fn what_looks_like_a_key_goes_too() {
    let text = Redactor::default().redact("Incorrect key sk-proj-abcdefghijklmnop, see sk-a.");
    assert_eq!(text, "Incorrect key [redacted], see sk-a.");
}

#[test]
fn short_values_are_left_alone() {
    let redactor = Redactor::new([&Secret::new("a")]);
    assert_eq!(redactor.redact("a banana"), "a banana");
}
