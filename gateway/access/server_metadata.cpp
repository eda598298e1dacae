#include "gateway/access/server_metadata.hpp"

#include "config/url.hpp"
#include "core/access.hpp"
#include "core/ascii.hpp"
#include "core/json/json.hpp"
#include "core/url.hpp"
#include "gateway/access/answer_object.hpp"
#include "gateway/model/tls_files.hpp"
#include "gateway/model/well_known.hpp"

#include <algorithm>
#include <utility>

namespace gateway::access {
namespace {

using core::errc;

// Those that are texts and pass, up to `most`.
template <class Pass>
std::vector<std::string> texts_of(const core::json& object, std::string_view name, std::size_t most, Pass passes)
{
    std::vector<std::string> texts;
    const auto* const list = core::member(object, name);
    if (list == nullptr || !list->is_array()) {
        return texts;
    }
    for (const auto& each : *list) {
        const auto* const text = each.get_ptr<const std::string*>();
        if (text != nullptr && passes(*text) && texts.size() < most) {
            texts.push_back(*text);
        }
    }
    return texts;
}

// The address of metadata that the challenge of an answer names; empty: none.
std::string named_by(const core::result<net::fetch_response>& answer)
{
    if (!answer || answer->status != 401) {
        return {};
    }
    for (const auto& [name, value] : answer->headers) {
        if (name == "www-authenticate") {
            if (const auto named = challenge_parameter(value, "resource_metadata"); !named.empty()) {
                return std::string{named};
            }
        }
    }
    return {};
}

}  // namespace

std::string_view challenge_parameter(std::string_view challenge, std::string_view name) noexcept
{
    bool inside = false;  // of quotes
    for (std::size_t at = 0; at < challenge.size(); ++at) {
        if (inside && challenge[at] == '\\') {
            ++at;
            continue;
        }
        inside = inside != (challenge[at] == '"');
        const bool whole = at == 0 || challenge[at - 1] == ' ' || challenge[at - 1] == ',';
        const auto rest = challenge.substr(at);
        if (inside || !whole || rest.size() <= name.size() || rest[name.size()] != '=' ||
            !core::equal_ignoring_case(rest.substr(0, name.size()), name)) {
            continue;
        }
        auto value = rest.substr(name.size() + 1);
        const bool quoted = value.starts_with('"');
        value.remove_prefix(quoted ? 1 : 0);
        const auto end = quoted ? value.find('"') : std::min(value.find_first_of(", "), value.size());
        if (end == value.npos) {
            break;
        }
        value = value.substr(0, end);
        const bool plain = std::ranges::all_of(value, [](char c) { return c == ' ' || core::is_scope({&c, 1}); });
        return plain ? value : std::string_view{};
    }
    return {};
}

std::vector<std::string> metadata_places(const std::string& server, std::string_view named)
{
    std::vector<std::string> places;
    const auto url = core::http_url::parse(server);
    if (!url) {
        return places;
    }
    if (core::origin_of(named) == url->origin()) {
        places.emplace_back(named);
    }
    const auto origin = (url->secure ? "https://" : "http://") + url->authority();
    auto path = url->path.substr(0, url->path.find('?'));
    path.resize(path.find_last_not_of('/') + 1);
    for (const auto& each : {path, std::string{}}) {
        auto place = origin + std::string{model::resource_metadata_path} + each;
        if (std::ranges::find(places, place) == places.end()) {
            places.push_back(std::move(place));
        }
    }
    return places;
}

core::result<server_login> login_in(const core::result<net::fetch_response>& document)
{
    const auto object = answer_object(document, "metadata");
    if (!object) {
        return core::upstream_error(errc::upstream_status, object.error().detail);
    }
    constexpr auto most = server_metadata::most_named;
    server_login login;
    login.authorization_servers = texts_of(*object, "authorization_servers", most, [](const std::string& text) {
        return config::parse_http_url(text, config::query::allowed).has_value();
    });
    login.scopes =
        texts_of(*object, "scopes_supported", 4 * most, [](const std::string& text) { return core::is_scope(text); });
    if (login.authorization_servers.empty()) {
        return core::upstream_error(errc::upstream_protocol, "metadata: it names no authorization server");
    }
    return login;
}

net::fetch_request
server_metadata::request_of(const model::agent_entry& agent, std::string url, core::steady_time until) const
{
    net::fetch_request request;
    request.url = std::move(url);
    request.headers = {{"Accept", "application/json"}};
    request.addresses = agent.addresses;
    request.tls = model::tls_files(agent.record);
    request.proxy = agent.record.proxy;
    request.max_size = longest_document;
    request.timeout = std::max(std::chrono::ceil<core::duration>(until - clock_()), core::duration{1});
    return request;
}

net::task<core::result<server_login>> server_metadata::fetch(const model::agent_entry& agent)
{
    // No message of MCP: whoever asks for a login does so before it reads one.
    const auto until = clock_() + longest_fetch;
    auto question = request_of(agent, agent.record.url, until);
    question.headers.emplace_back("Content-Type", "application/json");
    question.body = "{}";
    question.status_only = true;
    const auto challenge = co_await fetcher_.fetch(std::move(question));
    const auto has_ended = [](const auto& answer) { return !answer && answer.error().code == errc::caller_gone; };
    core::result<server_login> login = core::upstream_error(errc::upstream_status, "metadata: the fetch was given up");
    if (has_ended(challenge)) {
        co_return login;  // and the fetcher with it
    }
    for (auto& place : metadata_places(agent.record.url, named_by(challenge))) {
        auto request = request_of(agent, std::move(place), until);
        const auto document = co_await fetcher_.fetch(std::move(request));
        login = login_in(document);
        if (login || has_ended(document)) {
            break;
        }
    }
    co_return login;
}

net::task<core::result<server_login>> server_metadata::find(std::shared_ptr<const model::agent_entry> agent)
{
    if (servers_.size() >= most_servers) {
        servers_.clear();
    }
    auto& slot = servers_[agent->record.id + '\n' + agent->record.url];
    if (slot == nullptr) {
        slot = std::make_shared<server>();
    }
    const auto known = slot;
    if (known->asked) {
        co_await known->waiting.wait();
    } else if (!known->login || clock_() >= known->until) {
        known->asked = true;
        auto login = co_await fetch(*agent);
        known->asked = false;
        known->until = clock_() + (login ? kept : failure_kept);
        known->login = std::move(login);
        known->waiting.wake();
    }
    co_return known->login.value_or(core::gateway_error(errc::internal, "metadata: nobody has fetched it"));
}

}  // namespace gateway::access
