#!/usr/bin/env python3
"""Builds the documentation: one static, searchable site of all library products and all guides.

    Scripts/docs.py [--output .build/docs] [--base-path swift-dao]

It reads what `swift build` has compiled. Warnings are errors, and so are a public symbol without a comment, a public
type that no topic of its module's landing page names, and a guide that Docs/README.md does not list.

The guides are the files of Docs, as they are: the links between them become links of DocC, and links to other files of
the repository lead to GitHub. Docs/README.md is their landing page; its lists are the topics.
"""
import argparse, json, os, pathlib, platform, re, shutil, subprocess, sys, unicodedata

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPOSITORY = "https://github.com/swift-dao/swift-dao/blob/main"


def run(*command):
    """What a command writes; its errors are shown, and its failure ends the script."""
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"docs: '{command[0]} {command[1]}' failed:\n{done.stdout}{done.stderr}")
    return done.stdout


# The manifest: library products in the order of their dependencies.


def manifest():
    package = json.loads(run("swift", "package", "dump-package"))
    targets = {target["name"]: target for target in package["targets"]}
    # The module of a product comes first, before those below it.
    libraries = [product["targets"][0] for product in package["products"] if "library" in product["type"]]

    def dependencies(name):
        # Products of other packages have no documentation here.
        names = [(entry.get("byName") or entry.get("target"))[0] for entry in targets[name]["dependencies"] if "product" not in entry]
        return [below for own in names for below in dependencies(own) + [own]]

    order = []
    for library in libraries:
        order += [name for name in dependencies(library) + [library] if name in libraries and name not in order]
    return targets, order


# The symbol graphs.


def compiler_arguments(targets, build):
    arguments = ["-I", build / "Modules"]
    for name, target in targets.items():
        if target["type"] == "system":
            arguments += ["-I", ROOT / (target.get("path") or f"Sources/{name}")]
            flags = subprocess.run(["pkg-config", "--cflags", target["pkgConfig"]], capture_output=True, text=True)
            arguments += [word for flag in flags.stdout.split() for word in ("-Xcc", flag)]
        if (build / f"{name}.build/module.modulemap").exists():
            arguments += ["-Xcc", f"-fmodule-map-file={build}/{name}.build/module.modulemap"]
    if platform.system() == "Darwin":
        arguments += ["-sdk", run("xcrun", "--show-sdk-path").strip()]
    return arguments


def extract(module, arguments, triple, build, graphs):
    if not (build / f"Modules/{module}.swiftmodule").exists():
        sys.exit(f"docs: {module} is not built; run 'swift build' first")
    graphs.mkdir(parents=True)
    run("swift", "symbolgraph-extract", "-module-name", module, "-target", triple, *arguments,
        "-minimum-access-level", "public", "-skip-synthesized-members", "-emit-extension-block-symbols",
        "-output-dir", graphs)


def mistakes(module, graphs):
    """Symbols without a comment, and types that are in no topic."""
    landing = ROOT / f"Sources/{module}/{module}.docc/{module}.md"
    if not landing.exists():
        return [f"{landing.relative_to(ROOT)}: every library product has a landing page"]
    topics = set(re.findall(r"^- ``(.+?)``$", landing.read_text().partition("\n## Topics\n")[2], re.MULTILINE))
    found = []
    for file in sorted(graphs.glob("*.json")):
        for symbol in json.loads(file.read_text())["symbols"]:
            # What the compiler makes, such as the projection of a task local, has no place in the sources.
            if symbol["kind"]["identifier"] == "swift.extension" or "location" not in symbol:
                continue
            place = symbol["location"]["uri"].removeprefix(f"file://{ROOT}/") + f":{symbol['location']['position']['line'] + 1}"
            name = ".".join(symbol["pathComponents"])
            if "docComment" not in symbol:
                found.append(f"{place}: '{name}' has no documentation comment")
            is_type = len(symbol["pathComponents"]) == 1 and symbol["kind"]["identifier"] != "swift.func.op"
            if is_type and "@" not in file.name and name not in topics:
                found.append(f"{place}: '{name}' is in no topic of {landing.relative_to(ROOT)}")
    return found


# The guides.


def headings(text):
    """GitHub's anchor of every heading, with DocC's."""
    anchors = {}
    for title in re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE):
        title = re.sub(r"\[(.+?)\]\(.+?\)", r"\1", title)
        words = "".join(c for c in title if c.isalnum() or c in " -_")
        is_kept = lambda c: c in "-" or not (unicodedata.category(c).startswith("P") or c == "`")
        anchors[words.lower().replace(" ", "-")] = "-".join("".join(filter(is_kept, title)).split())
    return anchors


