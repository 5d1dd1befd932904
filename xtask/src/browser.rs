//! Checks pages in a browser, of a report or of the book: what only a browser knows is whether things fit.

use crate::workspace;
use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const BROWSERS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
/// Widths of a phone, of a tablet and of a desktop, pixels.
const WIDTHS: [u32; 3] = [360, 768, 1280];
/// Names of the colour schemes, with Chromium's numbers for them.
const SCHEMES: [(&str, u32); 2] = [("light", 1), ("dark", 0)];
/// Chromium's windows are at least so wide; a narrower page is a frame in one.
const MIN_WINDOW_WIDTH: u32 = 500;
/// Problems that are shown; more say nothing new.
const PROBLEMS_SHOWN: usize = 40;
/// Measures a page from inside and tells the frame around it.
const PROBE: &str = include_str!("probe.js");
/// Collects what the probes tell.
const COLLECTOR: &str = "<pre id=\"told\"></pre><script>addEventListener(\"message\", (event) => { \
    document.getElementById(\"told\").textContent += event.data + \"\\n\"; });</script>";

/// The accessibility checks of axe-core, below the target folder: `npm pack axe-core`, unpacked there. It is not of this
/// repository, and nothing else needs it.
const AXE: &str = "axe-core/package/axe.min.js";
/// Runs them and tells the frame around it.
const AXE_PROBE: &str = include_str!("axe_probe.js");
/// The pages that are checked by them, with the first that has each of [`AXE_PARTS`]: every kind of page is among them.
const AXE_PAGES: [&str; 7] = [
    "index.html",
    "glossary.html",
    "before_after.html",
    "board-0.html",
    "bugs.html",
    "ten_bets.html",
    "playground.html",
];
/// Parts of the pages of kernels, and of work of the host.
const AXE_PARTS: [&str; 2] = ["id=\"steps\"", "id=\"timelines\""];

pub fn find() -> Result<PathBuf> {
    BROWSERS.iter().find_map(|name| which::which(name).ok()).with_context(|| {
        let names = BROWSERS.join(", ");
        format!("there is none of {names} on PATH, and pages are checked in a browser: install the package chromium")
    })
}

/// Returns what a page has in its element `told` when its script has ended.
pub fn told(page: &Path) -> Result<String> {
    let workplace = tempfile::tempdir().context("cannot make a temporary folder")?;
    let (folder, width, scheme) = (workplace.path(), WIDTHS[2], SCHEMES[0].1);
    let visit = Visit { browser: &find()?, folder, width, scheme };
    let (text, messages) = visit.open(page, "--dump-dom".into())?;
    let told = told_in(&text);
    Ok(if told.is_empty() { messages } else { told.replace("&lt;", "<").replace("&gt;", ">") })
}

fn told_in(page: &str) -> &str {
    let told = page.split("<pre id=\"told\">").nth(1).unwrap_or_default();
    told.split("</pre>").next().unwrap_or_default()
}

/// Opens every page of a report at all widths, and takes a screenshot of its first; with `all_shots` those of two pages at all
/// widths in both colour schemes.
///
/// # Errors
/// There is no browser; a page writes to the console, asks for anything, has something that does not fit, or, where
/// axe-core is there, something that a reader with a keyboard or a screen reader cannot use.
pub fn check(report: &Path, all_shots: bool) -> Result<()> {
    let browser = find()?;
    let workplace = tempfile::tempdir().context("cannot make a temporary folder")?;
    let pages = instrumented(report, workplace.path())?;
    let name = report.file_name().unwrap_or_default().to_string_lossy();
    let shots = workspace::target_dir().join(format!("{name}-screenshots"));
    std::fs::create_dir_all(&shots).with_context(|| format!("cannot write {}", shots.display()))?;
    let mut problems = Vec::new();
    let axe = std::fs::read_to_string(workspace::target_dir().join(AXE)).ok();
    let checked = match &axe {
        Some(axe) => with_axe(report, &pages, workplace.path(), axe)?,
        None => Vec::new(),
    };
    for width in WIDTHS {
        for (scheme, number) in SCHEMES {
            let visit =
                Visit { browser: &browser, folder: workplace.path(), width, scheme: number };
            // Nothing has another place or size in the dark; screenshots show its colours.
            if scheme == SCHEMES[0].0 {
                let found = visit.measure(&pages)?.into_iter();
                problems.extend(found.map(|problem| format!("{width} px: {problem}")));
            }
            // Contrast depends on the colours.
            if !checked.is_empty() {
                let found = visit.measure(&checked)?.into_iter();
                problems.extend(found.map(|problem| format!("{width} px, {scheme}: {problem}")));
            }
            let is_first_visit = scheme == SCHEMES[0].0 && width == WIDTHS[0];
            for page in shown(&pages, all_shots, is_first_visit) {
                let name = format!("{}-{width}-{scheme}.png", page.trim_end_matches(".html"));
                visit.screenshot(page, &shots.join(name))?;
            }
        }
    }
    if !problems.is_empty() {
        let first = &problems[..problems.len().min(PROBLEMS_SHOWN)];
        bail!("{} problems in the browser, such as:\n  {}", problems.len(), first.join("\n  "));
    }
    println!("{} pages fit in a browser at {WIDTHS:?} pixels", pages.len());
    match checked.len() {
        0 => println!(
            "accessibility was not checked: there is no {}; `npm pack axe-core` and `tar xzf` make it",
            workspace::target_dir().join(AXE).display()
        ),
        pages => {
            println!("axe-core finds nothing on {pages} pages at these widths, light and dark")
        }
    }
    println!("by {}; screenshots in {}", browser.display(), shots.display());
    Ok(())
}

