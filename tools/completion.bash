# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# completion.bash: what tools/manual makes the completion of. It replaces the lines COMMANDS and VALUES by cases.
_sigreqctl_values() { # sets value=1, and words or values, if an option has a value
    case $1 in
        # VALUES
    esac
}

_sigreqctl() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command='' words='' values='' value='' i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} != -* ]] || break
        [[ -z $command || $command != *' '* ]] || break
        command+=${command:+ }${COMP_WORDS[i]}
    done
    _sigreqctl_values "$before"
    if [[ -z $value ]]; then
        _sigreqctl_words "$command"
        [[ -n $words ]] || _sigreqctl_words "${command%% *}" # the second word is a value
    fi
    case $values in
        files) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
        folders) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
        text) ;;
        *) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
    esac
    if [[ $values == files || $values == folders ]]; then compopt -o filenames 2>/dev/null || true; fi
}

_sigreqctl_words() {
    case $1 in
        # COMMANDS
    esac
}
complete -F _sigreqctl sigreqctl
