use super::*;

/// The code with a letter for each color.
fn colored(language: &str, code: &str) -> String {
    let Some(mut highlighter) = CodeHighlighter::new(language) else { return code.to_owned() };
    let mut out = String::new();
    for (at, line) in code.split('\n').enumerate() {
        if at > 0 {
            out.push('\n');
        }
        line.chars().for_each(|c| highlighter.push(c, &mut out));
        highlighter.end_line(&mut out);
    }
    let names = [(KEYWORD, "<k>"), (TEXT, "<t>"), (NUMBER, "<n>"), (COMMENT, "<c>")];
    let names = names.iter().chain(&[(REMOVED, "<r>"), (ANSI_RESET, "<>")]);
    names.fold(out, |out, (code, name)| out.replace(code, name))
}

#[test]
fn code_has_colors() {
    let cases = [
        ("rust", "let a = 12; // b", "<k>let<> a = <n>12<>; <c>// <><c>b<>"),
        ("rs", "fn f<'a>(s: &'a str)", "<k>fn<> f<'a>(s: &'a <k>str<>)"),
        ("js", "x = 'a\\'b' / 2", "x = <t>'a\\'b'<> / <n>2<>"),
        ("c", "/* a\nb */ int c", "<c>/* <><c>a<>\n<c>b <><c>*/<> <k>int<> c"),
        ("python", "def f(): # it's", "<k>def<> f(): <c># <><c>it's<>"),
        ("sh", "echo $# \"a b\"", "echo $# <t>\"a <><t>b\"<>"),
        ("sql", "SELECT a -- b", "<k>SELECT<> a <c>-- <><c>b<>"),
        ("diff", "+a b\n-c\n d", "<t>+a <><t>b<>\n<r>-c<>\n d"),
        ("unknown", "let a", "let a"),
    ];
    for (language, code, expected) in cases {
        assert_eq!(colored(language, code), expected, "{language}: {code}");
    }
}

#[test]
fn nothing_is_lost_whatever_the_code() {
    let code = "a/\"/*'`#--\\\n'x\n`*/\n\"//\n+-@é日本 1a 0x1F";
    for language in ["rust", "js", "sh", "sql", "diff"] {
        let mut shown = colored(language, code);
        for name in ["<k>", "<t>", "<n>", "<c>", "<r>", "<>"] {
            shown = shown.replace(name, "");
        }
        assert_eq!(shown, code, "{language}");
    }
}
