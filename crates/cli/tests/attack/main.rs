//! Attacks on the real program: what a hostile model in a hostile repository tries, in generated
//! variants, as root and as another user, with every layer of the sandbox and without namespaces.
//! The last line is `attacks: N cases, N held, 0 broken`.
//!
//! `cargo xtask attack` runs all of it, `--subset` a part. `--seed N` chooses other variants.

#[cfg(test)]
mod controls;
#[cfg(test)]
mod generator;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod place;
#[cfg(test)]
mod race;
#[cfg(test)]
mod suite;
#[cfg(test)]
mod variants;

fn main() -> std::process::ExitCode {
    suite::run()
}
