# Input: all .hpp and .cpp files. Counts for each class, by namespace: the lines of its declaration and of its members'
# definitions. A definition begins at the margin and ends with a brace there (.clang-format: AfterFunction).
# A class that a .cpp file declares is that file's own.
function qualified(name) { return ((FILENAME, name) in own ? FILENAME ":" : "") space "::" name }
function count(name, lines) { total[name] += lines }
FNR == 1 { space = ""; open = ""; head = "" }
/^namespace [a-z0-9_:]+ \{/ { space = $2 }
/^namespace \{/ { next }
open != "" {
    if ($0 ~ /^\}/) {
        count(open, FNR - start + 1)
        if (definition && !((open, FILENAME) in seen)) { seen[open, FILENAME] = 1; files[open]++; where[open] = where[open] " " FILENAME }
        open = ""; head = ""
    }
    next
}
/^(template|class|struct) .*[^;]$/ && match($0, /(class|struct) [a-z0-9_:]+/) && $0 !~ /\(/ {
    name = substr($0, RSTART, RLENGTH); sub(/^(class|struct) /, "", name)
    if (FILENAME ~ /\.cpp$/) own[FILENAME, name] = 1
    open = qualified(name); start = FNR; definition = 0
    if ($0 ~ /\};$/) open = ""
    next
}
/^\{$/ {
    signature = head; sub(/\(.*/, "", signature)
    n = split(signature, words, " "); m = split(words[n], parts, "::")
    if (m >= 2 && parts[m - 1] ~ /^[*&]*[a-z0-9_]+$/) { name = words[n]; sub(/::[^:]*$/, "", name); sub(/^[*&]+/, "", name); open = qualified(name); start = head_at; definition = 1 }
    else { open = "-"; start = FNR; definition = 0 }
    next
}
/^[^ }#\/]/ { if (head == "") head_at = FNR; head = head " " $0; if ($0 ~ /;$/) head = ""; next }
/^$/ { head = "" }
head != "" { head = head " " $0 }
END {
    for (name in total) if (name != "-") {
        if (total[name] > limit + 0) printf "%s: a class of %d lines, over %d (%s)\n", name, total[name], limit, where[name]
        if (files[name] > 1) printf "%s: one class in several files:%s\n", name, where[name]
    }
}
