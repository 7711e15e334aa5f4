#!/usr/bin/env python3
"""Rehearses on Linux what can be known of Apple's platforms without one of them. README.md says what it cannot tell.

  rehearse-apple.py             all parts
  rehearse-apple.py types …     only these parts:

  types    All modules and programs are type-checked for macOS, and all libraries for iOS, of the versions that Package.swift names:
           against the headers of the systems, and an imitation of Foundation that is made from the toolchain's own. Errors of the
           imitation are in HOLES; any other fails.
  threads  The locks and atomic values for Apple's systems run under ThreadSanitizer, on a stand-in for the system's lock.
           The sanitizer does not know fences, of which there is one; of Apple's lock it says nothing.
  shell    Bash 3.2 and the tools of BSD, which macOS has, are not here: their known differences are looked for in the scripts. With
           BASH32=/path/to/bash they are also parsed by that shell, and with-postgres.sh runs under it.
  locks    The backup cases run where flock and fcntl conflict, as in Apple's kernel.
  lmdb     The suite's chapter of life cycles runs on LMDB with POSIX semaphores, which it has on macOS; LMDB 1.0 is refused.
  sqlite   The suite runs on an SQLite with the options of Apple's. SQLITE_SOURCE=/path/to/sqlite3.c says what it is compiled from.

What is downloaded is pinned by its hash and kept in .build/apple. Without a network the parts that need it are skipped with a line.
The last three parts need what `swift build --product dao-conformance` builds.
"""
import concurrent.futures
import functools
import glob
import hashlib
import inspect
import json
import os
import plistlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from xml.parsers.expat import ExpatError

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLACE = os.path.join(ROOT, ".build", "apple")
CONFORMANCE = os.path.join(ROOT, ".build", "debug", "dao-conformance")
# The names of the systems in targets of the compiler.
SYSTEMS = {"macos": "macosx", "ios": "ios"}
# The headers of Apple's libc, which the compiler Zig redistributes; and LMDB's sources, both lines of releases, in its Python package.
HEADERS = ("ziglang==0.17.1", "ea6cc5d87b033cf0aedfbc8f9549a908cae6c50ac31f1698188fa48a74524b54", "--only-binary=:all:")
LMDB = ("lmdb==3.0.0", "06dda0723545e14d56ac7dcd6f582d9922c2ed5e16f1c3f8d0e670a96ec2ee65", "--no-binary=:all:")

# What only the imitation cannot do: part of the file's path, part of the message, and why.
HOLES = [
    ("", "ambiguous use of 'init(_:strategy:)'", "the initializer is in two of Foundation's modules here"),
    ("JsonDecoder+Values.swift", "'let' binding pattern cannot appear", "the strategy `formatted` exists on Apple's systems alone"),
]


class Skipped(Exception):
    """Something that cannot be had here."""


def fail(part, lines):
    print(f"rehearse-apple: {part}: " + "\n  ".join(lines), file=sys.stderr)
    return False


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, **options)


def download(what):
    requirement, digest, form = what
    name = requirement.split("==")[0]
    folder = os.path.join(PLACE, "downloads")
    os.makedirs(folder, exist_ok=True)

    def found():
        for path in glob.glob(os.path.join(folder, name + "-*")):
            with open(path, "rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() == digest if hasattr(hashlib, "file_digest") else (
                    hashlib.sha256(file.read()).hexdigest() == digest
                ):
                    return path
        return None

    if not found():
        listed = os.path.join(folder, name + ".requirement")
        with open(listed, "w") as file:
            file.write(f"{requirement} --hash=sha256:{digest}\n")
        words = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes", form, "-d", folder, "-r", listed]
        if form.startswith("--only-binary"):
            words += ["--platform", "manylinux_2_12_x86_64"]
        answer = run(*words)
        os.remove(listed)
        if answer.returncode and "HASHES" in answer.stderr:
            sys.exit(f"rehearse-apple: {requirement} is not what it was:\n{answer.stderr}")
        if answer.returncode:
            raise Skipped(f"{requirement} cannot be downloaded: {answer.stderr.strip().splitlines()[-1:]}")
    return found()


# The imitation


