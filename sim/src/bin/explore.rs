//! `explore`: walks every configuration.

fn main() {
    let arg = std::env::args().nth(1);
    let result = match arg.as_deref() {
        Some("--list") => Ok(windlass_sim::explore::list()),
        Some(name) => windlass_sim::explore::explore_one(name),
        None => windlass_sim::explore::explore_all(),
    };
    match result {
        Ok(text) => println!("{text}"),
        Err(text) => {
            eprintln!("{text}");
            std::process::exit(1);
        }
    }
}
