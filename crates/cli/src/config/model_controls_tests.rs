use super::*;

#[test]
fn stop_sequences_are_read_as_people_type_them() {
    let typed = |texts: &[&str]| {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        parse_stop_sequences(&texts)
    };
    assert_eq!(typed(&[]).unwrap(), None);
    assert_eq!(typed(&[""]).unwrap(), Some(BTreeMap::new()));
    let read = typed(&["\\nUser:", "\\n---END---", "a\\\\b\\tc"]).unwrap().unwrap();
    let read: Vec<(&str, StopMeaning)> =
        read.iter().map(|(text, meaning)| (text.as_str(), *meaning)).collect();
    let wanted = [
        ("\n---END---", StopMeaning::Finish),
        ("\nUser:", StopMeaning::Reprompt),
        ("a\\b\tc", StopMeaning::Finish),
    ];
    assert_eq!(read, wanted);
    assert!(typed(&["bad\\x"]).is_err() && typed(&["bad\\"]).is_err());
    for blank in [&["\\n"][..], &["", "x"], &[" "]] {
        assert!(to_stop_map(&typed(blank).unwrap().unwrap()).is_err(), "{blank:?}");
    }
}

#[test]
fn the_flag_beats_the_profile_and_the_profile_beats_the_file() {
    let of =
        |effort, temperature| ModelControls { effort, temperature, ..ModelControls::default() };
    let typed = of(Some(Effort::Low), None);
    let profile = of(Some(Effort::High), Some(0.5));
    let file = of(Some(Effort::Max), Some(0.1));
    let settled = typed.or(profile).or(file);
    assert_eq!((settled.effort, settled.temperature), (Some(Effort::Low), Some(0.5)));
}