class Imitation:
    """Swift's modules, libc and Foundation as modules for one of Apple's systems."""

    HEADER = (
        "// swift-interface-format-version: 1.0\n// swift-compiler-version: {compiler}\n"
        "// swift-module-flags: -target {target} -disable-objc-interop -enable-library-evolution -O -swift-version 5 -module-name {name}\n"
    )
    LIBC = """assert complex ctype errno fenv inttypes limits locale math setjmp signal stdio stdlib string time aio arpa/inet dirent dlfcn
        fcntl fnmatch ftw glob grp ifaddrs langinfo libgen net/if netdb netinet/in netinet/tcp poll pthread pwd regex sched semaphore spawn
        strings sys/event sys/file sys/ioctl sys/ipc sys/mman sys/mount sys/param sys/resource sys/select sys/sem sys/shm sys/socket
        sys/stat sys/statvfs sys/sysctl sys/time sys/times sys/types sys/uio sys/un sys/utsname sys/wait sysexits syslog termios unistd
        utime wordexp malloc/malloc mach/mach mach/mach_time os/lock libproc crt_externs""".split()
    # What is there by conformances that are not said.
    UNSAID = """
extension Foundation.URLError : Swift.Error, Swift.Hashable {
  public init(_ code: Foundation.URLError.Code, userInfo: [Swift.String : Any] = [:])
  public var code: Foundation.URLError.Code { get }
  public var userInfo: [Swift.String : Any] { get }
  public static func == (left: Foundation.URLError, right: Foundation.URLError) -> Swift.Bool
  public func hash(into hasher: inout Swift.Hasher)
  public var hashValue: Swift.Int { get }
  public init(_nsError: Foundation.NSError)
}
"""
    RANGE = """public struct NSRange : Swift.Equatable, Swift.Sendable {
  public init(location: Swift.Int, length: Swift.Int)
  public var location: Swift.Int { get set }
  public var length: Swift.Int { get set }
  public static func == (left: Foundation.NSRange, right: Foundation.NSRange) -> Swift.Bool
}
"""
    FOUNDATION = ["FoundationEssentials", "FoundationInternationalization", "Foundation", "FoundationNetworking", "FoundationXML"]

    def __init__(self, system):
        self.system = system
        self.target = f"arm64-apple-{SYSTEMS[system]}{minimum(system)}"
        self.triple = f"arm64-apple-{system}"
        compiler = os.path.realpath(shutil.which("swift-frontend") or shutil.which("swift"))
        self.usr = os.path.dirname(os.path.dirname(compiler))
        self.compiler = run("swift-frontend", "--version").stdout.splitlines()[0]
        key = hashlib.sha256((inspect.getsource(Imitation) + self.compiler + self.target).encode()).hexdigest()[:12]
        self.place = os.path.join(PLACE, f"{system}-{key}")
        self.modules = os.path.join(self.place, "modules")
        self.sdk = os.path.join(self.place, "sdk")
        self.made = os.path.join(self.place, "made")

    def make(self):
        done = os.path.join(self.place, "done")
        if os.path.exists(done):
            return
        for old in glob.glob(os.path.join(PLACE, self.system + "-*")):
            shutil.rmtree(old)
        os.makedirs(self.modules)
        self.headers()
        for name in ["Swift", "_Concurrency", "_Builtin_float", "Darwin", "Synchronization", "_RegexParser", "_StringProcessing", "Observation"]:
            self.compile(name, self.interface(name), allowed=20 if name == "Darwin" else 0)
        self.compile("Dispatch", self.dispatch(), allowed=20)
        self.compile("Foundation", self.foundation(), allowed=600)
        open(done, "w").close()

    def headers(self):
        include = os.path.join(self.sdk, "usr", "include")
        prefix = "ziglang/lib/libc/include/any-darwin-any/"
        with zipfile.ZipFile(download(HEADERS)) as wheel:
            for name in wheel.namelist():
                if name.startswith(prefix) and not name.endswith("/"):
                    path = os.path.join(include, name[len(prefix) :])
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    with open(path, "wb") as file:
                        file.write(wheel.read(name))
        with open(os.path.join(include, "CDarwin.h"), "w") as file:
            file.write("".join(f"#include <{name}.h>\n" for name in ["stdarg", "stdbool", "stddef", "stdint"] + self.LIBC))
        with open(os.path.join(include, "module.modulemap"), "w") as file:
            file.write('module CDarwin [system] {\n  header "CDarwin.h"\n  export *\n}\n')

    def interface(self, name):
        """The interface of one of the toolchain's modules. Its availability for Apple's systems is in it."""
        if name == "Darwin":
            text = self.interface("Glibc").replace("SwiftGlibc", "CDarwin").replace("import Darwin\n", "").replace("Glibc", "Darwin")
            text = re.sub(r"SwiftOverlayShims\.(sem_t|timespec|timeval)", r"CDarwin.\1", text)
            text += "public var TIOCGWINSZ: Swift.UInt { get }\npublic var CLOCK_MONOTONIC: CDarwin.clockid_t { get }\n"
            return text.replace("CDarwin.__sighandler_t", "@convention(c) (Swift.Int32) -> Swift.Void")
        folder = os.path.join(self.usr, "lib", "swift_static", "linux", name + ".swiftmodule")
        host = next(os.path.basename(path) for path in glob.glob(folder + "/*.swiftinterface") if ".private." not in path)
        with open(os.path.join(folder, host)) as file:
            text = file.read()
        text = text.replace(host[: -len(".swiftinterface")], self.target).replace(" -static ", " ")
        if name != "Glibc":
            text = text.replace("import Glibc", "import Darwin")
        # Functions of Linux alone, and a type of Intel's processors.
        text = text.replace("_swift_stdlib_gettid()", "Swift.UInt32(0)")
        text = re.sub(r"self = _stdlib_(remainder|squareRoot)l\(.*\)", "", text)
        return self.without_bodiless_deployment(text)

    @staticmethod
    def without_bodiless_deployment(text):
        """Interfaces of Linux leave out the bodies that `@backDeployed` needs on Apple's systems."""
        lines = text.split("\n")
        kept = []
        for index, line in enumerate(lines):
            if line.strip().startswith("@backDeployed"):
                declaration = next(i for i in range(index + 1, len(lines)) if re.search(r"\b(func|var|init|subscript|get)\b", lines[i]))
                has_body = lines[declaration].rstrip().endswith("{") and not re.match(r"\s*get$", lines[declaration + 1])
                if not has_body:
                    continue
            kept.append(line)
        return "\n".join(kept)

    def synthesized(self, name):
        """The public declarations of a module of the toolchain that has no interface, in the form of one."""
        answer = run(
            "swift-synthesize-interface", "-module-name", name, "-sdk", "/", "-print-fully-qualified-types", "-target",
            f"{os.uname().machine}-unknown-linux-gnu", "-module-cache-path", os.path.join(self.place, "cache"), "-o", "-")
        text = answer.stdout
        lines = [line for line in text.split("\n") if not re.match(r"\s*///|import |@_exported import", line)]
        text = re.sub(r"/\*.*?\*/", "", "\n".join(lines), flags=re.S)
        text = re.sub(r"\b(private|fileprivate|internal)\(set\) ", "", text)
        words = r"\s*((public|open|static|class|final|@\w+(\([^)]*\))?|override|nonisolated|required|package|lazy|weak|unowned) )*"
        lines = []
        for line in text.split("\n"):
            if "{" not in line:
                if re.search(r"\bsubscript[<(]", line):
                    line += " { get set }"
                elif re.match(words + r"let (\w+|`\w+`): ", line):
                    line = re.sub(r"\blet (\w+|`\w+`): ", r"var \1: ", line) + " { get }"
                elif re.match(words + r"var (\w+|`\w+`): ", line):
                    line += " { get set }"
            elif line.endswith(" { get }"):
                line = re.sub(r"\blet (\w+|`\w+`): ", r"var \1: ", line)
            lines.append(re.sub(r"\b(lazy|weak) var", "var", line))
        return "\n".join(lines)

    def head(self, name):
        return self.HEADER.format(compiler=self.compiler, target=self.target, name=name)

    def dispatch(self):
        text = self.synthesized("Dispatch").replace("dispatch_fd_t", "Swift.Int32").replace("dispatch_time_t", "Swift.UInt64")
        text = text.replace("CDispatch.", "").replace("override public init()", "public init()")
        return self.head("Dispatch") + "import Darwin\nimport Swift\nimport _Concurrency\n" + text

    def foundation(self):
        texts = {name: self.synthesized(name) for name in self.FOUNDATION}
        declaration = r"^(?:public|open)(?: final)? (?:struct|class|enum) (\w+)\b"
        public = set(re.findall(declaration, texts["Foundation"], re.M))
        for name in self.FOUNDATION[:2]:
            # Modules below say part of a type that Foundation has.
            lines = texts[name].split("\n")
            found = ((index, re.match(declaration, line)) for index, line in enumerate(lines))
            texts[name], _ = self.without(texts[name], {index for index, match in found if match and match[1] in public})
        text = "\n".join(texts.values()).replace("public typealias NSRange\n", self.RANGE)
        text = re.sub(r"\b(" + "|".join(name for name in self.FOUNDATION if name != "Foundation") + r")\.", "Foundation.", text)
        text = text.replace("SwiftGlibc.", "Darwin.").replace("Glibc.", "Darwin.")
        if self.system == "ios":
            # There are no other programs to run.
            text = re.sub(r"\bProcess\b", "ProcessOfMacOS", text)
        imports = ["_exported import Darwin", "_exported import Dispatch"]
        imports = "".join("@" + line + "\n" for line in imports)
        for name in ["Swift", "_Concurrency", "_StringProcessing", "Synchronization", "Observation"]:
            imports += f"import {name}\n"
        return self.head("Foundation") + imports + text + self.UNSAID

    def compile(self, name, text, allowed):
        """Compiles an interface. Declarations that do not compile are taken out, of which there are no more than allowed."""
        path = os.path.join(self.modules, name + ".swiftinterface")
        folder = os.path.join(self.modules, name + ".swiftmodule")
        os.makedirs(folder)
        removed = 0
        while True:
            with open(path, "w") as file:
                file.write(text)
            extra = ["-parse-stdlib"] if name == "Swift" else []
            answer = run(
                "swift-frontend", "-frontend", "-compile-module-from-interface", path, "-o",
                os.path.join(folder, self.triple + ".swiftmodule"), "-module-name", name, "-target", self.target, "-sdk", self.sdk,
                "-module-cache-path", os.path.join(self.place, "cache"), "-I", self.modules, "-disable-availability-checking", *extra)
            if answer.returncode == 0:
                return
            pattern = r"^\S*%s\.swiftinterface:(\d+):\d+: error: " % re.escape(name)
            wrong = {int(number) - 1 for number in re.findall(pattern, answer.stderr, re.M) if number != "1"}
            text, count = self.without(text, wrong)
            removed += count
            if not count or removed > allowed:
                sys.exit(f"rehearse-apple: the imitation of {name} does not compile:\n{answer.stderr[:3000]}")

    @staticmethod
    def without(text, wrong):
        lines = text.split("\n")

        def depth(line):
            line = re.sub(r'"(\\.|[^"\\])*"|//.*', "", line)
            return line.count("{") - line.count("}")

        dropped = set()
        count = 0
        for number in sorted(wrong):
            if number in dropped:
                continue
            level = depth(lines[number])
            # The end of a declaration is reported for what its body lacks.
            while level < 0 and number > 0:
                number -= 1
                level += depth(lines[number])
            first = number
            while first > 0 and re.match(r"\s*@available\(", lines[first - 1]):
                first -= 1
            level = depth(lines[number])
            while level > 0 and number + 1 < len(lines):
                number += 1
                level += depth(lines[number])
            dropped.update(range(first, number + 1))
            count += 1
        return "\n".join(line for index, line in enumerate(lines) if index not in dropped), count


