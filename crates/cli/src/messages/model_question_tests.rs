use super::*;

const TWO: &str = r#"{"questions": [
    {"question": "Which color?", "header": "Color", "options": [
        {"label": "Red", "description": "like a rose"}, {"label": "Blue"}]},
    {"question": "Which sizes?", "multiSelect": true, "options": [
        {"label": "S"}, {"label": "M"}, {"label": "L"}]}]}"#;

#[test]
fn numbers_mean_labels_and_words_mean_themselves() {
    let questions = parse_model_questions(&RawJson::parse(TWO).unwrap());
    let (color, sizes) = (&questions[0], &questions[1]);
    assert_eq!(
        color.question_lines(),
        ["Color: Which color?", "  1. Red - like a rose", "  2. Blue"]
    );
    assert_eq!(color.resolve_answer("2").as_deref(), Some("Blue"));
    assert_eq!(color.resolve_answer("1, 2"), None, "only one may be chosen");
    assert_eq!(color.resolve_answer("3"), None);
    assert_eq!(color.resolve_answer(""), None);
    assert_eq!(color.resolve_answer("rather green").as_deref(), Some("rather green"));
    assert_eq!(sizes.resolve_answer("1,3").as_deref(), Some("S, L"));
    assert_eq!(sizes.resolve_answer("2 3").as_deref(), Some("M, L"));
}

#[test]
fn a_text_that_was_sent_answers_one_question_or_all() {
    let two = RawJson::parse(TWO).unwrap();
    let both = resolve_answer_text(&two, "1; 2,3").unwrap();
    assert_eq!(both, "Which color?: Red\nWhich sizes?: M, L");
    assert_eq!(resolve_answer_text(&two, "you choose").unwrap(), "you choose");
    assert!(resolve_answer_text(&two, "9; 1").unwrap_err().contains("choose from"));
    let one =
        RawJson::parse(r#"{"questions": [{"question": "Which?", "options": [{"label": "A"}]}]}"#);
    assert_eq!(resolve_answer_text(&one.unwrap(), "1").unwrap(), "A");
    let other = RawJson::parse(r#"{"question": "What now?"}"#).unwrap();
    assert_eq!(resolve_answer_text(&other, "2").unwrap(), "2");
}

#[test]
fn a_label_that_is_a_number_can_be_typed() {
    let ports = r#"{"questions": [
        {"question": "Which port?", "options": [{"label": "8080"}, {"label": "1"}]}]}"#;
    let question = &parse_model_questions(&RawJson::parse(ports).unwrap())[0];
    assert_eq!(question.resolve_answer("8080").as_deref(), Some("8080"));
    assert_eq!(question.resolve_answer("1").as_deref(), Some("1"), "a label counts first");
    assert_eq!(question.resolve_answer("2").as_deref(), Some("1"));
}
