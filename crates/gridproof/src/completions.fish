
# `cargo NAME …`: the words behind NAME are completed as those of cargo-NAME.
function __cargo_NAME_within_cargo
    set -l words (commandline -opc)
    complete -C (string join ' ' -- cargo-NAME (string escape -- $words[3..-1]) (commandline -ct))
end
complete -c cargo -n 'set -l words (commandline -opc); test (count $words) -ge 2; and test "$words[2]" = NAME' -f -a '(__cargo_NAME_within_cargo)'