# Types


@functools.lru_cache(maxsize=None)
def package():
    answer = run("swift", "package", "dump-package", cwd=ROOT)
    if answer.returncode:
        sys.exit(answer.stderr)
    return json.loads(answer.stdout)


def minimum(system):
    return next(platform["version"] for platform in package()["platforms"] if platform["platformName"] == system)


def package_targets():
    targets = {}
    for target in package()["targets"]:
        target["folder"] = os.path.join(ROOT, target.get("path") or os.path.join("Sources", target["name"]))
        target["below"] = [name[0] for name in (entry.get("byName") for entry in target["dependencies"]) if name]
        targets[target["name"]] = target
    ordered = []

    def add(name):
        if name in targets and targets[name] not in ordered:
            for below in targets[name]["below"]:
                add(below)
            ordered.append(targets[name])

    for name in targets:
        add(name)
    return ordered


def swift_files(target):
    excluded = [os.path.join(target["folder"], path) for path in target.get("exclude") or []]
    return sorted(
        path for path in glob.glob(target["folder"] + "/**/*.swift", recursive=True)
        if not any(path == other or path.startswith(other + "/") for other in excluded))


def check_system(system, targets):
    imitation = Imitation(system)
    imitation.make()
    shutil.rmtree(imitation.made, ignore_errors=True)
    os.makedirs(imitation.made)
    # The headers of other libraries are the same on every system.
    headers = os.path.join(imitation.made, "include")
    os.makedirs(headers)
    for name in ["sqlite3.h", "sqlite3ext.h", "lmdb.h", "microhttpd.h", "libpq-fe.h", "postgres_ext.h", "pg_config_ext.h", "curl"]:
        for folder in ["/usr/include", "/usr/include/postgresql", *glob.glob("/usr/include/*-linux-gnu")]:
            if os.path.exists(os.path.join(folder, name)) and not os.path.exists(os.path.join(headers, name)):
                os.symlink(os.path.join(folder, name), os.path.join(headers, name))
    flags = ["-target", imitation.target, "-sdk", imitation.sdk, "-I", imitation.modules, "-I", imitation.made, "-swift-version", "6"]
    flags += ["-module-cache-path", os.path.join(imitation.place, "cache"), "-package-name", "swift_dao", "-disable-objc-interop"]
    # Without optimisation a further module of the toolchain would be needed.
    flags += ["-O", "-plugin-path", os.path.join(imitation.usr, "lib", "swift", "host", "plugins"), "-Xcc", "-I" + headers]
    errors = []
    checked = 0
    jobs = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for target in targets:
            name, folder = target["name"], target["folder"]
            module = name.replace("-", "_")
            if target["type"] == "system":
                flags += ["-Xcc", "-fmodule-map-file=" + os.path.join(folder, "module.modulemap")]
                continue
            sources = glob.glob(folder + "/*.c")
            if sources:
                map_path = os.path.join(imitation.made, name + ".modulemap")
                with open(map_path, "w") as file:
                    file.write(f'module {module} {{\n  umbrella "{folder}/include"\n  export *\n}}\n')
                flags += ["-Xcc", "-fmodule-map-file=" + map_path]
                words = ["clang", "-target", imitation.target, "-isysroot", imitation.sdk, "-I" + headers, "-I" + folder + "/include"]
                answer = run(*words, "-fsyntax-only", "-Wall", *sources)
                errors += re.findall(r"^.*error: .*$", answer.stderr, re.M)
                checked += 1
                continue
            if target["type"] not in ("regular", "executable") or system == "ios" and (target["type"] != "regular" or "/Tests/" in folder and name != "DAOExamples"):
                continue
            files = swift_files(target)
            words = ["swift-frontend", "-frontend", "-module-name", module, *flags]
            if not any(os.path.basename(path) == "main.swift" for path in files):
                words.append("-parse-as-library")
            if target.get("resources"):
                # What SwiftPM generates.
                accessor = os.path.join(imitation.made, module + "-resources.swift")
                with open(accessor, "w") as file:
                    file.write("import Foundation\nextension Foundation.Bundle { static var module: Bundle { Bundle.main } }\n")
                    resources = [item["path"] for item in target["resources"] if "embedInCode" in item["rule"]]
                    members = "".join(
                        f"    static let {re.sub(r'[^A-Za-z0-9]', '_', os.path.basename(path))}: [UInt8] = []\n" for path in resources)
                    file.write("struct PackageResources {\n" + members + "}\n")
                files.append(accessor)
            if target["type"] == "regular":
                path = os.path.join(imitation.made, module + ".swiftmodule")
                emitting = ["-emit-module", "-experimental-skip-non-inlinable-function-bodies", "-suppress-warnings", "-o", path]
                answer = run(*words, *emitting, *files)
                if answer.returncode:
                    errors += re.findall(r"^/.*error: .*$", answer.stderr, re.M) or [f"{name}: {answer.stderr[-800:]}"]
                    continue
            checked += 1
            jobs.append((name, pool.submit(run, *words, "-typecheck", *files)))
        for name, job in jobs:
            answer = job.result()
            found = re.findall(r"^/.*(?:error: .*|warning: .* deprecated.*)$", answer.stderr, re.M)
            if answer.returncode and not found:
                found = [f"{name}: the compiler failed: {answer.stderr[-800:]}"]
            errors += found
    return checked, errors


