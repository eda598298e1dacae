// over 400 lines: one table of all keys.
#include "config/schema.hpp"

#include "config/values.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace config {
namespace {

constexpr std::size_t longest_mistyped = 64;  // of a key that can be a typing error

// Near in spelling to a key of ours (`cwd`, `type`, `tls`) and in meaning to another one.
constexpr auto lookalikes = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"cmd", "command"}, {"time", "timeout"}, {"ttl", "ttl"}}
);

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;
constexpr core::duration day = 24h;
constexpr core::duration month = 30 * day;

constexpr duration_setting
card_time(member_of<core::duration> member, core::duration least, core::duration most = month)
{
    return {member, least, most};
}

constexpr duration_setting timeout(member_of<core::duration> member)
{
    return {member, 1ms, day};
}

// The member at the end of a chain, such as of<&settings::cards, &card_settings::ttl>.
template <auto... Chain>
auto& of(settings& s)
{
    return (s.*....*Chain);
}

constexpr auto settings_table = std::to_array<setting>({
    {"listen", address_setting{of<&settings::listen>}, "Where callers connect. Port 0 lets the system choose."},
    {"admin", address_setting{of<&settings::admin>}, "Where metrics and health are served; keep it private."},
    {"admin_programs",
     switch_setting{of<&settings::admin_programs>},
     "Whether agents of the management API may be MCP servers over stdio: whoever reaches `admin` runs any program as "
     "the "
     "gateway's user then. For an `admin` on a loopback address only."},
    {"tls",
     certificate_list_setting{of<&settings::tls>},
     "Serves callers over TLS only. `cert` is a PEM file with the certificate and its chain, `key` one with its key. "
     "Of "
     "several, the first one is for callers that ask for no name or for an unknown one; the others are chosen by "
     "`names`, a list in which `*.` may stand for any first label, or without it by the DNS names in the certificate. "
     "Files that change are read anew."},
    {"admin_tls", certificate_list_setting{of<&settings::admin_tls>}, "The same for `admin`."},
    {"public_url",
     base_url_setting{of<&settings::public_url>},
     "How callers reach the gateway; agent cards say so. Without it: `http://`, or `https://` with `tls`, and the "
     "address of `listen`."},
    {"trusted_proxies",
     network_list_setting{of<&settings::trusted_proxies>},
     "Proxies in front of the gateway whose `X-Forwarded-*` and `Forwarded` are believed and passed on. From anyone "
     "else "
     "they are dropped."},
    {"hosts",
     host_list_setting{of<&settings::hosts>},
     "The names that callers may give in `Host`, without a port; `*` is any. Others get 421. Without it: any name, but "
     "on "
     "a loopback address only the loopback names, the address of `listen` and the host of `public_url`, so that no "
     "page "
     "of another site can reach the gateway through a name of its own (DNS rebinding)."},
    {"workers", count_setting{of<&settings::workers>, 0, 256}, "Threads that carry traffic; 0 is one per core."},
    {"log.level", log_level_setting{of<&settings::log_level>}, "The least severe lines that are written."},
    {"store",
     store_setting{of<&settings::store>},
     "Where agents live that are added through the management API, and the last good card of every A2A agent: in a "
     "SQLite "
     "file, or in memory for as long as the gateway runs. Without it: `cardea/store.db` below `XDG_STATE_HOME`, or "
     "below "
     "`~/.local/state`; should that place be unusable, memory, with a line in the log. A file that is named here has "
     "to "
     "be usable."},

    {"reload.watch",
     switch_setting{of<&settings::reload, &reload_settings::watch>},
     "Whether the configuration is read anew when its file changes, or one that it names (`bearer_file`). Without it: "
     "on SIGHUP and `POST /reload` only."},

    {"mcp.walk",
     duration_setting{of<&settings::mcp, &mcp_settings::walk>, 0s, day},
     "How often the lists of MCP servers that have sessions are walked although they have not said that they changed; "
     "0 is never. Servers "
     "without (since 2026-07-28) say how long their lists hold."},

    {"cards.ttl",
     card_time(of<&settings::cards, &card_settings::ttl>, 1s),
     "How long a card is fresh when the agent does not say."},
    {"cards.min_ttl",
     card_time(of<&settings::cards, &card_settings::min_ttl>, 0s),
     "The least freshness an agent can ask for."},
    {"cards.max_ttl",
     card_time(of<&settings::cards, &card_settings::max_ttl>, 1s),
     "The most freshness an agent can ask for."},
    {"cards.stale_if_error",
     card_time(of<&settings::cards, &card_settings::stale_if_error>, 0s),
     "How much longer a card is served while the agent fails."},
    {"cards.negative_ttl",
     card_time(of<&settings::cards, &card_settings::negative_ttl>, 0s, 1h),
     "How long a failure to fetch a card is remembered."},
    {"cards.shape",
     card_shape_setting{of<&settings::cards, &card_settings::shape>},
     "The generation of the cards that callers are shown, whatever the agents write: `v1` is strictly that of A2A 1.0, "
     "`v0.3` that of 0.3, `hybrid` both in one. `auto`: the one of the caller's `A2A-Version`, and the agent's own if "
     "the "
     "caller names none."},
    {"cards.signatures",
     signature_policy_setting{of<&settings::cards, &card_settings::signatures>},
     "What becomes of the signatures of cards (A2A 1.0 section 8.4). Those of the agents never outlive the rewriting. "
     "`verify`: a fetched card without one that a trusted key made is refused. `sign`: cards of shape 1.0 are served "
     "with a signature of the gateway, whose keys are at `/.well-known/jwks.json`."},
    {"cards.signing_key",
     file_setting{of<&settings::cards, &card_settings::signing_key>, file_kind::signing_key},
     "The key that `sign` signs with: ES256 with a key on P-256, and so on by the kind of the key."},
    {"cards.retired_keys",
     file_setting{of<&settings::cards, &card_settings::retired_keys>, file_kind::key_set},
     "Keys of before, which stay at `/.well-known/jwks.json` while cards that they signed are still about."},
    {"cards.trusted_keys",
     file_setting{of<&settings::cards, &card_settings::trusted_keys>, file_kind::key_set},
     "The keys that `verify` trusts. Read again for each card, so that a key that is taken out is trusted no more."},
    {"cards.key_set_origins",
     origin_list_setting{of<&settings::cards, &card_settings::key_set_origins>},
     "Where the key set that a signature names (`jku`) may be fetched; its keys are trusted then."},
    {"cards.timeout",
     card_time(of<&settings::cards, &card_settings::timeout>, 1ms, 5min),
     "One whole fetch of a card, with all addresses that are tried."},
    {"cards.max_size",
     size_setting{of<&settings::cards, &card_settings::max_size>, kib, 16 * mib},
     "The largest card that is fetched, or made of what an MCP server lists."},
    {"cards.background",
     count_setting{of<&settings::cards, &card_settings::background>, 0, 1000},
     "Cards are fetched before anybody asks, and anew before they are stale, while fewer fetches than this are under "
     "way; 0: "
     "only when somebody asks."},

    {"timeouts.handshake",
     timeout(of<&settings::timeouts, &timeout_settings::handshake>),
     "A caller's TLS handshake, whole."},
    {"timeouts.header", timeout(of<&settings::timeouts, &timeout_settings::header>), "A request's head, whole."},
    {"timeouts.body", timeout(of<&settings::timeouts, &timeout_settings::body>), "A request's body, whole."},
    {"timeouts.body_grace",
     duration_setting{of<&settings::timeouts, &timeout_settings::body_grace>, 0s, day},
     "How far a request's body may fall behind `limits.body_rate`."},
    {"timeouts.idle",
     timeout(of<&settings::timeouts, &timeout_settings::idle>),
     "A kept connection between two requests."},
    {"timeouts.write",
     timeout(of<&settings::timeouts, &timeout_settings::write>),
     "A caller that takes nothing of its answer."},
    {"timeouts.connect",
     timeout(of<&settings::timeouts, &timeout_settings::connect>),
     "Name resolution, TCP and TLS to an agent."},
    {"timeouts.upstream_head",
     timeout(of<&settings::timeouts, &timeout_settings::upstream_head>),
     "From a request sent to an agent to the head of its answer."},
    {"timeouts.upstream_idle",
     timeout(of<&settings::timeouts, &timeout_settings::upstream_idle>),
     "Between two pieces of an agent's answer."},
    {"timeouts.stream_keep_alive",
     duration_setting{of<&settings::timeouts, &timeout_settings::stream_keep_alive>, 0s, day},
     "A caller of an event stream that hears nothing for so long gets a comment, between two events; 0 is never."},
    {"timeouts.upstream_keep",
     timeout(of<&settings::timeouts, &timeout_settings::upstream_keep>),
     "An unused connection to an agent."},
    {"timeouts.linger",
     timeout(of<&settings::timeouts, &timeout_settings::linger>),
     "After an answer to a request that is still being sent, for what comes of it: it is read and dropped, so that the "
     "caller sees the answer. Half a second in which nothing comes ends it, too."},
    {"timeouts.drain",
     duration_setting{of<&settings::timeouts, &timeout_settings::drain>, 0s, day},
     "Calls in flight when the gateway is told to stop."},
    {"timeouts.drain_streams",
     duration_setting{of<&settings::timeouts, &timeout_settings::drain_streams>, 0s, day},
     "Streams in flight when the gateway is told to stop."},

    {"limits.body",
     size_setting{of<&settings::limits, &limit_settings::body>, kib, gib},
     "A request's body; beyond it 413."},
    {"limits.body_memory",
     size_setting{of<&settings::limits, &limit_settings::body_memory>, kib, 1024 * gib},
     "All bodies together that the process holds: of requests, and of answers that it edits. What has come counts, and "
     "not what is announced. Beyond it 503."},
    {"limits.linger_bytes",
     size_setting{of<&settings::limits, &limit_settings::linger_bytes>, kib, gib},
     "What is read and dropped on a connection for `timeouts.linger`; beyond it the connection closes."},
    {"limits.lingering",
     count_setting{of<&settings::limits, &limit_settings::lingering>, 0, 1'000'000},
     "Connections at a time for which `timeouts.linger` holds; others close at once."},
    {"limits.stream_body",
     size_setting{of<&settings::limits, &limit_settings::stream_body>, kib, 1024 * gib},
     "A request's body on one of an agent's `relay_paths`, passed through as it comes; beyond it 413."},
    {"limits.header",
     size_setting{of<&settings::limits, &limit_settings::header>, kib, mib},
     "A request's head; beyond it 431."},
    {"limits.header_fields",
     count_setting{of<&settings::limits, &limit_settings::header_fields>, 10, 1000},
     "The fields of a request's head; beyond it 431."},
    {"limits.header_value",
     size_setting{of<&settings::limits, &limit_settings::header_value>, 64, mib},
     "The value of one field of a request's head; beyond it 431."},
    {"limits.target",
     size_setting{of<&settings::limits, &limit_settings::target>, 64, 64 * kib},
     "A request's target, less than `limits.header`; beyond it 414."},
    {"limits.sse_event",
     size_setting{of<&settings::limits, &limit_settings::sse_event>, kib, gib},
     "One event of a stream that an agent answers with; beyond it the stream is cut."},
    {"limits.upstream_header",
     size_setting{of<&settings::limits, &limit_settings::upstream_header>, kib, mib},
     "The head of an agent's answer; beyond it 502."},
    {"limits.upstream_connections",
     count_setting{of<&settings::limits, &limit_settings::upstream_connections>, 0, 65536},
     "Idle connections that are kept, per agent and worker."},
    {"limits.rpc_batch",
     count_setting{of<&settings::limits, &limit_settings::rpc_batch>, 1, 1000},
     "Calls in one management batch."},
    {"limits.rpc_body",
     size_setting{of<&settings::limits, &limit_settings::rpc_body>, kib, gib},
     "A request's body to `/rpc` on `listen`; beyond it 413. On `admin`, `limits.body` applies."},
    {"limits.rpc_answer",
     size_setting{of<&settings::limits, &limit_settings::rpc_answer>, kib, gib},
     "The results of one management batch; a call whose result does not fit gets the error `too_large`. A page of a "
     "list "
     "ends before it is larger."},
    {"limits.rpc_memory",
     size_setting{of<&settings::limits, &limit_settings::rpc_memory>, kib, 64 * gib},
     "All answers of `/rpc` that are being built or sent; beyond it 503. A quarter is kept for `admin`."},
    {"limits.body_rate",
     size_setting{of<&settings::limits, &limit_settings::body_rate>, 0, gib},
     "Bytes a second of a request's body; one that falls behind by `timeouts.body_grace` while it is waited for gets "
     "408. 0 is any."},
    {"limits.read_ahead",
     size_setting{of<&settings::limits, &limit_settings::read_ahead>, kib, mib},
     "What a caller has sent behind a request that is being answered (pipelined requests); no more of it is read until "
     "then."},
    {"limits.requests",
     count_setting{of<&settings::limits, &limit_settings::requests>, 1, 1'000'000'000},
     "Requests on one connection; the last one's answer closes it."},
    {"limits.streams",
     count_setting{of<&settings::limits, &limit_settings::streams>, 1, 1'000'000},
     "Event streams that are open at a time, per worker; beyond it 503."},
    {"limits.connections",
     count_setting{of<&settings::limits, &limit_settings::connections>, 0, 1'000'000},
     "Callers' connections that are open at a time; beyond it 503, and the connection closes. 0 is 45 % of the "
     "descriptors that the process may have."},
    {"limits.program_starts",
     count_setting{of<&settings::limits, &limit_settings::program_starts>, 0, 1000},
     "Programs of MCP servers that start at a time; the others wait, until one answers or has had a second. 0 is one "
     "for each "
     "core."},
});

template <class... Functions>
struct overloaded : Functions... {
    using Functions::operator()...;
};

// How many insertions, removals, replacements and swaps of neighbours make one of the other.
std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
        std::swap(before_last, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

std::string joined(const std::vector<std::string>& all)
{
    std::string text;
    for (const auto& each : all) {
        text += (text.empty() ? "" : ", ") + each;
    }
    return text;
}

std::string lower(std::string_view text)
{
    std::string out{text};
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    });
    return out;
}

}  // namespace

