//! Opens the page in a real browser: search, sort, keyboard, colours, and that it asks for nothing else.
//!
//! Needs Chromium: the one that the environment variable CHROMIUM names, or one on PATH. Without it, the test says so and
//! passes. With the environment variable SCREENSHOTS, a folder, it leaves pictures of the page there.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/browser.rs"]
mod browser;
#[path = "common/in_process.rs"]
#[expect(dead_code, reason = "shared with tests that use more of it")]
mod in_process;
#[path = "common/inputs.rs"]
mod inputs;
#[path = "common/program.rs"]
#[expect(dead_code, reason = "shared with tests that use more of it")]
mod program;

use std::path::PathBuf;

use browser::{Browser, chromium};

/// The contrast of two colours as the Web Content Accessibility Guidelines define it.
const CONTRAST: &str = r"(selector) => {
    const channels = (color) => color.match(/[\d.]+/g).map(Number);
    const light = ([r, g, b]) => [r, g, b].map((c) => { c /= 255; return c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4; })
        .reduce((sum, c, i) => sum + c * [.2126, .7152, .0722][i], 0);
    const background = (element) => {
        for (; element; element = element.parentElement) {
            const found = channels(getComputedStyle(element).backgroundColor);
            if (found.length < 4 || found[3] > 0) return found;
        }
        return [255, 255, 255];
    };
    const ratios = Array.from(document.querySelectorAll(selector)).map((element) => {
        const [a, b] = [light(channels(getComputedStyle(element).color)), light(background(element))].sort((x, y) => y - x);
        return (a + .05) / (b + .05);
    });
    return Math.min(...ratios);
}";

#[test]
fn the_page_works_in_a_browser() {
    let Some(program) = chromium() else {
        println!("skipped: no Chromium found (set CHROMIUM or install one)");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, sides: &inputs::Sides| {
        let path = folder.path().join(name);
        let run = program::compare_sides(sides, &["-format", "html"]);
        std::fs::write(&path, &run.stdout).unwrap();
        path
    };
    let small = write("small.html", &inputs::small());
    let packages = write("packages.html", &inputs::packages());
    let hostile = write("hostile.html", &inputs::hostile());
    let large = write("large.html", &inputs::large(2000));
    let mut browser = Browser::start(&program);
    for width in [1440, 390] {
        browser.size(width, 900);
        browser.media("screen", "light");
        browser.open(&small);
        search_works(&mut browser);
        verdicts_can_be_left_out(&mut browser);
        sorting_works(&mut browser);
        nothing_is_lost_or_overflows(&mut browser, width);

        browser.open(&packages);
        units_and_packages_can_be_chosen(&mut browser);
        a_row_has_an_address(&mut browser, &packages);
        the_values_can_be_gone_through(&mut browser);
        nothing_is_lost_or_overflows(&mut browser, width);
        browser.picture(&format!("open-{width}"));
        rows_can_be_copied(&mut browser);

        browser.open(&large);
        a_large_report_is_folded(&mut browser);
        nothing_is_lost_or_overflows(&mut browser, width);

        browser.open(&hostile);
        assert_eq!(browser.names().len(), 32);
        assert_eq!(
            browser.evaluate("document.querySelectorAll('main img, main script').length"),
            0
        );
        let names = browser.names();
        assert!(names.contains(&"Tag<script>alert(1)</script>".to_owned()));
        nothing_is_lost_or_overflows(&mut browser, width);
    }
    browser.open(&small);
    everything_can_be_read(&mut browser);
    asked_for_nothing(&browser, &[&small, &packages, &hostile, &large]);
}

fn hash(browser: &mut Browser) -> String {
    let hash = browser.evaluate("location.hash");
    hash.as_str().unwrap().to_owned()
}

fn search_works(browser: &mut Browser) {
    let all = browser.names();
    assert_eq!(all.len(), 14);
    assert_eq!(all[..2], ["Lookup-8", "Decode-8"]);
    // A slash puts the cursor into the search.
    browser.press("/", "/");
    assert_eq!(browser.evaluate("document.activeElement.id"), "search");
    assert_eq!(browser.evaluate("document.activeElement.value"), "");
    browser.write("ENCODE sec");
    assert_eq!(browser.names(), ["Encode-8"]);
    assert_eq!(hash(browser), "#?q=ENCODE+sec");
    assert_eq!(
        browser.evaluate("document.getElementById('shown').textContent"),
        "1 of 14 rows"
    );
    browser.write("nowhere");
    assert!(browser.names().is_empty());
    assert_eq!(
        browser.evaluate("document.getElementById('none').hidden"),
        false
    );
    browser.press("Escape", "");
    assert_eq!(browser.names(), all);
    assert_eq!(hash(browser), "");
}

fn verdicts_can_be_left_out(browser: &mut Browser) {
    browser.click("input[value=unchanged]");
    browser.click("input[value=regression]");
    let names = browser.names();
    assert_eq!(names.len(), 8);
    assert!(hash(browser).starts_with("#?verdict="));
    browser.click("input[value=unchanged]");
    browser.click("input[value=regression]");
    assert_eq!(browser.names().len(), 14);
}

fn sorting_works(browser: &mut Browser) {
    browser.click("th[data-key=benchmark] button");
    let mut sorted = browser.names();
    let found = sorted.clone();
    sorted.sort();
    assert_eq!(found, sorted);
    let direction = "document.querySelector('th[data-key=benchmark]').ariaSort";
    assert_eq!(browser.evaluate(direction), "ascending");
    // By keyboard too: the button has the focus.
    browser.press("Enter", "\r");
    sorted.reverse();
    assert_eq!(browser.names(), sorted);
    assert_eq!(browser.evaluate(direction), "descending");
    assert_eq!(hash(browser), "#?sort=-benchmark");
    browser.press("Tab", "");
    assert_eq!(
        browser.evaluate("document.activeElement.textContent"),
        "unit"
    );
    browser.click("th[data-key=change] button");
    let changes = browser.evaluate(
        "Array.from(document.querySelectorAll('#rows td.change')).map(cell => cell.dataset.value).filter(value => value !== '')\
         .map(value => value === 'inf' ? 1e9 : Number(value))",
    );
    let changes: Vec<f64> = changes
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_f64().unwrap())
        .collect();
    assert!(changes.len() == 10 && changes.is_sorted(), "{changes:?}");
    // Rows without a change stay last in both directions.
    let last = "Array.from(document.querySelectorAll('#rows td.change')).at(-1).dataset.value";
    assert_eq!(browser.evaluate(last), "");
    browser.click("th[data-key=change] button");
    assert_eq!(browser.evaluate(last), "");
    assert_eq!(browser.names()[0], "Lookup-8");
}

