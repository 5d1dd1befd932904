/// The host's clock, in nanoseconds: it moves with the calls of the driver and with what is said of the host's own work,
/// not with what the program computes.
#[derive(Debug, Default)]
pub(crate) struct Clock {
    pub(crate) now: f64,
    /// The host's time for the call that is under way, where that is not as its kind has it.
    pub(crate) own_call_ns: Option<f64>,
}

impl Clock {
    /// The host is busy for so long.
    pub(crate) fn advance(&mut self, nanoseconds: f64) {
        self.now += nanoseconds;
    }

    /// The host waits until a moment, if that is not past.
    pub(crate) fn wait_until(&mut self, moment: f64) {
        self.now = self.now.max(moment);
    }

    /// A call of the driver ends, which costs the host what is usual for its kind unless the call said otherwise.
    pub(crate) fn end_call(&mut self, usual_ns: f64) {
        self.now += self.own_call_ns.take().unwrap_or(usual_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_costs_what_is_usual_or_what_it_says_once() {
        let mut clock = Clock::default();
        clock.end_call(10.0);
        clock.own_call_ns = Some(3.0);
        clock.end_call(10.0);
        clock.end_call(10.0);
        assert_eq!(clock.now, 23.0);
    }

    #[test]
    fn waiting_never_goes_back() {
        let mut clock = Clock { now: 5.0, own_call_ns: None };
        clock.wait_until(4.0);
        assert_eq!(clock.now, 5.0);
        clock.wait_until(7.0);
        clock.advance(1.0);
        assert_eq!(clock.now, 8.0);
    }
}
