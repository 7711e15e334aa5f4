import DAOCore

extension Command {
    private enum Shell: String, CaseIterable { case bash, zsh, fish }

    static let completion = Command(
        name: "completion", summary: "writes a script that completes the words of this program in a shell",
        parameters: [Parameter(name: "SHELL", help: "bash, zsh or fish")], options: [],
        discussion: """
            bash: add 'source <(dao completion bash)' to ~/.bashrc
            zsh:  dao completion zsh > DIRECTORY/_dao, for a directory of $fpath
            fish: dao completion fish > ~/.config/fish/completions/dao.fish
            """
    ) { arguments in
        guard let shell = Shell(rawValue: arguments.word("SHELL")) else {
            throw UsageError("there is a completion for \(Shell.allCases.map(\.rawValue).joined(separator: ", ")) only")
        }
        switch shell {
        case .bash: try Output.write(bashCompletion)
        case .zsh: try Output.write(zshCompletion)
        case .fish: try Output.write(fishCompletion)
        }
        return 0
    }

    private static let helpOption = Option(name: "help", help: "shows the help of the command")

    private static var bashCompletion: String {
        let cases = Program.commands.map { command in
            let options = (command.options + [helpOption]).map { "--\($0.name)" }.joined(separator: " ")
            return "        \(command.name)) words='\(options)' ;;"
        }
        return """
            _dao() {
                local word=${COMP_WORDS[COMP_CWORD]} words=
                COMPREPLY=()
                if [ "$COMP_CWORD" -eq 1 ]; then
                    COMPREPLY=($(compgen -W '\(Program.commands.map(\.name).joined(separator: " "))' -- "$word"))
                    return
                fi
                case ${COMP_WORDS[1]} in
            \(cases.joined(separator: "\n"))
                esac
                case $word in -*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;; esac
            }
            complete -o default -F _dao dao
            """
    }

    private static var zshCompletion: String {
        let names = Program.commands.map { "        \("\($0.name):\($0.summary)".shellQuoted)" }
        let cases = Program.commands.map { command in
            let options = (command.options + [helpOption]).map { option in
                let help = option.help.replacing("[", with: "\\[").replacing("]", with: "\\]")
                return ("--\(option.name)[\(help)]" + (option.value.map { ":\($0): " } ?? "")).shellQuoted
            }
            return "        \(command.name)) _arguments \(options.joined(separator: " ")) '*:file:_files' ;;"
        }
        return """
            #compdef dao
            _dao() {
                local -a commands
                commands=(
            \(names.joined(separator: "\n"))
                )
                if (( CURRENT == 2 )); then
                    _describe command commands
                    return
                fi
                case $words[2] in
            \(cases.joined(separator: "\n"))
                esac
            }
            if [ "$funcstack[1]" = _dao ]; then _dao "$@"; else compdef _dao dao; fi
            """
    }

    private static var fishCompletion: String {
        Program.commands.map { command in
            let name = "complete -c dao -n __fish_use_subcommand -f -a \(command.name) -d \(command.summary.shellQuoted)"
            let options = (command.options + [helpOption]).map { option in
                "complete -c dao -n '__fish_seen_subcommand_from \(command.name)' -l \(option.name)"
                    + (option.value == nil ? "" : " -r") + " -d \(option.help.shellQuoted)"
            }
            return ([name] + options).joined(separator: "\n")
        }.joined(separator: "\n")
    }
}