std::span<const setting> all_settings()
{
    return settings_table;
}

std::string written_as(const setting_type& type)
{
    return std::visit(
        overloaded{
            [](const duration_setting& s) { return "a duration, " + to_text(s.least) + " to " + to_text(s.most); },
            [](const size_setting& s) { return "a size, " + size_text(s.least) + " to " + size_text(s.most); },
            [](const count_setting& s) {
                return "a whole number, " + std::to_string(s.least) + " to " + std::to_string(s.most);
            },
            [](const switch_setting&) { return std::string{"true or false"}; },
            [](const address_setting&) { return std::string{"host:port"}; },
            [](const base_url_setting&) { return std::string{"an http or https URL without query and fragment"}; },
            [](const log_level_setting&) { return std::string{"debug, info, warn, error or off"}; },
            [](const card_shape_setting&) { return std::string{"auto, v1, v0.3 or hybrid"}; },
            [](const signature_policy_setting&) { return std::string{signature_policies}; },
            [](const file_setting& s) { return std::string{meant_by(s.kind)}; },
            [](const origin_list_setting&) { return std::string{origins_meant}; },
            [](const store_setting&) { return std::string{"memory or sqlite:PATH"}; },
            [](const host_list_setting&) { return std::string{"a list of host names or addresses"}; },
            [](const network_list_setting&) { return std::string{"a list of IP addresses or blocks (CIDR)"}; },
            [](const certificate_list_setting&) {
                return std::string{"a map with `cert`, `key` and perhaps `names`, or a list of these"};
            },
        },
        type
    );
}

