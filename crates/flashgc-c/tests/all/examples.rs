//! The examples, built by a compiler for C against the installed library as a user builds them.

use std::path::PathBuf;
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The folder with the libraries of this build.
fn built() -> PathBuf {
    let own = std::env::current_exe().expect("this program");
    own.parent().expect("a folder").to_path_buf()
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|done| done.status.success())
}

fn run(command: &mut Command) -> String {
    let done = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [out, err] =
        [done.stdout, done.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(done.status.success(), "{command:?}\n{out}{err}");
    out
}

/// The library in an empty prefix.
fn installed(name: &str) -> PathBuf {
    let prefix = std::env::temp_dir().join(format!("flashgc-c-{name}-{}", std::process::id()));
    run(Command::new(root().join("../../scripts/install_c")).arg(&prefix).arg(built()));
    prefix
}

#[test]
fn the_examples_run_as_a_user_builds_them() {
    if !["cc", "c++", "pkg-config"].into_iter().all(has) {
        return;
    }
    let prefix = installed("pkg-config");
    let found = run(Command::new("pkg-config")
        .args(["--cflags", "--libs", "flashgc"])
        .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")));
    let flags: Vec<&str> = found.split_whitespace().collect();
    let rpath = format!("-Wl,-rpath,{}", prefix.join("lib").display());
    let strict = ["-Wall", "-Wextra", "-Werror", "-pedantic", "-pthread"];
    let mut outputs = Vec::new();
    for (compiler, standard, source) in
        [("cc", "-std=c11", "closed_loop.c"), ("c++", "-std=c++17", "two_drives.cpp")]
    {
        let program = prefix.join(source.replace('.', "_"));
        let source = root().join("examples").join(source);
        let mut command = Command::new(compiler);
        command.arg(standard).args(strict).arg(source).args(&flags).arg(&rpath);
        run(command.arg("-o").arg(&program));
        outputs.push(run(&mut Command::new(&program)));
    }
    assert!(outputs[0].starts_with("20000 writes, the longest "), "{}", outputs[0]);
    assert!(outputs[0].contains("write amplification "), "{}", outputs[0]);
    let lines: Vec<&str> = outputs[1].lines().collect();
    assert!(lines.len() == 2 && lines[0] != lines[1], "{lines:?}");
    assert!(lines.iter().all(|line| line.starts_with("5000 done, result ")), "{lines:?}");
    std::fs::remove_dir_all(prefix).expect("the prefix");
}

#[test]
fn a_project_of_cmake_finds_both_libraries() {
    if !["cc", "cmake"].into_iter().all(has) {
        return;
    }
    let prefix = installed("cmake");
    let project = prefix.join("project");
    std::fs::create_dir_all(&project).expect("a folder");
    let source = root().join("examples/closed_loop.c");
    let text = format!(
        "cmake_minimum_required(VERSION 3.16)\nproject(loop C)\n\
         find_package(flashgc 0.1 REQUIRED)\n\
         foreach(kind flashgc static)\n  add_executable(loop_${{kind}} \"{}\")\n  \
         target_link_libraries(loop_${{kind}} flashgc::${{kind}})\nendforeach()\n",
        source.display()
    );
    std::fs::write(project.join("CMakeLists.txt"), text).expect("a file");
    let build = project.join("build");
    let prefix_path = format!("-DCMAKE_PREFIX_PATH={}", prefix.display());
    run(Command::new("cmake").arg("-S").arg(&project).arg("-B").arg(&build).arg(prefix_path));
    run(Command::new("cmake").arg("--build").arg(&build));
    let outputs = ["flashgc", "static"]
        .map(|kind| run(&mut Command::new(build.join(format!("loop_{kind}")))));
    assert_eq!(outputs[0], outputs[1]);
    std::fs::remove_dir_all(prefix).expect("the prefix");
}

/// Completions live until time advances again: a callback that let it advance had freed the others.
#[test]
fn a_callback_submits_and_lets_no_time_advance() {
    if !has("c++") {
        return;
    }
    let prefix = installed("callbacks");
    let program = prefix.join("callbacks");
    let (lib, include) = (prefix.join("lib"), prefix.join("include"));
    let mut command = Command::new("c++");
    command.args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
    command.arg(root().join("tests/all/callbacks.cpp")).arg("-o").arg(&program);
    command.arg("-I").arg(include).arg("-L").arg(&lib).arg("-lflashgc");
    run(command.arg(format!("-Wl,-rpath,{}", lib.display())));
    let printed = run(&mut Command::new(&program));
    let line = "0 1 error: a callback of when_done lets time advance, and other comp\n";
    assert_eq!(printed, line.repeat(2));
    std::fs::remove_dir_all(prefix).expect("the prefix");
}
