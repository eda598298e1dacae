#include "core/ip.hpp"
#include "store/postgres.hpp"
#include "store/postgres_connector.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>

namespace store {
namespace {

using core::errc;

constexpr std::string_view system_authorities = "/etc/ssl/certs/ca-certificates.crt";

struct added_option {
    const char* name;
    const char* variable;  // of libpq's environment, which counts too
    const char* value;
};

constexpr auto added_options = std::to_array<added_option>({
    {"gssencmode", "PGGSSENCMODE", "disable"},
    {"keepalives_idle", "", "5"},
    {"keepalives_interval", "", "2"},
    {"keepalives_count", "", "3"},
    {"tcp_user_timeout", "", "5000"},
    {"connect_timeout", "PGCONNECT_TIMEOUT", "2"},
    {"fallback_application_name", "", "cardea"},
    {"client_encoding", "", "UTF8"},
});

using options_by_name = std::map<std::string, std::string, std::less<>>;

core::result<options_by_name> parse(const std::string& url)
{
    char* complaint = nullptr;
    const std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)> all{
        PQconninfoParse(url.c_str(), &complaint),
        &PQconninfoFree
    };
    if (all == nullptr) {
        std::string why{complaint == nullptr ? "out of memory" : complaint};
        PQfreemem(complaint);
        why.erase(why.find_last_not_of('\n') + 1);
        return core::gateway_error(errc::config_invalid, std::move(why));
    }
    options_by_name found;
    for (const auto* each = all.get(); each->keyword != nullptr; ++each) {
        if (each->val != nullptr) {
            found.emplace(each->keyword, each->val);
        }
    }
    return found;
}

std::vector<std::string> list_of(std::string_view text)
{
    std::vector<std::string> all;
    for (;;) {
        const auto comma = text.find(',');
        all.emplace_back(text.substr(0, comma));
        if (comma == std::string_view::npos) {
            return all;
        }
        text.remove_prefix(comma + 1);
    }
}

// Empty: libpq's default, a Unix socket.
bool is_here(std::string_view host)
{
    return host.empty() || host.starts_with('/') || host.starts_with('@') || host == "localhost" ||
           (host.starts_with("127.") && core::parse_ip(host)) || host == "::1";
}

std::string of(const options_by_name& options, std::string_view name, const char* variable)
{
    const auto found = options.find(name);
    if (found != options.end()) {
        return found->second;
    }
    const auto* set = *variable == '\0' ? nullptr : std::getenv(variable);
    return set == nullptr ? std::string{} : std::string{set};
}

core::duration timeout_in(const std::string& seconds)
{
    int count = 2;
    std::from_chars(seconds.data(), seconds.data() + seconds.size(), count);
    return std::chrono::seconds{std::clamp(count, 1, 60)};
}

}  // namespace

bool names_postgres(std::string_view store) noexcept
{
    return store.starts_with("postgresql://") || store.starts_with("postgres://");
}

core::result<pg_target> read_target(const postgres_options& from)
{
    auto parsed = parse(from.url);
    if (!parsed) {
        return std::move(parsed).error();
    }
    auto& options = *parsed;
    if (!of(options, "service", "PGSERVICE").empty()) {
        return core::gateway_error(
            errc::config_invalid,
            "names a service of libpq (PGSERVICE); expected the host in the URL"
        );
    }
    for (const auto& each : added_options) {
        if (of(options, each.name, each.variable).empty()) {
            options.insert_or_assign(each.name, each.value);
        }
    }
    pg_target target;
    target.password_file = from.password_file;
    target.connect_timeout = timeout_in(of(options, "connect_timeout", "PGCONNECT_TIMEOUT"));
    const auto hosts = list_of(of(options, "host", "PGHOST"));
    const auto addresses = list_of(of(options, "hostaddr", "PGHOSTADDR"));
    const auto ports = list_of(of(options, "port", "PGPORT"));
    const auto count = std::max(hosts.size(), addresses.size());
    const auto nth = [](const std::vector<std::string>& list, std::size_t n) {
        return n < list.size() ? list[n] : list.size() == 1 ? list[0] : std::string{};
    };
    const auto mode = of(options, "sslmode", "PGSSLMODE");
    for (std::size_t i = 0; i < count; ++i) {
        auto one = options;
        one.insert_or_assign("host", nth(hosts, i));
        one.insert_or_assign("hostaddr", nth(addresses, i));
        one.insert_or_assign("port", nth(ports, i));
        if (count > 1) {
            one.emplace("target_session_attrs", "read-write");
        }
        const bool here = is_here(nth(hosts, i)) && is_here(nth(addresses, i));
        if (!here && mode.empty()) {
            one.insert_or_assign("sslmode", "verify-full");
        }
        if (!here && (mode.empty() || mode == "verify-full" || mode == "verify-ca") &&
            of(options, "sslrootcert", "PGSSLROOTCERT").empty()) {
            one.insert_or_assign("sslrootcert", system_authorities);
        }
        if (!here && !mode.empty() && mode != "verify-full") {
            target.unverified = mode;
        }
        target.hosts.emplace_back(one.begin(), one.end());
    }
    return target;
}

}  // namespace store
