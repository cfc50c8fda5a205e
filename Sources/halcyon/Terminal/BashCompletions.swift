/// The completions for bash: those of ArgumentParser, with words that end at blanks.
///
/// Bash ends a word at each `:` and `=` too, for paths in lists, and replaces no more than the part behind: no URL could be
/// completed. So the function of ArgumentParser is given whole words, and the part of them that stays is taken off its answers.
enum BashCompletions {
    private static let registration = "complete -o filenames -F _halcyon halcyon"

    /// The script, made of that of ArgumentParser.
    static func script(of generated: String) -> String {
        guard generated.hasSuffix(registration) else { return generated }
        return generated.dropLast(registration.count) + wrapper
    }

    private static let wrapper = #"""
        # Calls _halcyon with words that end at blanks only.
        _halcyon_whole_words() {
            # What bash replaces: of a word at whose end there is one of its breaks, nothing.
            local kept="${COMP_WORDS[COMP_CWORD]//\\/}"
            [[ "${kept}" == [:=]* ]] && kept=''

            local line="${COMP_LINE:0:COMP_POINT}"
            local -a words
            read -a words <<< "${line}"
            [[ "${line}" == *[[:space:]] ]] && words+=('')

            local -a COMP_WORDS=("${words[@]}")
            local -i COMP_CWORD=$((${#words[@]} - 1))
            local word="${words[COMP_CWORD]}"
            _halcyon "${1}" "${word}" "${words[COMP_CWORD - 1]}"

            local stays="${word%"${kept}"}"
            local -i place
            for place in "${!COMPREPLY[@]}"; do
                # A key is no file, whose : would get a backslash.
                [[ "${COMPREPLY[place]}" == *://* ]] && compopt +o filenames 2> /dev/null
                COMPREPLY[place]="${COMPREPLY[place]#"${stays}"}"
            done
        }

        complete -o filenames -F _halcyon_whole_words halcyon
        """#
}