def types():
    # The guide for these systems uses SwiftUI.
    stand_in = {"name": "SwiftUI", "type": "regular", "folder": os.path.join(ROOT, "Scripts", "apple", "SwiftUI"), "below": []}
    targets = [stand_in] + package_targets()
    fine = True
    met = set()
    for system in SYSTEMS:
        checked, errors = check_system(system, targets)
        unknown = []
        for error in dict.fromkeys(errors):
            hole = next((hole for hole in HOLES if hole[0] in error and hole[1] in error), None)
            if hole:
                met.add(hole)
            else:
                unknown.append(error.replace(ROOT + "/", ""))
        if unknown:
            fine = fail(f"types for {system}", [f"{len(unknown)} errors"] + unknown[:40])
        else:
            print(f"rehearse-apple: types: {checked} modules and programs for {system} {minimum(system)}, {len(errors)} holes of the imitation")
    for hole in HOLES:
        if fine and hole not in met:
            fine = fail("types", [f"this hole has closed; remove it: {hole}"])
    return fine


# Shell


def privacy():
    """The privacy manifests are property lists that declare what their target calls."""
    wrong = []
    calls = {
        "NSPrivacyAccessedAPICategoryFileTimestamp": r"\bf?stat\(|\blstat\(|contentModificationDate",
        "NSPrivacyAccessedAPICategoryDiskSpace": r"\bf?statvfs\(|volumeAvailableCapacity",
        "NSPrivacyAccessedAPICategorySystemBootTime": r"systemUptime|mach_absolute_time",
        "NSPrivacyAccessedAPICategoryUserDefaults": r"UserDefaults",
    }
    for target in ["DAOCore", "DAOSQLite"]:
        folder = os.path.join(ROOT, "Sources", target)
        try:
            with open(os.path.join(folder, "PrivacyInfo.xcprivacy"), "rb") as file:
                declared = plistlib.load(file)["NSPrivacyAccessedAPITypes"]
            reasons = {each["NSPrivacyAccessedAPIType"]: each["NSPrivacyAccessedAPITypeReasons"] for each in declared}
            declared = {name for name, each in reasons.items() if each and all(re.fullmatch(r"[0-9A-F]{4}\.1", reason) for reason in each)}
        except (OSError, KeyError, TypeError, plistlib.InvalidFileException, ExpatError) as error:
            wrong.append(f"{target}: its privacy manifest cannot be read: {error}")
            continue
        paths = glob.glob(os.path.join(folder, "**", "*.swift"), recursive=True)
        text = "".join(open(path).read() for path in paths)
        called = {name for name, pattern in calls.items() if re.search(pattern, text)}
        wrong += [f"{target}: it calls what {name} stands for, and does not declare it" for name in called - declared]
        wrong += [f"{target}: it declares {name}, and calls nothing of it" for name in declared - called]
    return wrong


