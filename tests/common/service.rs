//! A service on the loopback interface that stands for one on the network.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What a client asks for.
pub struct Request {
    pub method: String,
    /// With what follows the `?`.
    pub path: String,
    /// Line by line, as sent.
    pub headers: String,
    pub body: Vec<u8>,
}

/// Answers until the test ends.
pub struct Service {
    pub address: String,
    log: Arc<Mutex<Vec<String>>>,
}

impl Service {
    /// One that answers with a status and a body.
    pub fn new(answer: impl Fn(&Request) -> (u16, Vec<u8>) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let service = Self {
            address: format!("http://{}", listener.local_addr().unwrap()),
            log: Arc::default(),
        };
        let log = Arc::clone(&service.log);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                if let Some(request) = read(&stream) {
                    let (status, body) = answer(&request);
                    let line = format!("{} {} {status}", request.method, request.path);
                    log.lock().unwrap().push(line);
                    respond(stream, status, &body);
                }
            }
        });
        service
    }

    /// What was asked for since the last time, with the status of each answer.
    pub fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }
}

fn read(mut stream: &TcpStream) -> Option<Request> {
    let mut lines = BufReader::new(stream);
    let mut first = String::new();
    lines.read_line(&mut first).ok()?;
    let mut words = first.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut headers = String::new();
    while !headers.ends_with("\r\n\r\n") && headers != "\r\n" {
        lines.read_line(&mut headers).ok()?;
    }
    let headers = headers.to_lowercase();
    let length = headers
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .map_or(0, |length| length.parse().unwrap());
    if headers.contains("100-continue") {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").ok()?;
    }
    let mut body = vec![0; length];
    lines.read_exact(&mut body).ok()?;
    Some(Request {
        method,
        path,
        headers,
        body,
    })
}

fn respond(mut stream: TcpStream, status: u16, body: &[u8]) {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Status\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    // A client may have gone away.
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body));
}
