//! Files: traces that are read, and results that appear whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// Opens a file for reading, or returns the reason why not.
pub fn open(path: &Path) -> Result<File, String> {
    let shown = path.display();
    match fs::metadata(path) {
        Ok(about) if about.is_dir() => Err(format!("{shown} is a directory, not a file")),
        Ok(_) => File::open(path).map_err(|error| format!("{shown}: {}", reason(&error))),
        Err(error) => Err(format!("{shown}: {}", reason(&error))),
    }
}

/// The reason of an error without its number.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::PermissionDenied => "permission denied".into(),
        io::ErrorKind::StorageFull => "no space left on the device".into(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".into(),
        io::ErrorKind::NotADirectory => "a part of the path is not a directory".into(),
        _ => error.to_string(),
    }
}

/// Links that point to links are followed only so far, as the system does.
const LINKS_MAX: usize = 40;

/// The target of a path that is a link, even to a file that does not exist yet.
fn link_target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    for _ in 0..LINKS_MAX {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A file under a temporary name, which takes its own name when it is complete. An existing pipe,
/// terminal or other special file is written to directly.
pub struct NewFile {
    out: BufWriter<File>,
    /// The temporary name, until it is renamed.
    part: Option<PathBuf>,
    path: PathBuf,
}

impl NewFile {
    /// Creates it in the directory of its final place.
    pub fn create(path: &Path) -> Result<Self, String> {
        let failed = |error: io::Error| format!("{}: {}", path.display(), reason(&error));
        // A link stays a link, and its target is written.
        let target = link_target(path).map_err(failed)?;
        let mut mode = None;
        if let Ok(about) = fs::metadata(path) {
            if about.is_dir() {
                return Err(format!("{} is a directory, not a file", path.display()));
            }
            if !about.is_file() {
                let file = File::options().write(true).open(path).map_err(failed)?;
                let out = BufWriter::with_capacity(1 << 16, file);
                return Ok(NewFile { out, part: None, path: path.into() });
            }
            // A file that may not be written must not be replaced either.
            File::options().write(true).open(path).map_err(failed)?;
            mode = Some(about.permissions());
        }
        let Some(name) = target.file_name() else {
            return Err(format!("{} is not a file name", path.display()));
        };
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}-{number}.part", process::id()));
        let part = target.with_file_name(hidden);
        let file = File::create_new(&part).map_err(|error| match part.parent() {
            Some(folder) if error.kind() == io::ErrorKind::NotFound => {
                format!("{}: there is no folder {}", path.display(), folder.display())
            }
            _ => failed(error),
        })?;
        if let Some(mode) = mode {
            // Some file systems have no permissions, and keep none.
            let _ = file.set_permissions(mode);
        }
        let out = BufWriter::with_capacity(1 << 16, file);
        Ok(NewFile { out, part: Some(part), path: target })
    }

    /// Renames the file to its final name.
    pub fn commit(mut self) -> Result<(), String> {
        let path = self.path.clone();
        let failed = |error: io::Error| format!("{}: {}", path.display(), reason(&error));
        self.out.flush().map_err(failed)?;
        if let Some(part) = &self.part {
            fs::rename(part, &self.path).map_err(failed)?;
        }
        self.part = None;
        Ok(())
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            // Nothing more can be done about a file that cannot be removed.
            let _ = fs::remove_file(part);
        }
    }
}
