#!/usr/bin/env python3
"""Writes CSV files and what Python's csv reads from them with strict=True: a JSON object in each line.

    Scripts/csv-cells.py COUNT SEED

`file` is the file in Base64, `delimiter` its delimiter, `rows` its records without empty lines; null where Python refuses the file.
The first files are those of csv-spectrum (github.com/maxogden/csv-spectrum) in kind, the others are generated.
"""
import base64, csv, io, json, random, sys

SPECTRUM = {
    "comma_in_quotes": 'name,place\nAda,"London, England"\n', "empty": 'a,b,c\n1,"",""\n2,3,4', "empty_crlf": 'a,b,c\r\n1,"",""\r\n2,3,4',
    "escaped_quotes": 'a,b\n1,"so ""quoted"" it is"\n3,4\n', "json": 'key,val\n1,"{""type"": ""Point"", ""at"": [102.0, 0.5]}"\n',
    "newlines": 'a,b,c\n1,2,3\n"One line \nand the next",5,6\n7,8,9\n',
    "newlines_crlf": 'a,b,c\r\n1,2,3\r\n"One line \r\nand the next",5,6\r\n7,8,9\r\n',
    "quotes_and_newlines": 'a,b\n1,"so \n""quoted"" \nit is"\n3,4\n', "simple": "a,b,c\n1,2,3\n", "simple_crlf": "a,b,c\r\n1,2,3\r\n",
    "utf8": "a,b,c\n1,2,3\n4,5,ʤ\n",
}
# What people have beside them.
OTHERS = ["", "\n", "\r", "a", "\ufeffa,b\r1,2\r", '\ufeff"a",b\n', 'id,name\n1,5" screen\n2,x\n', 'a\n"x"y\n', 'a\n"x\n', 'a\n"x""\n', "a,b\n1,\n,\n",
          'a,"b', '"', '""', ',', '"a"\r\r\n"b"', "a\r\r\nb", "\u2028,\x0b,\x85\n\x0c,\x1c\n"]


def read(data, delimiter):
    try:
        text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
        return [row for row in csv.reader(text, strict=True, delimiter=delimiter) if row]
    except (csv.Error, UnicodeDecodeError):
        return None


def written(random, delimiter):
    """A file as a program writes it."""
    parts = ["a", "1", " ", '"', delimiter, "\n", "\r", "\r\n", "é", "😀", "\u2028", "'", "\\", ""]
    rows = [["".join(random.choices(parts, k=random.randrange(5))) for _ in range(random.randrange(1, 5))] for _ in range(random.randrange(5))]
    text = io.StringIO(newline="")
    quoting = random.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=random.choice(["\n", "\r\n", "\r"])).writerows(rows)
    return text.getvalue()


def generated(random, delimiter):
    """Any text, in which what matters is frequent."""
    parts = ['"', '"', '""', delimiter, delimiter, "\n", "\r", "\r\n", "a", "bc", " ", "\t", ",", ";", "é", "\u2028", "\x0b", "\x85", "\ufeff"]
    return "".join(random.choices(parts, k=random.randrange(1, 24)))


def main():
    csv.field_size_limit(sys.maxsize)
    count, generator = int(sys.argv[1]), random.Random(int(sys.argv[2]))
    files = [(text.encode(), ",") for text in [*SPECTRUM.values(), *OTHERS]]
    while len(files) < count:
        delimiter = generator.choice(",,,;\t|")
        make = generator.choice([written, generated, generated])
        data = (generator.choice(["", "", "\ufeff"]) + make(generator, delimiter)).encode()
        if generator.random() < 0.02:
            place = generator.randrange(len(data) + 1)
            data = data[:place] + bytes([generator.choice([0x80, 0xE9, 0xFF, 0xC0])]) + data[place:]
        files.append((data, delimiter))
    for data, delimiter in files:
        print(json.dumps({"file": base64.b64encode(data).decode(), "delimiter": delimiter, "rows": read(data, delimiter)}))


main()
