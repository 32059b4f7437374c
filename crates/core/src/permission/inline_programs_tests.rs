use super::super::subject::SimpleCommand;
use super::runs_inline_program;

fn command(words: &str) -> SimpleCommand {
    SimpleCommand::from_words(words.split('~'))
}

#[test]
fn a_program_text_is_found_in_words_and_behind_standard_input() {
    for text in [
        "python3~-c~print(1)",
        "python3.11~-c~x",
        "/usr/local/bin/python~-c~x",
        "python3",
        "python3~-",
        "python3~-v",
        "python3~-u~-c~x",
        "python3~-m~timeit~x",
        "python3~/dev/stdin",
        "python3~/proc/self/fd/0",
        "perl~-e~x",
        "perl~-ne~x",
        "perl~-pi~-e~x~f",
        "perl",
        "perl~-v~-e~x",
        "ruby~-e~x",
        "node~-e~x",
        "node~--eval=x",
        "node~-p~x",
        "php~-r~x",
        "lua~-e~x",
        "lua5.4~-e~x",
        "deno~eval~x",
        "deno~run~-",
        "bun~-e~x",
        "vim~-es~f",
        "vim.tiny~-c~x",
        "ed~f",
        "m4",
        "sqlite3~x.db",
        "crontab~-",
        "make~--eval=x",
        "make~SHELL=x",
        "make~-f~-",
        "npm~exec~-c~x",
        "uv~run~python~-c~x",
        "poetry~run~bash~-c~x",
        "nc~-e~/bin/sh",
        "java~-XX:OnError=x~A",
    ] {
        assert!(runs_inline_program(&command(text)), "{text}");
    }
}

#[test]
fn a_program_in_a_file_is_none() {
    for text in [
        "python3~tool.py~-c~x",
        "python3~-m~pytest~-x",
        "python3~--version",
        "python3~-u~tool.py",
        "perl~tool.pl",
        "node~tool.js",
        "node~--test",
        "node~-v",
        "ruby~-w~tool.rb",
        "php~artisan~migrate",
        "deno~test",
        "deno~run~tool.ts",
        "bun~test",
        "java~-jar~a.jar",
        "make",
        "make~-j4~test",
        "make~-C~sub~all",
        "npm~test",
        "npm~run~build",
        "cargo~test",
        "uv~run~pytest",
        "poetry~run~python~manage.py~test",
        "ls~/bin/sh",
        "git~log~--~sh",
        "crontab~-l",
        "./tool~x",
    ] {
        assert!(!runs_inline_program(&command(text)), "{text}");
    }
}