def unread():
    """What only a Mac would run or build, and a set of files can be read for: a pattern that each has, or has not."""
    rules = [
        ("Package.swift", True, r"#else\n\s*let sqlitePackage: String\? = nil", "Apple's SDKs have an SQLite of their own"),
        ("Package.swift", False, r"\.watchOS\(", "positions of locks need 64 bits"),
        ("Sources/DAOCore/Backend/Engine/Platform.swift", True, r"#if os\(watchOS\)\n\s*#error", "positions of locks need 64 bits"),
        ("Scripts/setup.sh", False, r"^\s*brew\+?=.*sqlite", "brew's SQLite is in the way of applications for iOS"),
        ("Scripts/test.sh", True, r"ulimit -n 4096", "a shell of macOS lets a process open 256 files"),
        ("Sources/DAOTestSupport/Proxy.swift", True, r"MSG_NOSIGNAL", "a peer that is gone ends the process"),
        ("Tests/DAOTransportTests/Server/HostileServer.swift", True, r"MSG_NOSIGNAL", "a peer that is gone ends the process"),
        ("Tests/DAOCommandLineTests/PageClient.swift", True, r"MSG_NOSIGNAL", "a peer that is gone ends the process"),
        ("Tests/DAOTransportTests/Server/HostileServer.swift", True, r"deinit \{(.*\n){0,12}.*connect\(", "accept does not end by shutdown"),
        ("Scripts/*.sh", False, r"^(?!.*otool).*\bldd ", "macOS has otool instead of ldd"),
        ("Sources/**/*.swift", False, r"NSDecimalNumber\(", "each one stays until its thread ends"),
        ("Sources/DAO[CKLMPRSNT]*/**/*.swift", False, r"outputFormatting = .*\.sortedKeys", "Foundation's order of keys is not ours"),
        ("Tests/DAOExamples/Errands.swift", True, r"func refresh\(.*\n(.*\n){0,3}.*suspend\(\)", "a lock that is held ends the application"),
    ]
    # Texts for people, whose order means nothing.
    readable = ["Sources/DAOConformance/Report/ConformanceReport.swift", "Sources/DAOSQLite/Foreign/TableMapping.swift"]
    wrong = []
    for names, has, pattern, reason in rules:
        paths = glob.glob(os.path.join(ROOT, names), recursive=True)
        if not paths:
            wrong.append(f"there is no {names} to read")
        for path in paths:
            name = os.path.relpath(path, ROOT)
            with open(path) as file:
                found = re.search(pattern, file.read(), re.M)
            if bool(found) != has and not (found and name in readable):
                wrong.append(f"{name}: {reason}: {found.group().strip() if found else 'nothing like ' + pattern}")
    return wrong