def guides(catalog, found):
    catalog.mkdir(parents=True)
    texts = {file.stem: file.read_text() for file in sorted((ROOT / "Docs").glob("*.md"))}
    anchors = {name: headings(text) for name, text in texts.items()}
    for name in texts:
        if name != "README" and f"]({name}.md)" not in texts["README"]:
            found.append(f"Docs/{name}.md: Docs/README.md does not list this guide")

    def link(name, match):
        text, target = match.groups()
        if "://" in target:
            return match.group()
        path, _, anchor = target.partition("#")
        guide = path.removesuffix(".md") if path else name
        if guide not in texts:
            return f"[{text}]({REPOSITORY}/{os.path.normpath(os.path.join('Docs', target))})"
        page = "Guides" if guide == "README" else guide
        # Anchors that do not exist stay as they are, and DocC reports them.
        fragment = f"#{anchors[guide].get(anchor, anchor)}" if anchor else ""
        return f"<doc:{page}>" if text in (f"{guide}.md", f"Docs/{guide}.md") and not anchor else f"[{text}](doc:{page}{fragment})"

    # A block of code, a link, or a span of code: only links change.
    parts = re.compile(r"^```.*?^```|(?<!!)\[((?:`[^`]+`|[^\]`])+)\]\(([^)\s]+)\)|`[^`\n]+`", re.MULTILINE | re.DOTALL)
    for name, text in texts.items():
        text = parts.sub(lambda match: link(name, match) if match.group(2) else match.group(), text)
        if name == "README":
            text = re.sub(r"^## ", "### ", text, flags=re.MULTILINE)
            text = re.sub(r"^- (?:\[.+?\]\((doc:\w+)\)|<(doc:\w+)>).*(?:\n  .*)*", lambda m: f"- <{m.group(1) or m.group(2)}>", text, flags=re.MULTILINE)
            title, _, rest = text.partition("\n")
            abstract, _, topics = rest.strip().partition("\n\n### ")
            text = f"{title}\n\n@Metadata {{\n  @TechnologyRoot\n}}\n\n{abstract}\n\n## Topics\n\n### {topics}"
        (catalog / f"{'Guides' if name == 'README' else name}.md").write_text(text)
    for picture in (ROOT / "Docs").iterdir():
        if picture.suffix in (".png", ".svg"):
            shutil.copy(picture, catalog)


# The site.


def convert(name, catalog, archive, dependencies, options):
    command = ["docc", "convert", catalog, "--output-dir", archive, "--fallback-display-name", name,
               "--fallback-bundle-identifier", f"swift-dao.{name}", "--enable-experimental-external-link-support",
               "--fallback-default-module-kind", "Module", "--transform-for-static-hosting", "--warnings-as-errors", *options]
    for dependency in dependencies:
        command += ["--dependency", dependency]
    run(*command)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / ".build/docs")
    parser.add_argument("--base-path", default="/", help="the path of the site on its host, such as swift-dao")
    arguments = parser.parse_args()
    work = ROOT / ".build/docs-work"
    shutil.rmtree(work, ignore_errors=True)

    targets, libraries = manifest()
    triple = json.loads(run("swift", "-print-target-info"))["target"]["triple"]
    build = pathlib.Path(run("swift", "build", "--show-bin-path").strip())
    flags = compiler_arguments(targets, build)
    found = []
    for library in libraries:
        extract(library, flags, triple, build, work / "graphs" / library)
        found += mistakes(library, work / "graphs" / library)
    guides(work / "Guides.docc", found)
    if found:
        sys.exit("\n".join(found))

    # A module links to the guides and to the modules below it, so it is converted after them.
    base = ["--hosting-base-path", arguments.base_path]
    archives = [work / "Guides.doccarchive"]
    convert("Guides", work / "Guides.docc", archives[0], [], base)
    for library in libraries:
        archive = work / f"{library}.doccarchive"
        graphs = ["--additional-symbol-graph-dir", work / "graphs" / library]
        convert(library, ROOT / f"Sources/{library}/{library}.docc", archive, archives, base + graphs)
        archives.append(archive)

    shutil.rmtree(arguments.output, ignore_errors=True)
    run("docc", "merge", *archives, "--output-path", arguments.output,
        "--synthesized-landing-page-name", "swift-dao", "--synthesized-landing-page-topics-style", "list")
    (arguments.output / "index.html").write_text(
        '<!doctype html><meta charset="utf-8"><title>swift-dao</title><meta http-equiv="refresh" content="0; url=documentation/">\n'
        '<a href="documentation/">swift-dao</a>\n')
    shutil.rmtree(work)
    print(f"docs: {len(libraries)} modules and the guides are in {os.path.relpath(arguments.output)}; "
          f"'python3 -m http.server --directory {os.path.relpath(arguments.output)}' shows them")


if __name__ == "__main__":
    main()
