#!/usr/bin/env python3
"""Draws the table of Docs/Performance.md as bars: Docs/bench.svg, and Docs/bench~dark.svg for dark pages.

    Scripts/bench-bars.py            writes both
    Scripts/bench-bars.py --check    fails when they are not those of the table, or rows of README are not in its tables
"""
import pathlib, re, sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "Docs"
THEMES = {
    "bench.svg": dict(text="#1f2328", line="#d1d9e0", one="#59636e", bars=("#0969da", "#1a7f37", "#9a6700")),
    "bench~dark.svg": dict(text="#f0f6fc", line="#3d444d", one="#9198a1", bars=("#4493f8", "#3fb950", "#d29922")),
}
LEFT, UNIT, BAR, GAP, TOP = 300, 50, 11, 12, 60


def tables(path):
    """The tables of a page that begin with 100,000 rows: the cells of the header, and those of the rows."""
    cells = lambda line: [cell.strip() for cell in line.strip("|").split("|")]
    found = re.findall(r"^(\| 100,000 rows.*)\n\|[-|]+\n((?:\|.*\n)+)", path.read_text(), re.M)
    return [(cells(header), [cells(line) for line in rows.splitlines()]) for header, rows in found]


def values(path):
    """The cells of each row, by its name."""
    found = {}
    for _, rows in tables(path):
        for name, *cells in rows:
            found.setdefault(name, []).extend(cells)
    return found


def draw(theme):
    header, rows = tables(DOCS / "Performance.md")[0]
    columns = [name.replace("`", "") for name in header[1:]]
    # Rows with observations are not ratios to a C library.
    rows = [(name, [float(cell) if cell else None for cell in cells]) for name, *cells in rows if "observation" not in name]
    text = lambda x, y, words, extra="": f'<text x="{x}" y="{y}" fill="{theme["text"]}" {extra}>{words}</text>'
    height = TOP + len(rows) * (3 * BAR + GAP) + 6
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {height}" font-family="-apple-system, Segoe UI, sans-serif" '
             f'font-size="12" role="img"><title>Times of swift-dao, divided by those of the C library alone</title>']
    for index, (column, colour) in enumerate(zip(columns, theme["bars"])):
        x = LEFT + index * 145
        parts += [f'<rect x="{x}" y="10" width="11" height="11" rx="2" fill="{colour}"/>', text(x + 16, 20, column)]
    for ratio in range(8):
        x = LEFT + ratio * UNIT
        style = f'stroke="{theme["one"]}" stroke-dasharray="4 3"' if ratio == 1 else f'stroke="{theme["line"]}"'
        parts += [f'<line x1="{x}" y1="{TOP - 8}" x2="{x}" y2="{height}" {style}/>',
                  text(x, TOP - 14, "the C library" if ratio == 1 else f"{ratio}×" if ratio else "0", 'text-anchor="middle"')]
    for number, (name, ratios) in enumerate(rows):
        y = TOP + number * (3 * BAR + GAP)
        parts.append(text(LEFT - 10, y + 1.5 * BAR + 4, name, 'text-anchor="end"'))
        for index, (ratio, colour) in enumerate(zip(ratios, theme["bars"])):
            if ratio is not None:
                parts += [f'<rect x="{LEFT}" y="{y + index * BAR}" width="{ratio * UNIT:.0f}" height="{BAR - 2}" rx="2" fill="{colour}"/>',
                          text(f"{LEFT + ratio * UNIT + 4:.0f}", y + index * BAR + 8, f"{ratio:g}", 'font-size="9"')]
    return "\n".join(parts + ["</svg>\n"])


stale = []
if "--check" in sys.argv:
    measured, shown = values(DOCS / "Performance.md"), values(DOCS.parent / "README.md")
    wrong = [name for name, cells in shown.items() if cells != measured.get(name)]
    if wrong or not shown:
        sys.exit(f"bench-bars: README has other numbers than Docs/Performance.md for: {', '.join(wrong) or 'every row'}")
for name, theme in THEMES.items():
    if "--check" not in sys.argv:
        (DOCS / name).write_text(draw(theme))
    elif not (DOCS / name).exists() or (DOCS / name).read_text() != draw(theme):
        stale.append(name)
if stale:
    sys.exit(f"bench-bars: {', '.join(stale)} differ from the table in Docs/Performance.md; run Scripts/bench-bars.py")
