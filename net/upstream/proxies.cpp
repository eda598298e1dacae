#include "net/upstream/proxies.hpp"

#include "core/base64.hpp"
#include "net/upstream/own_listeners.hpp"

#include <cstdlib>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

namespace net {
namespace {

struct process_proxies {
    std::mutex mutex;  // held for a copy, when a target is made or a request of the gateway's own begins
    core::proxy_rules usual;
    core::proxy_rules of_environment;
};

// Never destroyed: a thread may still connect while the process exits.
process_proxies& proxies_of_process()
{
    static auto& made = *new process_proxies;  // NOLINT(cppcoreguidelines-owning-memory)
    return made;
}

std::optional<std::string> variable(std::string_view name)
{
    const auto* const value = std::getenv(std::string{name}.c_str());  // NOLINT(concurrency-mt-unsafe): nobody sets it
    return value == nullptr ? std::nullopt : std::optional<std::string>{value};
}

core::result<std::shared_ptr<const proxy>> made_of(const core::secret& url)
{
    auto at = core::proxy_address::parse(url.reveal());
    if (!at) {
        return core::gateway_error(at.error().code, "the proxy " + at.error().detail);
    }
    proxy made{.at = std::move(*at), .field = {}, .key = {}};
    made.key = made.at.host + ' ' + made.at.port;
    if (const auto& user = made.at.user.reveal(); !user.empty()) {
        made.field = "Proxy-Authorization: Basic " + core::base64(user) + "\r\n";
        made.key += ' ' + std::to_string(std::hash<std::string>{}(user));
    }
    return std::make_shared<const proxy>(std::move(made));
}

core::proxy_rules rules_for(const core::secret& text, const core::proxy_rules& of_environment)
{
    if (text.reveal() == core::proxy_of_environment) {
        return of_environment;
    }
    return text.reveal() == core::proxy_none ? core::proxy_rules{} : core::proxy_rules{text, text, {}};
}

}  // namespace

core::result<> use_proxies(const core::secret& text, std::vector<std::string> direct)
{
    const auto environment = core::proxy_rules::of_environment(variable);
    auto usual = rules_for(text, environment);
    for (const auto* each : {&usual.http, &usual.https}) {
        if (!each->empty()) {
            if (auto made = made_of(*each); !made) {
                return std::move(made).error();
            }
        }
    }
    usual.direct.insert(usual.direct.end(), direct.begin(), direct.end());
    const std::lock_guard guard{proxies_of_process().mutex};
    proxies_of_process().usual = std::move(usual);
    proxies_of_process().of_environment = environment;
    return {};
}

core::result<std::shared_ptr<const proxy>> proxy_to(const core::http_url& url, const core::secret& own)
{
    core::proxy_rules rules;
    {
        const std::lock_guard guard{proxies_of_process().mutex};
        rules = own.empty() ? proxies_of_process().usual : rules_for(own, proxies_of_process().of_environment);
    }
    const auto& text = url.secure ? rules.https : rules.http;
    if (text.empty() || core::is_own_machine(url.host) || core::is_direct(rules.direct, url)) {
        return nullptr;
    }
    return made_of(text);
}

bool may_ask_for(const core::address_rule* rule, std::string_view host, std::string_view port)
{
    if (rule == nullptr) {
        return true;
    }
    if (const auto address = core::address_in(host)) {
        return rule->allows(*address) && !is_own_listener(*address, port);
    }
    return core::is_plain_name(host);
}

}  // namespace net
