extension String {
    /// The text with a mark before each of some scalars, as quotes are escaped.
    ///
    /// Compared are Unicode scalars: `'` and a combining accent are one `Character`, which is no `'`, and a quote that is not
    /// escaped ends the text for whoever reads it.
    package func escaping(_ escaped: String, with mark: Unicode.Scalar) -> String {
        var text = UnicodeScalarView()
        for scalar in unicodeScalars {
            if escaped.unicodeScalars.contains(scalar) { text.append(mark) }
            text.append(scalar)
        }
        return String(text)
    }

    /// The text in the quotes of a shell.
    package var shellQuoted: String { "'" + unicodeScalars.map { $0 == "'" ? #"'\''"# : String($0) }.joined() + "'" }
}
