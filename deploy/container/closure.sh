#!/bin/sh
# closure.sh FOLDER PROGRAM PATH: makes FOLDER the root of an image: the program at PATH, every library that it loads, the
# certificates of authorities, and the user 65532. Nothing in it is writable but /var/lib/cardea.
set -eu

folder=$1
program=$2
path=$3

mkdir -p "$folder/usr/lib" "$folder/usr/lib64" "$folder/etc/ssl/certs" "$folder/etc/cardea"
ln -s usr/lib "$folder/lib"
ln -s usr/lib64 "$folder/lib64"
install -D -m 755 "$program" "$folder$path"

# Lines `name => /path (address)`, and `/path (address)` for the loader.
ldd "$program" | sed -nE 's/^[[:space:]]*(.* => )?(\/[^ ]+) \(0x.*/\2/p' | while read -r library; do
    case $library in
        /usr/*) target=$library ;;
        *) target=/usr$library ;;
    esac
    install -D -m 644 "$library" "$folder$target"
done
chmod 755 "$folder"/usr/lib64/*

cp /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/ca-certificates.crt"
echo 'cardea:x:65532:65532::/var/lib/cardea:/nonexistent' >"$folder/etc/passwd"
echo 'cardea:x:65532:' >"$folder/etc/group"
echo 'hosts: files dns' >"$folder/etc/nsswitch.conf"
install -d -m 700 -o 65532 -g 65532 "$folder/var/lib/cardea"
