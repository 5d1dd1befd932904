use crate::error::{self, FileKind};
use crate::plain::plain_json;
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// Bytes of a file that are read, after it was unpacked: as many as of a kernel that is unrolled to a hundred thousand
/// instructions, each with the chain of calls that it was inlined by.
pub(crate) const MAX_BYTES: u64 = 256 << 20;

/// The text of a JSON file, without what a terminal would obey; unpacked if its name ends in `.gz`.
///
/// # Errors
/// It cannot be read, it is no text, or it is larger than any file of ours.
pub fn read_text(path: &Path) -> Result<String> {
    let file = File::open(path)?;
    let is_packed = path.extension().is_some_and(|extension| extension == "gz");
    let mut bytes = Vec::new();
    // One byte more than is allowed tells that there is more; the rest is never unpacked.
    if is_packed {
        GzDecoder::new(file).take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    } else {
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    }
    if bytes.len() as u64 > MAX_BYTES {
        let unpacked = if is_packed { " unpacked" } else { "" };
        let message =
            format!("it has more than {MAX_BYTES} bytes{unpacked}: it is no file of ours");
        return Err(Error::new(ErrorKind::InvalidData, message));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))?;
    Ok(plain_json(&text))
}

/// A file of a version that is read. Its version is looked at first, because another has other fields.
pub(crate) fn read_json<T: DeserializeOwned>(
    path: &Path,
    kind: FileKind,
    read: [u32; 2],
) -> error::Result<T> {
    #[derive(Deserialize)]
    struct Version {
        // Of counts and of profiles before their second version.
        #[serde(alias = "counts_schema", alias = "profile_schema")]
        schema: u32,
    }
    let text =
        read_text(path).map_err(|source| error::Error::Read { path: path.to_owned(), source })?;
    let other = |source| error::Error::Other { path: path.to_owned(), kind, source };
    let Version { schema } = serde_json::from_str(&text).map_err(other)?;
    if !(read[0]..=read[1]).contains(&schema) {
        return Err(error::Error::Version { path: path.to_owned(), kind, schema, read });
    }
    serde_json::from_str(&text).map_err(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use std::io::Write;
    use std::time::{Duration, Instant};

    #[test]
    fn a_bomb_is_one_sentence() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let packed = folder.path().join("bomb.json.gz");
        let mut file = GzEncoder::new(File::create(&packed).expect("a file"), Compression::fast());
        let blank = vec![b' '; 1 << 20];
        for _ in 0..1024 {
            file.write_all(&blank).expect("a file");
        }
        file.finish().expect("a file");
        let plain = folder.path().join("large.json");
        File::create(&plain).expect("a file").set_len(1 << 40).expect("a sparse file");
        for path in [packed, plain] {
            let start = Instant::now();
            let error = crate::Results::load(&path, &[]).expect_err("no result file");
            assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
            let error = error.sentence();
            assert!(error.contains("it has more than 268435456 bytes"), "{error}");
        }
    }
}
