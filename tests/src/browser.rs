//! A headless browser, driven through ChromeDriver.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fantoccini::error::CmdError;
use fantoccini::key::Key;
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use http::Method;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// How long a page may take to show what is waited for; debug on a slow machine needs some.
const PATIENCE: Duration = Duration::from_secs(60);

/// Clicks a button that saves a picture; gives the file's name, its first bytes, its size and its
/// colour at the corner.
const SAVED: &str = "
    const done = arguments[arguments.length - 1];
    HTMLAnchorElement.prototype.click = function () {
        const name = this.download;
        fetch(this.href).then((file) => file.blob()).then(async (blob) => {
            const start = [...new Uint8Array(await blob.slice(1, 4).arrayBuffer())];
            const bitmap = await createImageBitmap(blob);
            const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
            const context = canvas.getContext('2d');
            context.drawImage(bitmap, 0, 0);
            const corner = [...context.getImageData(1, bitmap.height - 2, 1, 1).data];
            const all = context.getImageData(0, 0, bitmap.width, bitmap.height).data;
            const colours = new Set(new Uint32Array(all.buffer));
            done({ name, start, width: bitmap.width, corner, colours: colours.size });
        });
    };
    document.querySelector(`[data-testid='${arguments[0]}']`).click();";

/// Clicks a button that saves a text; gives its name and what it holds.
const SAVED_TEXT: &str = "
    const done = arguments[arguments.length - 1];
    HTMLAnchorElement.prototype.click = function () {
        const name = this.download;
        fetch(this.href).then((file) => file.text()).then((text) => done([name, text]));
    };
    document.querySelector(`[data-testid='${arguments[0]}']`).click();";

/// Times that ChromeDriver is started: between choosing a free port and taking it, another process
/// may take the port.
const STARTS: usize = 4;

/// A browser that ends with this value.
pub struct Browser {
    driver: Child,
    /// The session.
    pub client: Client,
    profile: std::path::PathBuf,
}

fn found(variable: &str, default: &str) -> String {
    env::var(variable).unwrap_or_else(|_| default.to_owned())
}