std::string value_text(const setting_type& type, settings of)
{
    return std::visit(
        overloaded{
            [&](const duration_setting& s) { return to_text(s.member(of)); },
            [&](const size_setting& s) { return size_text(s.member(of)); },
            [&](const count_setting& s) { return std::to_string(s.member(of)); },
            [&](const switch_setting& s) { return std::string{s.member(of) ? "true" : "false"}; },
            [&](const address_setting& s) { return to_text(s.member(of)); },
            [&](const base_url_setting& s) { return s.member(of); },
            [&](const log_level_setting& s) { return std::string{core::name(s.member(of))}; },
            [&](const card_shape_setting& s) { return std::string{core::name(s.member(of))}; },
            [&](const signature_policy_setting& s) { return std::string{core::name(s.member(of))}; },
            [&](const file_setting& s) { return s.member(of); },
            [&](const origin_list_setting& s) { return joined(s.member(of)); },
            [&](const store_setting& s) {
                return s.member(of).empty() ? "sqlite:~/.local/state/cardea/store.db" : s.member(of);
            },
            [&](const host_list_setting& s) { return joined(s.member(of)); },
            [&](const network_list_setting& s) { return joined(s.member(of)); },
            [&](const certificate_list_setting& s) {
                std::vector<std::string> certificates;
                for (const auto& each : s.member(of)) {
                    certificates.push_back(each.cert);
                }
                return joined(certificates);
            },
        },
        type
    );
}

