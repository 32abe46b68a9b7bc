
# `cargo NAME …`: hands the words behind NAME to the completion of cargo-NAME, and all others to that of cargo.
if ! declare -F _cargo-NAME_within_cargo >/dev/null; then
    # Completions of bash-completion are loaded when first used; once ours is there, cargo's would never be.
    if declare -F _comp_load >/dev/null; then _comp_load cargo
    elif declare -F _completion_loader >/dev/null; then _completion_loader cargo
    fi 2>/dev/null
    _cargo_NAME_before=$(complete -p cargo 2>/dev/null | sed -n 's/.* -F \([^ ]*\) .*/\1/p')
fi
_cargo_NAME_own=$(complete -p cargo-NAME | sed -n 's/.* -F \([^ ]*\) .*/\1/p')
_cargo-NAME_within_cargo() {
    local at=1
    [[ ${COMP_WORDS[1]} == +* ]] && at=2 # the toolchain, as in cargo +nightly NAME
    if [[ ${COMP_WORDS[at]} == NAME && $COMP_CWORD -gt $at ]]; then
        COMP_WORDS=(cargo-NAME "${COMP_WORDS[@]:at+1}")
        COMP_CWORD=$((COMP_CWORD - at))
        "$_cargo_NAME_own" cargo-NAME "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
    elif [[ -n $_cargo_NAME_before ]]; then
        "$_cargo_NAME_before" "$@"
    elif [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY=($(compgen -W "NAME" -- "$2"))
    fi
}
complete -o bashdefault -o default -F _cargo-NAME_within_cargo cargo