fn units_and_packages_can_be_chosen(browser: &mut Browser) {
    let choose = |browser: &mut Browser, id: &str, value: &str| {
        browser.evaluate(&format!(
            "(() => {{ const choice = document.getElementById({id:?}); choice.value = {value:?}; \
             choice.dispatchEvent(new Event('change')); }})()"
        ));
    };
    let all = browser.names().len();
    assert_eq!(all, 24);
    choose(browser, "unit", "B/op");
    assert_eq!(browser.names().len(), 12);
    choose(browser, "package", "example.com/store/disk");
    assert_eq!(browser.names().len(), 4);
    assert_eq!(
        hash(browser),
        "#?unit=B%2Fop&package=example.com%2Fstore%2Fdisk"
    );
    // The same address shows the same rows.
    browser.evaluate("dispatchEvent(new HashChangeEvent('hashchange'))");
    assert_eq!(browser.names().len(), 4);
    choose(browser, "unit", "");
    choose(browser, "package", "");
    assert_eq!(browser.names().len(), all);
    assert_eq!(
        browser.evaluate("document.querySelectorAll('.means tbody tr').length"),
        6
    );
}

fn a_row_has_an_address(browser: &mut Browser, page: &std::path::Path) {
    let address = format!("file://{}#disk-read-8.sec-op", page.display());
    browser.call("Page.navigate", &serde_json::json!({"url": address}));
    let is_open = "document.getElementById('disk-read-8.sec-op').nextElementSibling.querySelector('svg.runs') !== null";
    browser.wait_for(is_open);
    assert_eq!(
        browser.evaluate(
            "(() => { const box = document.querySelector('tr.open').getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight ? '' : JSON.stringify([box, innerHeight, scrollY]); })()"
        ),
        ""
    );
    browser.press("Escape", "");
    assert_eq!(browser.evaluate(is_open), false);
    assert_eq!(hash(browser), "");
    // The link of the row has the focus; Enter opens it.
    browser.press("Enter", "\r");
    assert_eq!(browser.evaluate(is_open), true);
    assert_eq!(hash(browser), "#disk-read-8.sec-op");
}

fn the_values_can_be_gone_through(browser: &mut Browser) {
    let said = "document.querySelector('tr.detail output').textContent";
    browser.press("Tab", "");
    assert_eq!(browser.evaluate(said), "old, run 1 of 10: 200.40n sec/op");
    browser.press("ArrowRight", "");
    assert_eq!(browser.evaluate(said), "old, run 2 of 10: 201.80n sec/op");
    browser.press("ArrowLeft", "");
    browser.press("ArrowLeft", "");
    assert_eq!(browser.evaluate(said), "new, run 10 of 10: 221.10n sec/op");
    assert_eq!(
        browser.evaluate("document.querySelectorAll('tr.detail circle.value').length"),
        20
    );
}

