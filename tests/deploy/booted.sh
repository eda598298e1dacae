# Sourced by the tests that need a booted Debian: one that mmdebstrap makes, in systemd-nspawn. It shares the network of this
# machine. Needs root; the working directory is the top of the sources.
# shellcheck shell=bash

# What the tests use there, so that they need no network.
booted_packages=ca-certificates,curl,dbus,libcurl4,libpq5,libprometheus-cpp-core1.0,libsqlite3-0,libstdc++6,nginx,nodejs,openssl,procps,prometheus,sqlite3,systemd,systemd-sysv,zlib1g

# unpack_debian FOLDER: a Debian, and in it /cardea.deb, the package of build/package. Both are made if they do not exist. nginx and
# Prometheus do not start with it: only one of the tests needs them, and their ports are this machine's.
unpack_debian() {
    local system
    system=build/tools/debian.$(cksum <<<"$booted_packages" | cut -d' ' -f1).tar
    mkdir -p build/tools
    if [ ! -e "$system" ]; then
        echo "booted: making a Debian" >&2
        mmdebstrap --quiet --variant=minbase --include="$booted_packages" bookworm build/tools/debian.new.tar
        mv build/tools/debian.new.tar "$system"
    fi
    if ! compgen -G 'build/package/cardea_*.deb' >/dev/null; then
        deploy/package.sh "${CARDEA_BINARIES:-}"
    fi
    tar -xf "$system" -C "$1"
    rm -f "$1"/etc/systemd/system/multi-user.target.wants/{nginx,prometheus}.service
    cp build/package/cardea_*.deb "$1/cardea.deb"
}

# boot_debian FOLDER SECONDS: boots it, and ends it when its program /test.sh has ended, or after that time. The console goes to
# FOLDER/console.
boot_debian() {
    chmod 755 "$1/test.sh"
    cat >"$1/etc/systemd/system/test.service" <<'END'
[Service]
Type=idle
ExecStart=/test.sh
ExecStopPost=/bin/systemctl poweroff
END
    mkdir -p "$1/etc/systemd/system/multi-user.target.wants"
    ln -s ../test.service "$1/etc/systemd/system/multi-user.target.wants/test.service"
    timeout "$2" systemd-nspawn --quiet --boot --register=no --keep-unit --directory="$1" >"$1/console" 2>&1 </dev/null ||
        echo "booted: systemd-nspawn ended with $?" >&2
}
