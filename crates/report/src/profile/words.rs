use results::{Advice, Counters, Mistake, ProfiledKernel, ProgramProfile, RequestCounts};

/// Lookup of a catalogue's cure of an advice, if it teaches one: such as `transpose/padded`, and an exercise.
pub type Taught<'a> = dyn Fn(&Advice) -> Option<String> + 'a;

/// The mistakes of a program outside of its kernels, each kind under its head; what is no error stands apart.
pub fn mistakes(profile: &ProgramProfile) -> [(&'static str, Vec<&Mistake>); 3] {
    let (notes, wrong) = profile.misuse.iter().partition(|mistake| mistake.is_advice);
    [
        ("Mistakes in the use of the driver", wrong),
        ("Never freed", profile.leaks.iter().collect()),
        ("Notes on the use of the driver, which are no errors", notes),
    ]
}

/// The kinds of requests, by the names that readers know.
pub fn kinds(counters: &Counters) -> Vec<(&'static str, RequestCounts)> {
    let Counters {
        global_load,
        global_store,
        global_atomic,
        global_reduction,
        async_copy_global,
        async_copy_shared,
        bulk_copy,
        texture_load,
        surface_store,
        shared_load,
        shared_store,
        shared_atomic,
        shared_matrix_load,
        shared_matrix_store,
        local_load,
        local_store,
        constant_load,
        // No kind of request, or one that is counted in another kind, too.
        warp_instructions: _,
        thread_instructions: _,
        predicated_on_thread_instructions: _,
        branches: _,
        divergent_branches: _,
        barriers: _,
        parameter_loads: _,
        generic_requests: _,
        integer_instructions: _,
        float_instructions: _,
        warp_level_instructions: _,
    } = *counters;
    let all = [
        ("global load", global_load),
        ("global store", global_store),
        ("global atomic", global_atomic),
        ("global reduction", global_reduction),
        ("asynchronous copy, global", async_copy_global),
        ("asynchronous copy, shared", async_copy_shared),
        ("bulk copy", bulk_copy),
        ("texture fetch", texture_load),
        ("surface store", surface_store),
        ("shared load", shared_load),
        ("shared store", shared_store),
        ("shared atomic", shared_atomic),
        ("shared matrix load", shared_matrix_load),
        ("shared matrix store", shared_matrix_store),
        ("local load", local_load),
        ("local store", local_store),
        ("constant load", constant_load),
    ];
    all.into_iter().filter(|(_, counts)| counts.requests > 0).collect()
}

/// A line of a kernel: its instructions of one kind and opcode, as an unrolled loop has them, together.
#[derive(Debug)]
pub struct ProfileLine<'a> {
    pub place: String,
    /// The opcode, and how often it is there if that is more than once.
    pub instruction: String,
    pub code: &'a str,
    pub counts: RequestCounts,
}

/// The lines of a kernel that ask something of memory, in the order of the PTX.
pub fn lines(kernel: &ProfiledKernel) -> Vec<ProfileLine<'_>> {
    let mut lines: Vec<(ProfileLine<'_>, &str, &str, u32)> = Vec::new();
    for one in &kernel.instructions {
        let place = one.place();
        for (kind, counts) in kinds(&one.counts.counters) {
            let same = |(line, of, text, _): &&mut (ProfileLine<'_>, &str, &str, u32)| {
                line.place == place && *of == kind && *text == one.text
            };
            if let Some((line, _, text, times)) = lines.iter_mut().find(same) {
                line.counts += counts;
                *times += 1;
                line.instruction = format!("{text} x {times}");
            } else {
                let (instruction, code) = (one.text.clone(), one.code.as_str());
                let line = ProfileLine { place: place.clone(), instruction, code, counts };
                lines.push((line, kind, &one.text, 1));
            }
        }
    }
    lines.into_iter().map(|(line, ..)| line).collect()
}

/// The columns of a table of requests, after what the requests are of.
pub const COLUMNS: [&str; 6] =
    ["requests", "sectors", "sectors/request", "efficiency", "wavefronts", "bank conflicts"];