fn rows_can_be_copied(browser: &mut Browser) {
    browser.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }");
    browser.click("tr.detail button.copy");
    assert_eq!(
        browser.evaluate("window.copied"),
        "Read-8 (example.com/store/disk) sec/op: 200.9n ± 0% n=10 → 221.0n ± 0% n=10, +10.00% (+9.67% to +10.33%) corrected p<0.001: regression"
    );
    browser.click("#copy");
    let copied = browser.evaluate("window.copied");
    let lines: Vec<&str> = copied.as_str().unwrap().lines().collect();
    assert_eq!(
        lines[0],
        "benchmark\tpackage\tunit\told\tnew\tchange\tlow\thigh\tp\tverdict"
    );
    assert_eq!(lines.len(), 25);
    assert!(lines.iter().all(|line| line.split('\t').count() == 10));
    assert_eq!(
        browser.evaluate("document.getElementById('said').textContent"),
        "24 rows copied"
    );
}

fn a_large_report_is_folded(browser: &mut Browser) {
    // A phone shows a long page slowly and nobody reads it.
    const TALLEST: f64 = 20_000.0;
    assert_eq!(browser.names().len(), 100);
    let height = browser.evaluate("document.documentElement.scrollHeight");
    assert!(height.as_f64().unwrap() < TALLEST, "{height}");
    browser.click("#more");
    let folded = browser.names().len();
    assert!(folded > 100);
    browser.press("/", "/");
    browser.write("case=1999");
    browser.click("input[value=unchanged]");
    assert_eq!(browser.names(), ["Row/case=1999/kind=long-8"]);
}

/// The head of the table, the legend and the axis are there at every width, and nothing is wider than the page.
fn nothing_is_lost_or_overflows(browser: &mut Browser, width: u32) {
    assert_eq!(browser.evaluate("innerWidth"), width);
    let overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    let culprits = browser.evaluate(
        "Array.from(document.querySelectorAll('body *')).filter(element => element.getBoundingClientRect().right > innerWidth)\
         .map(element => element.outerHTML.slice(0, 120))",
    );
    assert_eq!(browser.evaluate(overflow), 0, "at {width}: {culprits}");
    let is_seen = |selector: &str| {
        format!(
            "Array.from(document.querySelectorAll({selector:?})).every(element => {{ const box = element.getBoundingClientRect(); \
             return box.width > 0 && box.left >= 0 && box.right <= innerWidth; }})"
        )
    };
    for selector in [
        "#rows th button",
        "#rows th.interval .key",
        "#rows th.interval svg",
        "#search",
    ] {
        assert_eq!(
            browser.evaluate(&is_seen(selector)),
            true,
            "{selector} at {width}"
        );
    }
}

fn everything_can_be_read(browser: &mut Browser) {
    browser.size(1440, 900);
    for scheme in ["light", "dark"] {
        browser.media("screen", scheme);
        let contrast = browser.evaluate(&format!(
            "({CONTRAST})('h1, p, td, td.name a, th button, button, small, .verdict span, label, dd, dt')"
        ));
        assert!(contrast.as_f64().unwrap() >= 4.5, "{scheme}: {contrast}");
        browser.picture(scheme);
    }
    browser.media("print", "dark");
    assert_eq!(
        browser.evaluate("getComputedStyle(document.querySelector('form')).display"),
        "none"
    );
    assert_eq!(
        browser.evaluate("getComputedStyle(document.body).backgroundColor"),
        "rgb(255, 255, 255)"
    );
    browser.media("screen", "light");
    for width in [320, 500, 768, 800, 1024, 1100, 1280] {
        browser.size(width, 900);
        nothing_is_lost_or_overflows(browser, width);
        browser.picture(&format!("width-{width}"));
    }
}

fn asked_for_nothing(browser: &Browser, pages: &[&PathBuf]) {
    let own: Vec<String> = pages
        .iter()
        .map(|path| format!("file://{}", path.display()))
        .collect();
    let mut loaded = 0;
    for event in &browser.events {
        match event["method"].as_str().unwrap_or_default() {
            "Network.requestWillBeSent" => {
                let url = event["params"]["request"]["url"].as_str().unwrap();
                let is_own = own.iter().any(|page| url.split('#').next() == Some(page))
                    || url.starts_with("data:")
                    || url == "about:blank";
                assert!(is_own, "asked for {url}");
                loaded += 1;
            }
            "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded" => {
                panic!("{event}");
            }
            _ => {}
        }
    }
    assert!(loaded >= pages.len(), "requests were not watched");
}