def shell():
    """What Bash 3.2 or BSD's tools do not have, and what a set of scripts can be read for."""
    wrong = privacy() + unread()
    patterns = [
        (r"\b(mapfile|readarray|coproc)\b|declare -[A-Za-z]*[An]|local -n|wait -n", "Bash 4"),
        (r"\$\{\w+(,,?|\^\^?|@[A-Z])", "Bash 4"), (r"&>>|\|&", "Bash 4"), (r"\[\[? -v ", "Bash 4"), (r"\$\{\w+\[-", "Bash 4"),
        (r"\bsed (-\w+ )*-i", "BSD's sed wants a suffix as a word of its own"), (r"\bsed\b.*'[0-9$]*[aic] ?[^\\\s]", "GNU's sed"),
        (r"readlink -f|grep -[A-Za-z]*P|date -d|stat -c|-printf|xargs -r|head -n -|\bnproc\b|cp --|mktemp --|timeout ", "GNU's tools"),
    ]
    names = sorted(glob.glob(os.path.join(ROOT, "Scripts", "*.sh"))) + [os.path.join(ROOT, ".ci", "run")]
    for path in names:
        with open(path) as file:
            text = file.read()
        empty = set(re.findall(r"^\s*(?:local )?(\w+)=\(\)", text, re.M))
        for number, line in enumerate(text.split("\n"), 1):
            code = re.sub(r"^\s*#.*|(?<=\s)#\s.*", "", line)
            for pattern, reason in patterns:
                if re.search(pattern, code):
                    wrong.append(f"{os.path.relpath(path, ROOT)}:{number}: {reason}: {code.strip()}")
            for name in empty:
                if re.search(r'"\$\{%s\[@\]\}"' % name, code.replace('${%s[@]+"${%s[@]}"}' % (name, name), "")):
                    wrong.append(f"{os.path.relpath(path, ROOT)}:{number}: Bash 3.2 has no empty array '{name}' under set -u")
        answer = run("bash", "-n", path)
        if answer.returncode:
            wrong.append(answer.stderr.strip())
    old = os.environ.get("BASH32")
    if old:
        wrong += [answer.stderr for answer in (run(old, "-n", path) for path in names) if answer.returncode]
        answer = run(old, os.path.join(ROOT, "Scripts", "with-postgres.sh"), "true")
        if answer.returncode:
            wrong.append(answer.stderr)
    if wrong:
        return fail("shell", wrong)
    print(f"rehearse-apple: shell: {len(names)} scripts" + ("" if old else ", read only: BASH32 names no Bash 3.2"))
    return True


