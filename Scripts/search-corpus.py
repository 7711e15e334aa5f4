#!/usr/bin/env python3
"""Prepares a corpus of real texts in five languages, and what ten searches find in it by an evaluation of its own.

The texts are the paragraphs of the Debian Reference. The packages are downloaded and unpacked in the folder that is given, not installed. Words are
those of the package python3-regex, which knows the word boundaries of Unicode; folding is Python's. Scores are computed with floating point.

    Scripts/search-corpus.py FOLDER

writes FOLDER/corpus.json, which the test CorpusTests reads: `make search-corpus` does both.
"""

import html.parser
import json
import math
import pathlib
import subprocess
import sys
import unicodedata

LANGUAGES = ["en", "de", "fr", "ja", "zh-cn"]
PACKAGES = ["python3-regex"] + [f"debian-reference-{language}" for language in LANGUAGES]
BLOCKS = {"p", "pre", "td", "th", "dt", "h1", "h2", "h3", "h4", "h5"}


class Paragraphs(html.parser.HTMLParser):
    """The texts of the innermost blocks of a page."""

    def __init__(self):
        super().__init__()
        self.found, self.open = [], []

    def handle_starttag(self, tag, attributes):
        if tag in BLOCKS:
            self.open.append([])

    def handle_endtag(self, tag):
        if tag in BLOCKS and self.open:
            text = " ".join("".join(self.open.pop()).split())
            if text:
                self.found.append(text)

    def handle_data(self, data):
        if self.open:
            self.open[-1].append(data)


def unpack(folder):
    for package in PACKAGES:
        if not list(folder.glob(f"{package}_*.deb")):
            subprocess.run(["apt-get", "download", "-qq", package], cwd=folder, check=True)
        subprocess.run(["dpkg", "-x", next(folder.glob(f"{package}_*.deb")), folder / "files"], check=True)


def folded(word):
    """The form that is compared: without case, and without marks where they are no letters."""
    kept, base = "", ""
    for scalar in unicodedata.normalize("NFD", word.casefold()):
        if not unicodedata.combining(scalar):
            base = unicodedata.name(scalar, "").split(" ")[0]
        elif base in ("LATIN", "GREEK", "CYRILLIC", "HEBREW", "ARABIC"):
            continue
        kept += scalar
    return unicodedata.normalize("NFC", kept)


def words(text, regex):
    """The words of a text, in their order: letters of Chinese and Japanese by themselves."""
    found = []
    pieces = regex.split(r"\b", unicodedata.normalize("NFC", text), flags=regex.WORD | regex.V1)
    # What is between two letters separates them.
    for piece in (part for piece in pieces for part in regex.split(r"(?<=\p{L}\p{M}*)[.'’‘·․:：](?=\p{L})|^'|_", piece)):
        if not regex.search(r"[\p{L}\p{N}]", piece):
            continue
        rest = ""
        for letter in regex.findall(r"\X", piece):
            if regex.match(r"[\p{Han}\p{Hiragana}\p{Katakana}ー]", letter):
                if rest:
                    found.append(folded(rest))
                found.append(folded(letter))
                rest = ""
            else:
                rest += letter
        if rest:
            found.append(folded(rest))
    return found


def occurrences(part, text, regex):
    """How often a part of a search occurs in the words of a text: a word, a beginning with *, or words side by side."""
    if part.endswith("*"):
        return sum(word.startswith(folded(part[:-1])) for word in text)
    part = words(part, regex)
    return sum(text[start : start + len(part)] == part for start in range(len(text)))


def near(first, second, distance, text):
    """How often the first word has the second within a distance."""
    places = [index for index, word in enumerate(text) if word == second]
    return sum(
        any(0 <= abs(place - index) - 1 <= distance for place in places)
        for index, word in enumerate(text) if word == first)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    unpack(folder)
    sys.path.insert(0, str(folder / "files/usr/lib/python3/dist-packages"))
    import regex

    paragraphs = []
    for language in LANGUAGES:
        for page in sorted((folder / "files/usr/share/debian-reference").glob(f"ch*.{language}.html")):
            parser = Paragraphs()
            parser.feed(page.read_text())
            paragraphs += [{"id": 0, "language": language, "text": text} for text in parser.found]
    for index, paragraph in enumerate(paragraphs):
        paragraph["id"] = index + 1
    texts = [words(paragraph["text"], regex) for paragraph in paragraphs]
    for paragraph, text in zip(paragraphs, texts):
        paragraph["words"] = text
    mean = sum(map(len, texts)) / len(texts)

    # A search: its text, the parts that score, and which of their numbers a row needs.
    searches = [
        ("kernel", ["kernel"], lambda n: n[0]),
        ("KERNEL module", ["kernel", "module"], lambda n: n[0] and n[1]),
        ('"shell prompt"', ["shell prompt"], lambda n: n[0]),
        ("grosse", ["grosse"], lambda n: n[0]),
        ("systeme OR réseau", ["systeme", "reseau"], lambda n: n[0] or n[1]),
        ("カーネル", ["カーネル"], lambda n: n[0]),
        ("日本語 OR 内核", ["日本語", "内核"], lambda n: n[0] or n[1]),
        ("encod*", ["encod*"], lambda n: n[0]),
        ("linux -kernel", ["linux"], None),
        ("boot NEAR/3 loader", [], None),
        ("(utf-8 OR unicode) locale", ["utf-8", "unicode", "locale"], lambda n: (n[0] or n[1]) and n[2]),
    ]
    results = []
    for search, parts, condition in searches:
        if search.startswith("boot"):
            counts = [[near("boot", "loader", 3, text)] for text in texts]
            condition = lambda n: n[0]
        elif search.startswith("linux"):
            counts = [[occurrences("linux", text, regex), occurrences("kernel", text, regex)] for text in texts]
            condition = lambda n: n[0] and not n[1]
            scored = 1
        else:
            counts = [[occurrences(part, text, regex) for part in parts] for text in texts]
        scored = 1 if search.startswith("linux") else len(counts[0])
        rarities = []
        for leaf in range(scored):
            count = sum(row[leaf] > 0 for row in counts)
            rarities.append(math.log(1 + (len(texts) - count + 0.5) / (count + 0.5)))
        found = []
        for index, row in enumerate(counts):
            if not condition(row):
                continue
            score = sum(
                rarity * row[leaf] * 2.2 / (row[leaf] + 1.2 * (0.25 + 0.75 * len(texts[index]) / mean))
                for leaf, rarity in enumerate(rarities))
            found.append({"id": index + 1, "score": score})
        found.sort(key=lambda hit: (-hit["score"], hit["id"]))
        results.append({"search": search, "found": found})
        best = paragraphs[found[0]["id"] - 1]["text"] if found else ""
        print(f"{search}: {len(found)} of {len(texts)} paragraphs, first {best[:90]}")
    (folder / "corpus.json").write_text(json.dumps({"paragraphs": paragraphs, "searches": results}, ensure_ascii=False))


main()
