use sha2::{Digest, Sha256};

/// The start of the SHA-256 of a text.
pub fn hash(text: &str) -> String {
    Sha256::digest(text).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