# What runs


def conformance(part, environment, *words, known=()):
    """Runs the suite; returns what to print, or False when other cases fail than those that are known to."""
    if not os.path.exists(CONFORMANCE):
        raise Skipped("there is no .build/debug/dao-conformance")
    path = os.path.join(PLACE, part + ".json")
    answer = run(CONFORMANCE, *words, "--json", path, env={**os.environ, **environment})
    try:
        with open(path) as file:
            reports = json.load(file)
        os.remove(path)
    except OSError:
        return fail(part, (answer.stdout + answer.stderr).split("\n")[-25:])
    results = [result for report in (reports if isinstance(reports, list) else [reports]) for result in report["results"]]
    failed = {result["id"]: result for result in results if result["status"] not in ("passed", "skipped")}
    if set(failed) - set(known):
        return fail(part, [f"{len(failed)} cases fail"] + [json.dumps(failed[name]) for name in failed][:20])
    if set(known) - set(failed):
        return fail(part, [f"{name} passes, and the guide says that it fails" for name in set(known) - set(failed)])
    passed = sum(result["status"] == "passed" for result in results)
    return f"{passed} passed" + "".join(f", {name} fails as is known" for name in failed)


def threads():
    scripts = os.path.join(ROOT, "Scripts", "apple")
    sources = [os.path.join(ROOT, "Sources", "DAOCore", "Internal", name) for name in ["Atomic.swift", "Lock.swift"]]
    words = ["-package-name", "threads", "-swift-version", "6", "-sanitize=thread", "-I", os.path.join(scripts, "Darwin")]
    map_path = os.path.join(PLACE, "threads.modulemap")
    with open(map_path, "w") as file:
        file.write(f'module DAOAtomics {{\n  umbrella "{ROOT}/Sources/DAOAtomics/include"\n  export *\n}}\n')
    words += ["-Xcc", "-fmodule-map-file=" + map_path, *sources, os.path.join(scripts, "Threads", "main.swift")]
    program = os.path.join(PLACE, "threads")
    for level in ["-Onone", "-O"]:
        answer = run("swiftc", level, *words, "-o", program)
        if answer.returncode:
            return fail("threads", (answer.stdout + answer.stderr).split("\n")[:25])
        answer = run(program, timeout=300)
        if answer.returncode or answer.stdout != "right\n":
            return fail("threads", [level] + (answer.stdout + answer.stderr).split("\n")[:25])
    print("rehearse-apple: threads: right under ThreadSanitizer, without optimisation and with it")
    return True