std::string_view nearest_key(std::string_view key, const std::vector<std::string_view>& known)
{
    std::string_view nearest;
    if (key.size() > longest_mistyped) {
        return nearest;
    }
    const auto written = lower(key);
    const auto* const other =
        std::find_if(lookalikes.begin(), lookalikes.end(), [&](const auto& each) { return each.first == written; });
    std::size_t least = std::max<std::size_t>(key.size() / 4, 1);
    for (const auto candidate : known) {
        const auto distance = edit_distance(written, lower(candidate));
        if (other != lookalikes.end() ? candidate == other->second
                                      : distance < least || (distance == least && nearest.empty())) {
            nearest = candidate;
            least = distance;
        }
    }
    return nearest;
}

std::string unknown_key(std::string_view key, const std::vector<std::string_view>& known)
{
    const auto nearest = nearest_key(key, known);
    const auto all = all_settings();
    if (std::any_of(all.begin(), all.end(), [&](const setting& s) {
            return s.path == key && key.find('.') != key.npos;
        })) {
        return "is not a known key; a map `" + std::string{key.substr(0, key.find('.'))} + "` with the key `" +
               std::string{key.substr(key.find('.') + 1)} + "` is meant";
    }
    const auto ending = '.' + std::string{key.substr(0, longest_mistyped)};
    for (const auto& s : all) {
        if (s.path.ends_with(ending)) {
            return "is not a known key here; did you mean `" + std::string{s.path} + "`?";
        }
    }
    if (!nearest.empty()) {
        return "is not a known key; did you mean `" + std::string{nearest} + "`?";
    }
    std::string text = "is not a known key; known here:";
    for (const auto candidate : known) {
        text += (text.ends_with(':') ? " " : ", ") + std::string{candidate};
    }
    return text;
}

}  // namespace config
