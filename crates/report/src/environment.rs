use maud::{Markup, html};
use results::{Board, Environment};

/// One fact per line.
pub fn facts(list: &[(&str, String)]) -> Markup {
    html! { dl.facts { @for (name, fact) in list { dt { (name) } dd { (fact) } } } }
}

/// Returns what is known of it: names and facts.
pub fn of_environment(environment: &Environment) -> Vec<(&'static str, String)> {
    let Environment { device, board, host, .. } = environment;
    let gib = |bytes: f64| format!("{:.0} GiB", bytes / f64::from(1 << 30));
    let known = |text: &str| text != "unknown" && !text.is_empty();
    let capability = (device.capability / 10, device.capability % 10);
    let mut facts = vec![
        (
            "Device",
            format!(
                "{}, compute capability {}.{}, {} multiprocessors at up to {} MHz",
                device.name,
                capability.0,
                capability.1,
                device.multiprocessors,
                device.clock_khz / 1000
            ),
        ),
        (
            "Device memory",
            format!(
                "{}, {} bits at {} MHz, ECC {}, L2 cache of {} MiB",
                gib(device.memory_bytes as f64),
                device.memory_bus_bits,
                device.memory_clock_khz / 1000,
                if device.ecc { "on" } else { "off" },
                device.l2_bytes >> 20
            ),
        ),
        ("CUDA", device.driver_version.clone()),
    ];
    facts.extend(board.as_ref().map(|board| ("Board", of_board(board))));
    let cores = format!("{} logical cores, {}", host.logical_cores, gib(host.memory_bytes as f64));
    let names = [&host.cpu, &host.system, &host.kernel].map(String::as_str);
    let names = names.into_iter().filter(|name| known(name));
    facts.push(("Host", names.chain([cores.as_str()]).collect::<Vec<_>>().join(", ")));
    facts.push((
        "Kernels",
        format!(
            "PTX for {} ({}) by {}, commit {}",
            environment.ptx_target, environment.ptx_hash, environment.compiler, environment.commit
        ),
    ));
    let day = day(environment.started_unix_s);
    let duration = match environment.duration_s {
        seconds if seconds > 0.0 => format!(", took {seconds:.0} s"),
        _ => String::new(),
    };
    facts.push(("Run", format!("{day} (UTC){duration}, inputs of seed {}", environment.seed)));
    facts
}

fn of_board(board: &Board) -> String {
    let mut parts = vec![format!("driver {}", board.driver)];
    parts.extend(board.id.as_ref().map(|id| format!("board {id}")));
    parts.extend(board.max_clock_mhz.map(|clock| format!("clock up to {clock} MHz")));
    parts.extend(board.max_memory_clock_mhz.map(|clock| format!("memory up to {clock} MHz")));
    parts.extend(board.power_limit_w.map(|power| format!("power limit {power:.0} W")));
    parts.extend(board.power_w.map(|power| format!("{power:.0} W at the start")));
    parts.extend(board.temperature_c.map(|degrees| format!("{degrees} °C at the start")));
    let link = board.pcie_generation.zip(board.pcie_lanes);
    parts.extend(link.map(|(generation, lanes)| format!("PCIe {generation} x{lanes}")));
    parts.push(match &board.throttle_reasons[..] {
        [] => "clocks not throttled".to_owned(),
        reasons => format!("clocks throttled by {}", reasons.join(", ")),
    });
    parts.join(", ")
}

/// A day such as 2026-11-21, from seconds since 1970.
pub fn day(unix_s: u64) -> String {
    // Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days: years begin in March.
    let days = unix_s / 86_400 + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let days = [0, 951_782_399, 951_782_400, 951_868_800, 1_795_253_848].map(day);
        assert_eq!(days, ["1970-01-01", "2000-02-28", "2000-02-29", "2000-03-01", "2026-11-21"]);
    }
}