def compiled(name, *words):
    path = os.path.join(PLACE, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    answer = run("clang", "-shared", "-fPIC", "-O1", "-w", "-o", path, *words)
    if answer.returncode:
        sys.exit(answer.stderr)
    return path


def locks():
    shim = compiled("flock.so", os.path.join(ROOT, "Scripts", "apple", "flock.c"))
    last = conformance("locks", {"LD_PRELOAD": shim}, "--url", "sqlite:", "--url", "lmdb:", "--chapter", "L")
    if last:
        print(f"rehearse-apple: locks: {last}")
    return bool(last)


def lmdb():
    with tarfile.open(download(LMDB)) as archive:
        for line, folder in [("lmdb", "lib"), ("lmdb1", "lib1")]:
            for name in ["mdb.c", "midl.c", "midl.h", "lmdb.h"]:
                entry = archive.extractfile(f"lmdb-3.0.0/{folder}/{name}")
                path = os.path.join(PLACE, line, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(entry.read())
    for line in ["lmdb", "lmdb1"]:
        folder = os.path.join(PLACE, line)
        sources = [os.path.join(folder, name) for name in ["mdb.c", "midl.c"]]
        compiled(line + "/liblmdb.so.0", "-DMDB_USE_POSIX_SEM", "-I" + folder, *sources, "-lpthread")
    # A killed writer stops the others for ever there, as the guide says.
    environment = {"LD_LIBRARY_PATH": os.path.join(PLACE, "lmdb")}
    words = ["--url", "lmdb:", "--chapter", "L", "--time-limit", "30"]
    last = conformance("lmdb", environment, *words, known=["L.killedHolding", "L.killed"])
    if not last:
        return False
    environment = {**os.environ, "LD_LIBRARY_PATH": os.path.join(PLACE, "lmdb1")}
    answer = run(CONFORMANCE, "--url", "lmdb:", "--case", "L.createsMissing", env=environment)
    if answer.returncode == 0 or "has another file format" not in answer.stdout + answer.stderr:
        return fail("lmdb", ["LMDB 1.0 is not refused"] + (answer.stdout + answer.stderr).split("\n")[-10:])
    print(f"rehearse-apple: lmdb: {last}; 1.0 is refused")
    return True


def sqlite():
    source = os.environ.get("SQLITE_SOURCE")
    if not source:
        raise Skipped("SQLITE_SOURCE names no sqlite3.c: no registry that is pinned here has one")
    with open(source) as file:
        text = file.read()
    # Apple's keeps the log when the last connection is closed.
    opened, count = re.subn(r"(\n  if\( noLock \) ctrlFlags \|= UNIXFILE_NOLOCK;)", r"\1\n  ctrlFlags |= UNIXFILE_PERSIST_WAL;", text)
    if count == 0:
        return fail("sqlite", ["the place that keeps the log is not found"])
    path = os.path.join(PLACE, "sqlite", "sqlite3.c")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(opened)
    options = "API_ARMOR OMIT_AUTORESET THREADSAFE=2 OMIT_LOAD_EXTENSION USE_URI ENABLE_SETLK_TIMEOUT=2 DEFAULT_CKPTFULLFSYNC=1".split()
    options = ["-DSQLITE_" + (option if "=" in option or option.startswith("OMIT") or option == "USE_URI" else "ENABLE_" + option)
               for option in options]
    options += ["-DSQLITE_ENABLE_" + name for name in ["FTS5", "COLUMN_METADATA", "STAT4", "RTREE", "SNAPSHOT", "DBSTAT_VTAB"]]
    compiled("sqlite/libsqlite3.so.0", *options, path, "-lpthread", "-lm")
    last = conformance("sqlite", {"LD_LIBRARY_PATH": os.path.dirname(path)}, "--url", "sqlite:")
    if last:
        print(f"rehearse-apple: sqlite: {last}")
    return bool(last)


PARTS = {"types": types, "threads": threads, "shell": shell, "locks": locks, "lmdb": lmdb, "sqlite": sqlite}


def main():
    sys.stdout.reconfigure(line_buffering=True)
    chosen = sys.argv[1:] or list(PARTS)
    unknown = [name for name in chosen if name not in PARTS]
    if unknown or os.uname().sysname != "Linux":
        sys.exit(__doc__)
    fine = True
    for name in chosen:
        try:
            fine = PARTS[name]() and fine
        except Skipped as reason:
            print(f"rehearse-apple: {name}: skipped: {reason}")
    sys.exit(0 if fine else 1)


main()
