//! Numbers, times and arbitrary bytes as text that people read.

use std::fmt::Write as _;
use std::time::Duration;

/// Text of arbitrary bytes that is safe on a terminal: what is not printable is escaped.
pub fn printable(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\t' => text.push_str("    "),
                _ if character.is_control() => text.extend(character.escape_default()),
                _ => text.push(character),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// Shortens to at most `width` columns, with an ellipsis in the middle: both ends of an expression say
/// more than its inside.
pub fn shorten(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let kept = width.saturating_sub(3);
    let head = kept - kept / 3;
    let tail = length - kept / 3;
    let mut short: String = text.chars().take(head).collect();
    short.push_str(" … ");
    short.extend(text.chars().skip(tail));
    short
}

/// A command line that is no longer than anyone would paste; a longer one is replayed by its name.
pub fn show_command(command: &str) -> String {
    const LONGEST: usize = 2000;
    shorten(command, LONGEST)
}

/// `1.2 GiB`.
pub fn show_bytes(bytes: u64) -> String {
    let units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < units.len() {
        value /= 1024.0;
        unit += 1;
    }
    if value.fract() == 0.0 {
        format!("{value} {}", units[unit])
    } else {
        format!("{value:.1} {}", units[unit])
    }
}

/// `12 ms` or `3.4 s`.
pub fn show_time(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        format!("{} ms", time.as_millis())
    } else {
        format!("{:.1} s", time.as_secs_f64())
    }
}

/// `3.4 s`, or `4 min 10 s` where seconds alone would have to be divided.
pub fn show_seconds(seconds: f64) -> String {
    let time = Duration::try_from_secs_f64(seconds).unwrap_or_default();
    match time.as_secs() {
        whole @ 120.. if whole.is_multiple_of(60) => format!("{} min", whole / 60),
        whole @ 120.. => format!("{} min {} s", whole / 60, whole % 60),
        _ => show_time(time),
    }
}

/// `12,345`.
pub fn show_count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 node`, `2 nodes`; irregular plurals are given whole, as in `branch/branches`.
pub fn counted(count: u64, noun: &str) -> String {
    let number = show_count(count);
    match noun.split_once('/') {
        Some((one, _)) if count == 1 => format!("{number} {one}"),
        Some((_, many)) => format!("{number} {many}"),
        None if count == 1 => format!("{number} {noun}"),
        None => format!("{number} {noun}s"),
    }
}

/// Where track of the input was lost, for people: a function, or what the engine puts in brackets.
pub fn show_loss(name: &str) -> String {
    match name.strip_prefix('(') {
        Some("memory)") => "memory that libraries wrote".to_owned(),
        Some(_) if name.starts_with("(trace cut short") => {
            "runs too long to be followed".to_owned()
        }
        _ => name.to_owned(),
    }
}

/// `3-5,9`, of ascending numbers of lines.
pub fn spans(lines: &[u32]) -> String {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for line in lines {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == *line => *last = *line,
            _ => spans.push((*line, *line)),
        }
    }
    let shown = spans.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    shown.collect::<Vec<_>>().join(",")
}

/// Date and time of day in UTC, as `2026-11-16T08:00:00`, from seconds since 1970.
pub fn date(seconds: u64) -> String {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March have their leap day at the end. 719,468 days lie between March of year 0 and 1970.
    let days = days + 719_468;
    let (era, day) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..10 => (era * 400 + year, month + 3),
        _ => (era * 400 + year + 1, month - 9),
    };
    let (hours, minutes, seconds) = (time / 3600, time / 60 % 60, time % 60);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_of_a_program_do_not_reach_the_terminal() {
        assert_eq!(printable(b"a\x1b[31mb\xff\tc"), "a\\u{1b}[31mb\\xff    c");
        assert_eq!(printable("größe".as_bytes()), "größe");
    }

    #[test]
    fn shortened_text_keeps_both_ends_and_fits() {
        assert_eq!(shorten("short", 10), "short");
        let short = shorten("abcdefghijklmnopqrstuvwxyz", 12);
        assert_eq!(short, "abcdef … xyz");
        assert_eq!(short.chars().count(), 12);
    }

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!(show_bytes(1536 << 20), "1.5 GiB");
        assert_eq!(show_bytes(64), "64 bytes");
        assert_eq!(show_seconds(0.25), "250 ms");
        assert_eq!(show_seconds(250.0), "4 min 10 s");
        assert_eq!(show_seconds(300.0), "5 min");
        assert_eq!(show_seconds(f64::NAN), "0 ms");
    }

    #[test]
    fn counts_read_well() {
        assert_eq!(show_count(1_234_567), "1,234,567");
        assert_eq!(show_count(123), "123");
        assert_eq!(counted(1, "node"), "1 node");
        assert_eq!(counted(2, "branch/branches"), "2 branches");
    }

    #[test]
    fn losses_without_a_function_have_words() {
        assert_eq!(show_loss("inet_aton"), "inet_aton");
        assert_eq!(show_loss("(memory)"), "memory that libraries wrote");
        assert!(!show_loss("(trace cut short: nodes)").contains('('));
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, shown) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_399, "2000-02-28T23:59:59"),
            (951_782_400, "2000-02-29T00:00:00"),
            (1_709_251_199, "2024-02-29T23:59:59"),
            (1_735_689_599, "2024-12-31T23:59:59"),
            (1_794_816_000, "2026-11-16T08:00:00"),
            (4_107_542_400, "2100-03-01T00:00:00"),
        ] {
            assert_eq!(date(seconds), shown);
        }
    }

    #[test]
    fn neighbouring_lines_are_one_span() {
        assert_eq!(spans(&[3, 4, 5, 9, 11, 12]), "3-5,9,11-12");
        assert_eq!(spans(&[]), "");
    }
}
