//! A browser, driven over the protocol of its developer tools.

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

/// The one that the environment variable CHROMIUM names, or one on PATH.
pub fn chromium() -> Option<PathBuf> {
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
pub struct Browser {
    child: Child,
    socket: WebSocket<TcpStream>,
    session: String,
    last: u64,
    /// Requests, console messages and exceptions so far.
    pub events: Vec<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    pub fn start(program: &Path) -> Self {
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

    pub fn call(&mut self, method: &str, params: &Value) -> Value {
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

    pub fn open(&mut self, path: &Path) {
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

    pub fn evaluate(&mut self, expression: &str) -> Value {
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

    /// Waits until the expression is true.
    pub fn wait_for(&mut self, expression: &str) {
        let end = Instant::now() + Duration::from_secs(10);
        while self.evaluate(expression) != true {
            assert!(Instant::now() < end, "never true: {expression}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses and releases a key; one that writes has its text.
    pub fn press(&mut self, key: &str, text: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            "ArrowLeft" => 37,
            "ArrowRight" => 39,
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

    pub fn write(&mut self, text: &str) {
        for char in text.chars() {
            self.press(&char.to_string(), &char.to_string());
        }
    }

    /// Clicks the middle of the element.
    pub fn click(&mut self, selector: &str) {
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
    pub fn names(&mut self) -> Vec<String> {
        let names = self.evaluate(
            "Array.from(document.querySelectorAll('#rows tbody tr[id]')).filter(row => row.getClientRects().length > 0)\
             .map(row => row.querySelector('.name a').textContent)",
        );
        let names = names.as_array().unwrap().iter();
        names
            .map(|name| name.as_str().unwrap().to_owned())
            .collect()
    }

    /// Leaves a picture of the whole page, if asked to; of a long one, its beginning.
    pub fn picture(&mut self, name: &str) {
        const TALLEST: f64 = 4000.0;
        let Some(folder) = std::env::var_os("SCREENSHOTS") else {
            return;
        };
        let size = self.call("Page.getLayoutMetrics", &json!({}))["cssContentSize"].clone();
        let height = size["height"].as_f64().unwrap().min(TALLEST);
        let result = self.call(
            "Page.captureScreenshot",
            &json!({"format": "png", "captureBeyondViewport": true,
                "clip": {"x": 0, "y": 0, "width": size["width"], "height": height, "scale": 1}}),
        );
        let data = decode(result["data"].as_str().unwrap());
        std::fs::write(Path::new(&folder).join(format!("{name}.png")), data).unwrap();
    }

    /// Leaves the page as it would be printed, if asked to.
    #[allow(dead_code, reason = "not every test prints")]
    pub fn print(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("SCREENSHOTS") else {
            return;
        };
        let result = self.call(
            "Page.printToPDF",
            &json!({"preferCSSPageSize": true, "printBackground": true}),
        );
        let data = decode(result["data"].as_str().unwrap());
        std::fs::write(Path::new(&folder).join(format!("{name}.pdf")), data).unwrap();
    }

    pub fn media(&mut self, media: &str, scheme: &str) {
        self.call(
            "Emulation.setEmulatedMedia",
            &json!({"media": media, "features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
    }

    pub fn size(&mut self, width: u32, height: u32) {
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
