//! Messages of judge and program. For each run the judge sends an order and a word, and the program answers
//! with the word, which it reads only when the file has ended.

use crate::record::HostRun;
use anyhow::{Context, Result};
use std::io::{Read, Write};

/// The bytes of a word, which is drawn for each run.
pub const WORD_BYTES: usize = 16;
/// The longest array of the host, in values: a header that is none asks for more.
const MAX_VALUES: u64 = 1 << 24;
/// The longest record, in bytes.
const MAX_RECORD: u64 = 1 << 24;

#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    pub source: Vec<u32>,
    pub target: usize,
    pub factor: u32,
    pub is_pinned: bool,
}

/// Answer to one order: results and record of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub seen: HostRun,
    pub target: Vec<u32>,
}

impl Order {
    pub fn write(&self, mut to: impl Write) -> Result<()> {
        let (source, target) = (self.source.len() as u64, self.target as u64);
        let header = [source, target, u64::from(self.factor), u64::from(self.is_pinned)];
        to.write_all(&header.map(u64::to_le_bytes).concat())?;
        Ok(to.write_all(&bytes(&self.source))?)
    }

    /// Receives one; `None` behind the last.
    pub(crate) fn read(mut from: impl Read) -> Result<Option<Order>> {
        let mut first = [0; 8];
        if from.read(&mut first[..1])? == 0 {
            return Ok(None);
        }
        from.read_exact(&mut first[1..])?;
        let (length, target) = (u64::from_le_bytes(first), number(&mut from)?);
        let factor = u32::try_from(number(&mut from)?)?;
        let is_pinned = number(&mut from)? != 0;
        let target = usize::try_from(target.min(MAX_VALUES))?;
        Ok(Some(Order { source: values(from, length)?, target, factor, is_pinned }))
    }
}

impl Answer {
    /// Sends it behind its word.
    pub(crate) fn write(&self, word: [u8; WORD_BYTES], mut to: impl Write) -> Result<()> {
        let seen = serde_json::to_vec(&self.seen)?;
        let head = [word.as_slice(), &(seen.len() as u64).to_le_bytes(), &seen].concat();
        to.write_all(&head)?;
        to.write_all(&(self.target.len() as u64).to_le_bytes())?;
        Ok(to.write_all(&bytes(&self.target))?)
    }
}

/// Receives the answer that begins with this word.
pub fn read_answer(word: [u8; WORD_BYTES], mut from: impl Read) -> Result<Answer> {
    let mut found = [0; WORD_BYTES];
    from.read_exact(&mut found)?;
    anyhow::ensure!(found == word, "an answer begins with its word");
    let length = number(&mut from)?;
    let mut seen = Vec::new();
    from.by_ref().take(length.min(MAX_RECORD)).read_to_end(&mut seen)?;
    let seen = serde_json::from_slice(&seen).context("a record is JSON")?;
    let length = number(&mut from)?;
    Ok(Answer { seen, target: values(from, length)? })
}

fn number(mut from: impl Read) -> Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn values(from: impl Read, length: u64) -> Result<Vec<u32>> {
    let mut bytes = Vec::new();
    from.take(4 * length.min(MAX_VALUES)).read_to_end(&mut bytes)?;
    let (values, _) = bytes.as_chunks();
    anyhow::ensure!(values.len() as u64 == length, "an array ends too early");
    Ok(values.iter().map(|value| u32::from_le_bytes(*value)).collect())
}

fn bytes(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_and_answers_are_read_as_they_were_written() {
        let order = Order { source: vec![1, 2, u32::MAX], target: 7, factor: 5, is_pinned: true };
        let mut sent = Vec::new();
        order.write(&mut sent).unwrap();
        let mut received = sent.as_slice();
        assert_eq!(Order::read(&mut received).unwrap(), Some(order));
        assert_eq!(Order::read(&mut received).unwrap(), None);
        let answer =
            Answer { seen: HostRun { copies: vec![8], ..HostRun::default() }, target: vec![5] };
        let mut sent = Vec::new();
        answer.write([7; WORD_BYTES], &mut sent).unwrap();
        assert_eq!(read_answer([7; WORD_BYTES], sent.as_slice()).unwrap(), answer);
        // Another word, and less than was promised.
        assert!(read_answer([8; WORD_BYTES], sent.as_slice()).is_err());
        assert!(read_answer([7; WORD_BYTES], &sent[..sent.len() - 1]).is_err());
    }
}