/// Returns the pages of which a visit takes a screenshot: the first and one of a pattern, or the first in the first visit only.
fn shown(pages: &[String], all_shots: bool, is_first_visit: bool) -> Vec<&String> {
    let is_first = |page: &&String| page.as_str() == "index.html";
    let (first, others): (Vec<_>, Vec<_>) = pages.iter().partition(is_first);
    let count = if all_shots { 2 } else { usize::from(is_first_visit) };
    first.into_iter().chain(others).take(count).collect()
}

/// Copies the pages into a folder, each with a probe at its end; returns their names.
fn instrumented(report: &Path, folder: &Path) -> Result<Vec<String>> {
    let mut pages = Vec::new();
    let entries =
        std::fs::read_dir(report).with_context(|| format!("cannot read {}", report.display()))?;
    for entry in entries {
        let path = entry.with_context(|| format!("cannot read {}", report.display()))?.path();
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = text.replace("</body>", &format!("<script>{PROBE}</script></body>"));
        std::fs::write(folder.join(&name), text).context("cannot write a temporary file")?;
        pages.push(name);
    }
    pages.sort();
    Ok(pages)
}

/// Copies the pages that are checked for accessibility, each with axe-core at its end; returns their names.
fn with_axe(report: &Path, all: &[String], folder: &Path, axe: &str) -> Result<Vec<String>> {
    let text = |page: &str| std::fs::read_to_string(report.join(page)).ok();
    let first =
        |part: &&str| all.iter().find(|page| text(page).is_some_and(|text| text.contains(part)));
    let with_parts = AXE_PARTS.iter().filter_map(first).map(String::as_str);
    let mut pages = Vec::new();
    for page in AXE_PAGES.into_iter().chain(with_parts) {
        let Some(text) = text(page) else { continue };
        let scripts = format!("<script>{axe}</script><script>{AXE_PROBE}</script></body>");
        let name = format!("axe-{page}");
        std::fs::write(folder.join(&name), text.replace("</body>", &scripts))
            .context("cannot write a temporary file")?;
        pages.push(name);
    }
    Ok(pages)
}

/// A browser at one width and in one colour scheme.
struct Visit<'a> {
    browser: &'a Path,
    folder: &'a Path,
    width: u32,
    scheme: u32,
}

impl Visit<'_> {
    /// Returns what is wrong with the pages.
    fn measure(&self, pages: &[String]) -> Result<Vec<String>> {
        let frames = self.frames(pages, 900)?;
        let (text, messages) = self.open(&frames, "--dump-dom".into())?;
        let told = told_in(&text);
        let mut problems: Vec<String> = messages
            .lines()
            .filter(|line| line.contains(":CONSOLE"))
            .map(|line| format!("the console says: {line}"))
            .collect();
        for page in pages {
            let lines: Vec<_> =
                told.lines().filter_map(|line| line.strip_prefix(&format!("{page}: "))).collect();
            if !lines.contains(&"measured") {
                problems.push(format!("{page} was not measured"));
            }
            let found = lines.into_iter().filter(|line| *line != "measured");
            problems.extend(found.map(|line| format!("{page}: {line}")));
        }
        Ok(problems)
    }

    /// A picture of the top of a page, for people.
    fn screenshot(&self, page: &str, path: &Path) -> Result<()> {
        let frames = self.frames(&[page.to_owned()], 3000)?;
        let mut argument = OsString::from("--screenshot=");
        argument.push(path);
        self.open(&frames, argument)?;
        let bytes = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        // An empty page of this size is smaller.
        if bytes < 20_000 {
            bail!("{} shows nothing", path.display());
        }
        Ok(())
    }

    /// A page with the pages in frames.
    fn frames(&self, pages: &[String], height: u32) -> Result<PathBuf> {
        let width = self.width;
        let frames = pages.iter().map(|page| {
            format!("<iframe src=\"{page}\" width=\"{width}\" height=\"{height}\" style=\"border:0;display:block\"></iframe>")
        });
        let text = format!(
            "<!doctype html><html><body style=\"margin:0\">{COLLECTOR}{}</body></html>",
            frames.collect::<String>()
        );
        let path = self.folder.join("frames.htm");
        std::fs::write(&path, text).context("cannot write a temporary file")?;
        Ok(path)
    }

    /// Returns what the browser writes to standard output and to standard error.
    fn open(&self, page: &Path, output: OsString) -> Result<(String, String)> {
        let profile = self.folder.join("profile");
        let done = Command::new(self.browser)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
                "--no-first-run",
            ])
            .args(["--enable-logging=stderr", "--virtual-time-budget=10000"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("--window-size={},3000", self.width.max(MIN_WINDOW_WIDTH)))
            .arg(format!("--blink-settings=preferredColorScheme={}", self.scheme))
            .arg(output)
            .arg(format!("file://{}", page.display()))
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {}", self.browser.display()))?;
        if !done.status.success() {
            bail!("{} failed: {}", self.browser.display(), String::from_utf8_lossy(&done.stderr));
        }
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok((text(&done.stdout), text(&done.stderr)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_visits_show_two_pages_or_the_first_shows_one() {
        let pages = ["banks.html", "index.html", "tiles.html"].map(str::to_owned);
        assert_eq!(shown(&pages, true, true), ["index.html", "banks.html"]);
        assert_eq!(shown(&pages, true, false), ["index.html", "banks.html"]);
        assert_eq!(shown(&pages, false, true), ["index.html"]);
        assert!(shown(&pages, false, false).is_empty());
    }
}
