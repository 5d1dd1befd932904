//! The ways to get a compiler for kernels, as command lines.

/// The packages of Debian that make a compiler for kernels: Rust with its sources, and LLVM.
const DEBIAN_PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "llvm-22"];

/// A way to get a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PackageManager {
    /// `rustup component add`.
    Rustup,
    /// `apt-get install`.
    Apt,
}

impl PackageManager {
    pub(crate) fn commands(&self) -> Vec<Vec<&'static str>> {
        match self {
            PackageManager::Rustup => {
                vec![vec!["rustup", "component", "add", "rust-src", "llvm-tools"]]
            }
            PackageManager::Apt => {
                let mut install =
                    vec!["apt-get", "install", "--yes", "--quiet", "--no-install-recommends"];
                install.extend(DEBIAN_PACKAGES);
                vec![vec!["apt-get", "update", "--quiet"], install]
            }
        }
    }
}

/// The commands that would give this machine a compiler, as one sentence.
pub fn advice() -> String {
    let rustup = PackageManager::Rustup.commands().concat().join(" ");
    let apt = PackageManager::Apt
        .commands()
        .iter()
        .map(|command| command.join(" "))
        .collect::<Vec<_>>()
        .join(" && ");
    format!("Run `{rustup}` (with rustup), or `{apt}` (Debian or Ubuntu, as root), then try again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_names_both_commands() {
        let advice = advice();
        assert!(advice.contains("rustup component add rust-src llvm-tools"), "{advice}");
        assert!(advice.contains("apt-get install"), "{advice}");
    }
}
