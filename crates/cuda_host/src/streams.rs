use crate::error::Result;
use crate::gpu::Gpu;
use cust::event::{Event, EventFlags};
use cust::stream::Stream;
use cust_ext::stream::{non_blocking, wait_event};

/// Streams whose work lies between two points of the device's own stream.
pub struct Streams {
    streams: Vec<Stream>,
    begin: Event,
    ends: Vec<Event>,
}

impl Streams {
    /// Creates so many streams that do not wait for each other.
    ///
    /// # Errors
    /// When the driver creates no stream or event.
    pub fn new(count: usize) -> Result<Streams> {
        let event = || Event::new(EventFlags::DISABLE_TIMING);
        Ok(Streams {
            streams: (0..count).map(|_| non_blocking(None)).collect::<cust_ext::Result<_>>()?,
            begin: event()?,
            ends: (0..count).map(|_| event()).collect::<Result<_, _>>()?,
        })
    }

    /// Marks what the device's own stream has: streams that are entered from here on wait for it.
    ///
    /// # Errors
    /// When the driver does not record the event.
    pub fn fork(&self, gpu: &Gpu) -> Result<()> {
        Ok(self.begin.record(gpu.stream())?)
    }

    /// Gives a stream, whose first work after [`Streams::fork`] is enqueued next.
    ///
    /// # Errors
    /// When the driver does not let it wait for the fork.
    ///
    /// # Panics
    /// When there are not as many streams.
    pub fn enter(&self, index: usize) -> Result<&Stream> {
        let stream = &self.streams[index];
        wait_event(stream, &self.begin)?;
        Ok(stream)
    }

    /// Makes another stream, such as a default stream, wait for what was marked.
    ///
    /// # Errors
    /// When the driver does not let it wait.
    pub fn begins(&self, stream: &Stream) -> Result<()> {
        Ok(wait_event(stream, &self.begin)?)
    }

    /// Makes the device's own stream wait for what the streams have.
    ///
    /// # Errors
    /// When the driver records no event or does not let the stream wait.
    pub fn join(&self, gpu: &Gpu) -> Result<()> {
        for (stream, end) in self.streams.iter().zip(&self.ends) {
            end.record(stream)?;
            wait_event(gpu.stream(), end)?;
        }
        Ok(())
    }

    /// The streams.
    pub fn all(&self) -> &[Stream] {
        &self.streams
    }
}
