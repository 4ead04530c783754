//! Publishes the state of the drive, on a unix socket: HTTP with one JSON object as the answer to
//! any request. `curl --unix-socket PATH http://drive/` shows it, and `flashgc top`.

use crate::{api, served};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// A client that sends no request, or takes no answer, is dropped after this time.
const PATIENCE: Duration = Duration::from_secs(1);

/// A request that fills this is answered without its rest.
const REQUEST_BYTES: usize = 4096;

/// The most clients at once. The next one replaces the client that has been silent longest.
const ASKING: usize = 32;

/// The socket, which is removed on drop.
pub struct Status {
    path: PathBuf,
    /// Until the answers begin.
    listener: Option<UnixListener>,
}

/// The clients, with their numbers, in the order in which they came.
type Asking = Arc<Mutex<VecDeque<(u64, UnixStream)>>>;

fn lock(asking: &Asking) -> MutexGuard<'_, VecDeque<(u64, UnixStream)>> {
    asking.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Status {
    /// Makes the socket, with this mode. Clients wait for their answers until [`Status::begin`].
    pub fn bind(path: &Path, mode: u32) -> io::Result<Status> {
        let listener = api::with_umask(0o777 & !mode, || UnixListener::bind(path))?;
        Ok(Status { path: path.to_path_buf(), listener: Some(listener) })
    }

    /// Answers from now on, in a thread. nbdkit closes its standard input and output and opens
    /// others before `after_fork`, and a thread that opened a file between the two would get their
    /// numbers: nbdkit ends then ("open: No such file or directory").
    pub fn begin(&mut self) -> io::Result<()> {
        let Some(listener) = self.listener.take() else { return Ok(()) };
        let asking = Asking::default();
        let serves = thread::Builder::new().name("status".into()).spawn(move || {
            for (number, stream) in (0..).zip(listener.incoming()) {
                // A client that leaves before its answer needs none, and a client without a thread
                // gets none.
                let _ = stream.and_then(|stream| begin(&asking, number, stream));
            }
        });
        serves.map(|_| ())
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Answers a client in a thread of its own.
fn begin(asking: &Asking, number: u64, stream: UnixStream) -> io::Result<()> {
    let mut all = lock(asking);
    if all.len() == ASKING
        && let Some((_, silent)) = all.pop_front()
    {
        silent.shutdown(Shutdown::Both)?;
    }
    all.push_back((number, stream.try_clone()?));
    drop(all);
    let in_all = Arc::clone(asking);
    let leave = move || lock(&in_all).retain(|(other, _)| *other != number);
    let answers = thread::Builder::new().name("answer".into()).spawn({
        let leave = leave.clone();
        move || {
            let _ = answer(stream);
            leave();
        }
    });
    answers.map(|_| ()).inspect_err(|_| leave())
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