/// The cells of those columns; empty where a kind of request has no such count.
pub fn cells(counts: &RequestCounts) -> [String; COLUMNS.len()] {
    let part = |amount: u64| amount as f64 / counts.requests as f64;
    let (sectors, wavefronts) = (counts.sectors > 0, counts.wavefronts > 0);
    let shown = |is_there: bool, text: String| if is_there { text } else { String::new() };
    let efficiency = counts.efficiency().filter(|_| counts.bytes_distinct > 0);
    [
        counts.requests.to_string(),
        shown(sectors, counts.sectors.to_string()),
        shown(sectors, number(part(counts.sectors))),
        efficiency.map_or_else(String::new, |part| format!("{:.1} %", 100.0 * part)),
        shown(wavefronts, counts.wavefronts.to_string()),
        shown(wavefronts && !sectors, counts.bank_conflicts().to_string()),
    ]
}

/// A count with at most two decimals.
pub fn number(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A time in microseconds or, if it is long, in milliseconds.
pub fn time(time_us: f64) -> String {
    if time_us < 1e4 {
        format!("{} µs", number(time_us))
    } else {
        format!("{} ms", number(time_us / 1e3))
    }
}

/// Returns what a kernel is, in sentences.
pub fn facts(kernel: &ProfiledKernel) -> Vec<String> {
    let shape = |[x, y, z]: [u32; 3]| match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x} x {y}"),
        _ => format!("{x} x {y} x {z}"),
    };
    let launches = if kernel.launches == 1 { "launch" } else { "launches" };
    let mut facts = vec![format!(
        "{} {launches} of {} blocks of {} threads, {} instructions of PTX for {}, {} B shared memory per block, {} B local \
         memory per thread, occupancy {:.0} %",
        kernel.launches,
        shape(kernel.grid),
        shape(kernel.block),
        kernel.ptx_instructions,
        kernel.target,
        kernel.shared_bytes,
        kernel.local_bytes,
        kernel.occupancy_percent
    )];
    if kernel.predicted_us > 0.0 {
        let busiest =
            kernel.busy_us.iter().take(2).map(|(part, busy)| format!("{part} {}", time(*busy)));
        let busiest: Vec<String> = busiest.collect();
        let parts =
            if busiest.is_empty() { String::new() } else { format!(" ({})", busiest.join(", ")) };
        let bound = kernel.busy_us.first().map(|(part, _)| part.as_str());
        let near = crate::foreign::interval(kernel.predicted_us, bound).map_or_else(
            String::new,
            |[low, high]| {
                format!("; eight of ten such kernels took {} to {}", time(low), time(high))
            },
        );
        facts.push(format!("predicted time {}{parts}{near}", time(kernel.predicted_us)));
    }
    if let Some(percent) = kernel.counters.efficiency_percent() {
        let lanes = kernel.counters.lanes_per_instruction().unwrap_or_default();
        facts.push(format!(
            "{percent:.1} % of the bytes of moved sectors are used, {} of 32 lanes active per instruction",
            number(lanes)
        ));
    }
    facts
}

/// An advice as sentences: what was seen and where, the cure, what it promises, and where it is taught.
pub fn sentences(profile: &ProgramProfile, advice: &Advice, taught: &Taught<'_>) -> Vec<String> {
    let place = Some(advice.place()).filter(|place| !place.is_empty());
    let kernel = profile.kernels.iter().find(|kernel| advice.kernel.as_ref() == Some(&kernel.name));
    let kernel = kernel.map(|kernel| format!("kernel `{}`", kernel.shown_name()));
    let where_ = [kernel, place].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let seen =
        if where_.is_empty() { advice.seen.clone() } else { format!("{where_}: {}", advice.seen) };
    let lanes = Some(format!("Seen at: {}.", advice.lanes)).filter(|_| !advice.lanes.is_empty());
    let promise = advice.promise.as_ref().map(|promise| {
        format!(
            "Promised: {} from {} to {}.",
            promise.counter,
            number(promise.from),
            number(promise.to)
        )
    });
    let gain = format!("Predicted gain: at most {}.", time(advice.gain_us));
    let taught = taught(advice).map(|name| format!("Measured in: {name}."));
    let cure = Some(format!("Cure: {}.", advice.cure));
    [Some(format!("{seen}.")), lanes, cure, promise, Some(gain), taught]
        .into_iter()
        .flatten()
        .collect()
}
