//! Answers those who watch the drive, on a unix socket: HTTP with one JSON object, whatever they
//! ask for. `curl --unix-socket PATH http://drive/` shows it, and `flashgc top`.

use crate::served;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// Somebody who asks for nothing, or takes no answer, keeps the others waiting for so long.
const PATIENCE: Duration = Duration::from_secs(1);

/// A request that fills this is answered without its rest.
const REQUEST_BYTES: usize = 4096;

/// The socket. It is removed at the end.
pub struct Status(PathBuf);

impl Status {
    /// Answers from now on.
    pub fn serve(path: &Path) -> io::Result<Status> {
        let listener = UnixListener::bind(path)?;
        let status = Status(path.to_path_buf());
        thread::Builder::new().name("status".into()).spawn(move || {
            for stream in listener.incoming() {
                // Who leaves in the middle needs no answer.
                let _ = stream.and_then(answer);
            }
        })?;
        Ok(status)
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn answer(mut stream: UnixStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut request = [0; REQUEST_BYTES];
    let mut read = 0;
    while read < request.len() && !request[..read].windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut request[read..])? {
            0 => break,
            more => read += more,
        }
    }
    let (code, body) = match served::status() {
        Ok(Some(status)) => ("200 OK", status),
        Ok(None) => ("503 Service Unavailable", error("the drive has ended")),
        Err(why) => ("503 Service Unavailable", error(&why)),
    };
    let body = format!("{body}\n");
    let head = format!(
        "HTTP/1.1 {code}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())
}

fn error(why: &str) -> Value {
    json!({ "error": why })
}
