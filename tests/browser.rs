//! Opens the page in a real browser: search, sort, keyboard, colours, and that it asks for nothing else.
//!
//! Needs Chromium: the one that the environment variable CHROMIUM names, or one on PATH. Without it, the test says so and
//! passes. With the environment variable SCREENSHOTS, a folder, it leaves pictures of the page there.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "common/in_process.rs"]
#[expect(dead_code, reason = "shared with tests that use more of it")]
mod in_process;
#[path = "common/inputs.rs"]
mod inputs;
#[path = "common/program.rs"]
#[expect(dead_code, reason = "shared with tests that use more of it")]
mod program;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

fn chromium() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("CHROMIUM") {
        return Some(path.into());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .flat_map(|folder| {
            ["chromium", "chromium-browser", "google-chrome", "chrome"]
                .map(|name| folder.join(name))
        })
        .find(|path| path.is_file())
}

/// A browser with one page, driven over the protocol of its developer tools.
struct Browser {
    child: Child,
    socket: WebSocket<TcpStream>,
    session: String,
    last: u64,
    /// Requests, console messages and exceptions so far.
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    fn start(program: &Path) -> Self {
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new(program)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--hide-scrollbars",
                "--remote-debugging-port=0",
            ])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let url = loop {
            let mut line = String::new();
            assert!(
                stderr.read_line(&mut line).unwrap() > 0,
                "the browser did not start"
            );
            if let Some(url) = line.trim().strip_prefix("DevTools listening on ") {
                break url.to_owned();
            }
        };
        // What else it says has to go somewhere, or it would wait for a reader.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let address = url.trim_start_matches("ws://").split('/').next().unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(30)))
            .unwrap();
        let (socket, _) = tungstenite::client(&url, stream).unwrap();
        let mut browser = Self {
            child,
            socket,
            session: String::new(),
            last: 0,
            events: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attached = browser.call(
            "Target.attachToTarget",
            &json!({"targetId": target["targetId"], "flatten": true}),
        );
        attached["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut browser.session);
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        browser
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let mut request = json!({"id": self.last, "method": method, "params": params});
        if !self.session.is_empty() {
            request["sessionId"] = json!(self.session);
        }
        self.socket
            .send(Message::text(request.to_string()))
            .unwrap();
        loop {
            let message = self.next();
            if message["id"] == self.last {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn next(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    fn open(&mut self, path: &Path) {
        self.call(
            "Page.navigate",
            &json!({"url": format!("file://{}", path.display())}),
        );
        let end = Instant::now() + Duration::from_secs(30);
        while self.evaluate("document.readyState + document.title") == "completeabout:blank"
            || !self
                .evaluate("document.readyState")
                .as_str()
                .unwrap()
                .contains("complete")
            || self.evaluate("location.protocol") != "file:"
        {
            assert!(Instant::now() < end, "the page does not load");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn evaluate(&mut self, expression: &str) -> Value {
        let result = self.call(
            "Runtime.evaluate",
            &json!({"expression": expression, "returnByValue": true}),
        );
        assert!(
            result.get("exceptionDetails").is_none(),
            "{expression}: {result}"
        );
        result["result"]["value"].clone()
    }

    /// Presses and releases a key; one that writes has its text.
    fn press(&mut self, key: &str, text: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "Escape" => 27,
            " " => 32,
            _ => 0,
        };
        for kind in ["keyDown", "keyUp"] {
            let mut params = json!({"type": kind, "key": key, "windowsVirtualKeyCode": code});
            if kind == "keyDown" && !text.is_empty() {
                params["text"] = json!(text);
            }
            self.call("Input.dispatchKeyEvent", &params);
        }
    }

    fn write(&mut self, text: &str) {
        for char in text.chars() {
            self.press(&char.to_string(), &char.to_string());
        }
    }

    /// Clicks the middle of the element.
    fn click(&mut self, selector: &str) {
        let place = self.evaluate(&format!(
            "(() => {{ const element = document.querySelector({selector:?}); element.scrollIntoView({{block: 'center'}}); \
             const box = element.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            self.call(
                "Input.dispatchMouseEvent",
                &json!({"type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1}),
            );
        }
    }

    /// The names in the rows to be seen.
    fn names(&mut self) -> Vec<String> {
        let names = self.evaluate(
            "Array.from(document.querySelectorAll('tbody tr')).filter(row => row.offsetParent !== null || row.getClientRects().length > 0)\
             .map(row => row.querySelector('.name').textContent)",
        );
        let names = names.as_array().unwrap().iter();
        names
            .map(|name| name.as_str().unwrap().to_owned())
            .collect()
    }

    /// Leaves a picture, if asked to.
    fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("SCREENSHOTS") else {
            return;
        };
        let result = self.call("Page.captureScreenshot", &json!({"format": "png"}));
        let data = decode(result["data"].as_str().unwrap());
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), data).unwrap();
    }

    fn media(&mut self, media: &str, scheme: &str) {
        self.call(
            "Emulation.setEmulatedMedia",
            &json!({"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
    }

    fn size(&mut self, width: u32, height: u32) {
        self.call(
            "Emulation.setDeviceMetricsOverride",
            &json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}),
        );
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It may have gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads base64.
fn decode(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes().filter(|&byte| byte != b'=') {
        let digit = ALPHABET.iter().position(|&letter| letter == byte).unwrap();
        bits = bits << 6 | u32::try_from(digit).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    bytes
}

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
        std::fs::File::create(&path)
            .unwrap()
            .write_all(&run.stdout)
            .unwrap();
        path
    };
    let small = write("small.html", &inputs::small());
    let hostile = write("hostile.html", &inputs::hostile());
    let large = write("large.html", &inputs::large(2000));
    let mut browser = Browser::start(&program);
    browser.size(1400, 1000);
    browser.media("screen", "light");
    browser.open(&small);

    search_works(&mut browser);
    verdicts_can_be_left_out(&mut browser);
    sorting_works(&mut browser);
    everything_can_be_read(&mut browser);

    browser.open(&hostile);
    assert_eq!(browser.names().len(), 32);
    assert_eq!(
        browser.evaluate("document.querySelectorAll('main img, main script, main a').length"),
        0
    );
    let names = browser.names();
    assert!(names.contains(&"Tag<script>alert(1)</script>".to_owned()));
    browser.picture("hostile");

    browser.open(&large);
    browser.press("/", "/");
    browser.write("case=1999");
    assert_eq!(browser.names(), ["Row/case=1999/kind=long-8"]);

    asked_for_nothing(&browser, &[&small, &hostile, &large]);
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
}

fn verdicts_can_be_left_out(browser: &mut Browser) {
    browser.click("input[value=unchanged]");
    browser.click("input[value=regression]");
    let names = browser.names();
    assert_eq!(names.len(), 8);
    browser.click("input[value=unchanged]");
    browser.click("input[value=regression]");
    assert_eq!(browser.names().len(), 14);
}

fn sorting_works(browser: &mut Browser) {
    browser.click("th:nth-child(1) button");
    let mut sorted = browser.names();
    let found = sorted.clone();
    sorted.sort();
    assert_eq!(found, sorted);
    assert_eq!(
        browser.evaluate("document.querySelector('th').ariaSort"),
        "ascending"
    );
    // By keyboard too: the button has the focus.
    browser.press("Enter", "\r");
    sorted.reverse();
    assert_eq!(browser.names(), sorted);
    assert_eq!(
        browser.evaluate("document.querySelector('th').ariaSort"),
        "descending"
    );
    browser.press("Tab", "");
    assert_eq!(
        browser.evaluate("document.activeElement.textContent"),
        "unit"
    );
    browser.click("th:nth-child(6) button");
    let changes = browser.evaluate(
        "Array.from(document.querySelectorAll('td.change')).map(cell => cell.dataset.value).filter(value => value !== '').map(Number)",
    );
    let changes: Vec<f64> = changes
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_f64().unwrap())
        .collect();
    assert!(changes.len() == 10 && changes.is_sorted(), "{changes:?}");
    // Rows without a change stay last in both directions.
    let last = "Array.from(document.querySelectorAll('td.change')).at(-1).dataset.value";
    assert_eq!(browser.evaluate(last), "");
    browser.click("th:nth-child(6) button");
    assert_eq!(browser.evaluate(last), "");
    assert_eq!(browser.names()[0], "Lookup-8");
}

fn everything_can_be_read(browser: &mut Browser) {
    for scheme in ["light", "dark"] {
        browser.media("screen", scheme);
        let contrast = browser.evaluate(&format!(
            "({CONTRAST})('h1, p, td, th button, small, .verdict span, label, dd, dt')"
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
    browser.picture("print");
    browser.media("screen", "light");
    for width in [320, 500, 800, 1100] {
        browser.size(width, 900);
        let overflow =
            "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(browser.evaluate(overflow), 0, "at {width}");
        browser.picture(&format!("width-{width}"));
    }
    browser.size(1400, 1000);
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
                let is_own = own.iter().any(|page| page == url)
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