/// Starts ChromeDriver; it and its port, or nothing if it ended.
fn start_driver() -> Option<(Child, u16)> {
    let mut driver = Command::new(found("TILEWRIGHT_CHROMEDRIVER", "/usr/bin/chromedriver"))
        .arg("--port=0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|e| panic!("chromedriver: {e}; run `cargo xtask test`"));
    let stdout = driver.stdout.take().unwrap_or_else(|| panic!("no output of chromedriver"));
    let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
    let port = lines.by_ref().find_map(|line| {
        let (_, rest) = line.split_once("started successfully on port ")?;
        rest.trim_end_matches('.').trim().parse().ok()
    });
    let Some(port) = port else {
        let _ = driver.wait();
        return None;
    };
    thread::spawn(move || lines.for_each(drop));
    Some((driver, port))
}

impl Browser {
    /// Starts ChromeDriver and a browser with an empty profile and a window of this size.
    ///
    /// # Panics
    /// If either does not start.
    pub async fn start(width: u32, height: u32, dark: bool) -> Self {
        let (driver, port) = (0..STARTS)
            .find_map(|_| start_driver())
            .unwrap_or_else(|| panic!("chromedriver ended {STARTS} times without a port"));
        let profile = env::temp_dir().join(format!("tilewright-browser-{port}"));
        let mut arguments = vec![
            "--headless=new".to_owned(),
            "--no-sandbox".to_owned(),
            "--disable-gpu".to_owned(),
            "--disable-quic".to_owned(),
            "--no-first-run".to_owned(),
            "--disable-background-networking".to_owned(),
            "--disable-component-update".to_owned(),
            "--disable-sync".to_owned(),
            "--hide-scrollbars".to_owned(),
            format!("--user-data-dir={}", profile.display()),
            format!("--window-size={width},{height}"),
        ];
        if dark {
            arguments.push("--blink-settings=preferredColorScheme=0".to_owned());
        }
        let capabilities = json!({
            "goog:chromeOptions": {
                "binary": found("TILEWRIGHT_CHROMIUM", "/usr/bin/chromium"),
                "args": arguments,
                "mobileEmulation": {
                    "deviceMetrics": { "width": width, "height": height, "pixelRatio": 1.0, "touch": false }
                },
            },
            "goog:loggingPrefs": { "browser": "ALL" },
        });
        let Value::Object(capabilities) = capabilities else { unreachable!("an object") };
        let client = ClientBuilder::new(hyper_util::client::legacy::connect::HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .unwrap_or_else(|e| panic!("no browser session: {e}"));
        Self { driver, client, profile }
    }

    /// Opens an address.
    ///
    /// # Panics
    /// If it cannot be reached.
    pub async fn open(&self, address: &str) {
        self.client.goto(address).await.unwrap_or_else(|e| panic!("{address}: {e}"));
    }

    /// The element marked with this test id, once it is there.
    ///
    /// # Panics
    /// If it does not appear; with the page's text.
    pub async fn find(&self, id: &str) -> fantoccini::elements::Element {
        let selector = format!("[data-testid=\"{id}\"]");
        let locator = Locator::Css(&selector);
        match self.client.wait().at_most(PATIENCE).for_element(locator).await {
            Ok(element) => element,
            Err(error) => panic!("no '{id}': {error}\n{}", self.text().await),
        }
    }

    /// Whether an element marked with this test id is there now.
    pub async fn has(&self, id: &str) -> bool {
        let selector = format!("[data-testid=\"{id}\"]");
        self.client.find(Locator::Css(&selector)).await.is_ok()
    }

    /// Clicks the element marked with this test id, once it can be.
    ///
    /// # Panics
    /// If it stays disabled.
    pub async fn click(&self, id: &str) {
        let script = "const e = document.querySelector(`[data-testid=\"${arguments[0]}\"]`); \
                      if (!e || e.matches(':disabled')) return false; \
                      e.scrollIntoView({ block: 'center' }); e.click(); return true;";
        let until = Instant::now() + PATIENCE;
        self.find(id).await;
        while self.script(script, vec![json!(id)]).await != Value::Bool(true) {
            assert!(Instant::now() < until, "'{id}' stays disabled\n{}", self.text().await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Text of the element marked with this test id, once it fulfils a condition.
    ///
    /// # Panics
    /// If it never does.
    pub async fn text_when(&self, id: &str, fulfils: impl Fn(&str) -> bool) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let text = self.find(id).await.text().await.unwrap_or_default();
            if fulfils(&text) {
                return text;
            }
            assert!(Instant::now() < until, "'{id}' says: {text}\n{}", self.text().await);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until a script gives `true`.
    ///
    /// # Panics
    /// If it never does.
    pub async fn until(&self, script: &str) {
        let until = Instant::now() + PATIENCE;
        while self.script(script, Vec::new()).await != Value::Bool(true) {
            assert!(Instant::now() < until, "never: {script}\n{}", self.text().await);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Gives a file to the input element marked with this test id.
    ///
    /// # Panics
    /// If it takes none.
    pub async fn give_file(&self, id: &str, path: &std::path::Path) {
        let path = path.canonicalize().unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let element = self.find(id).await;
        let sent = element.send_keys(&path.display().to_string()).await;
        sent.unwrap_or_else(|e| panic!("'{id}' takes no file: {e}"));
    }

    /// Gives several files at once.
    ///
    /// # Panics
    /// If the element takes none.
    pub async fn give_files(&self, id: &str, paths: &[&std::path::Path]) {
        let path =
            |path: &&std::path::Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        let paths: Vec<String> = paths.iter().map(|p| path(p).display().to_string()).collect();
        let sent = self.find(id).await.send_keys(&paths.join("\n")).await;
        sent.unwrap_or_else(|e| panic!("'{id}' takes no files: {e}"));
    }

    /// Presses keys while the element marked with this test id has the focus.
    ///
    /// # Panics
    /// If it takes no focus.
    pub async fn press(&self, id: &str, keys: impl AsRef<[Key]>) {
        let text: String = keys.as_ref().iter().map(|key| char::from(*key)).collect();
        let sent = self.find(id).await.send_keys(&text).await;
        sent.unwrap_or_else(|e| panic!("'{id}' takes no keys: {e}"));
    }

    /// Loads the page anew.
    ///
    /// # Panics
    /// If the browser cannot.
    pub async fn reload(&self) {
        self.client.refresh().await.unwrap_or_else(|e| panic!("reload: {e}"));
    }

    /// Runs a script that gives its result to its last argument, a function.
    ///
    /// # Panics
    /// If it throws or never does.
    pub async fn later(&self, script: &str, arguments: Vec<Value>) -> Value {
        let result = self.client.execute_async(script, arguments).await;
        result.unwrap_or_else(|e| panic!("{script}: {e}"))
    }

    /// Runs a script in the page.
    ///
    /// # Panics
    /// If it throws.
    pub async fn script(&self, script: &str, arguments: Vec<Value>) -> Value {
        let result: Result<Value, CmdError> = self.client.execute(script, arguments).await;
        result.unwrap_or_else(|e| panic!("{script}: {e}"))
    }

    /// What the browser's console holds of errors since it was asked last.
    ///
    /// # Panics
    /// If the browser does not say.
    pub async fn complaints(&self) -> Vec<String> {
        let log = self.client.issue_cmd(ConsoleLog).await.unwrap_or_else(|e| panic!("log: {e}"));
        let entries = log.as_array().cloned().unwrap_or_default();
        let errors = entries.iter().filter(|entry| entry["level"] == "SEVERE");
        errors.map(|entry| entry["message"].to_string()).collect()
    }

    /// The same, but for that of the server that a static host does not have.
    ///
    /// # Panics
    /// If the browser does not say.
    pub async fn complaints_of_the_page(&self) -> Vec<String> {
        let all = self.complaints().await;
        all.into_iter().filter(|complaint| !complaint.contains("/api/health")).collect()
    }

    /// Milliseconds of processor time that the page's own thread has taken since it was asked first:
    /// other work on the machine does not count.
    ///
    /// # Panics
    /// If the browser does not say.
    pub async fn own_ms(&self) -> f64 {
        let enable =
            json!({ "cmd": "Performance.enable", "params": { "timeDomain": "threadTicks" } });
        let metrics = json!({ "cmd": "Performance.getMetrics", "params": {} });
        let mut said = Value::Null;
        for command in [enable, metrics] {
            let answer = self.client.issue_cmd(DevTools(command)).await;
            said = answer.unwrap_or_else(|e| panic!("metrics: {e}"));
        }
        let metrics = said["metrics"].as_array().cloned().unwrap_or_default();
        let task = metrics.iter().find(|metric| metric["name"] == "TaskDuration");
        task.and_then(|metric| metric["value"].as_f64()).map_or(f64::NAN, |seconds| seconds * 1e3)
    }

    /// Everything that the page says.
    pub async fn text(&self) -> String {
        let body = self.client.execute("return document.body.innerText", Vec::new()).await;
        body.ok().and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Writes a picture of the page as it is.
    ///
    /// # Panics
    /// If it cannot be taken or written.
    pub async fn picture(&self, path: &std::path::Path) {
        let picture = self.client.screenshot().await.unwrap_or_else(|e| panic!("picture: {e}"));
        std::fs::write(path, picture).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }

    /// Clicks the button with this test id, which saves a picture: its name, its first bytes, its
    /// size, its colour at the corner and how many colours it has.
    ///
    /// # Panics
    /// If it saves none.
    pub async fn saved_picture(&self, id: &str) -> Value {
        self.find(id).await;
        self.later(SAVED, vec![json!(id)]).await
    }

    /// Clicks the button with this test id, which saves a text: the name of the file, and what it holds.
    ///
    /// # Panics
    /// If it saves none.
    pub async fn saved_text(&self, id: &str) -> (String, String) {
        self.find(id).await;
        let saved = self.later(SAVED_TEXT, vec![json!(id)]).await;
        let part = |index: usize| saved[index].as_str().unwrap_or_default().to_owned();
        (part(0), part(1))
    }

    /// Ends the session.
    pub async fn end(self) {
        let _ = self.client.clone().close().await;
    }
}

/// ChromeDriver's command for the console's log.
#[derive(Debug)]
struct ConsoleLog;

impl WebDriverCompatibleCommand for ConsoleLog {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/se/log", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(json!({ "type": "browser" }).to_string()))
    }
}

/// A command of the browser's DevTools.
#[derive(Debug)]
struct DevTools(Value);

impl WebDriverCompatibleCommand for DevTools {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.0.to_string()))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
