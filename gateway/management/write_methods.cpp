#include "gateway/management/write_methods.hpp"

#include "config/json_value.hpp"
#include "config/schema.hpp"
#include "core/agent.hpp"
#include "core/ascii.hpp"
#include "core/error.hpp"
#include "gateway/management/answer_builder.hpp"
#include "gateway/management/json_records.hpp"
#include "gateway/model/snapshot.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace gateway::management {
namespace {

using core::json;

constexpr std::size_t longest_id = 128;

// "http://Host:1/path" is at "http://host:1". A port that is the scheme's own and one that is not said are different: then
// too little is kept, never too much.
std::string origin_of(std::string_view url)
{
    const auto scheme = url.find("://");
    if (scheme == std::string_view::npos) {
        return {};
    }
    return core::in_lower_case(url.substr(0, url.find_first_of("/?#", scheme + 3)));
}

// Characters that an id cannot hold become one hyphen.
std::string id_of(std::string_view name)
{
    std::string out;
    for (const char c : name) {
        const bool dot_again = c == '.' && out.ends_with('.');
        if (core::valid_agent_id(std::string_view{&c, 1}) || (c == '.' && !dot_again)) {
            out += c;
        } else if (!out.ends_with('-')) {
            out += '-';
        }
    }
    out.resize(std::min(out.size(), longest_id));
    return std::string{core::trim(out, "-.")};
}

bool at_the_same_origins(const registration& asked, const json& stored)
{
    const auto url = core::text_member(stored, "url");
    const auto card_url = core::text_member(stored, "card_url");
    const auto card_origin = [](const std::string& card, const std::string& agent) {
        return origin_of(card.empty() ? agent : card);
    };
    return !url.empty() && origin_of(url) == origin_of(asked.url) &&
           card_origin(card_url, url) == card_origin(asked.card_url, asked.url);
}

void set_text(json& object, const char* key, const std::string& text)
{
    if (text.empty()) {
        object.erase(key);
    } else {
        object[key] = text;
    }
}

// Restrictions that an operator has written stay wherever the agent moves; its credentials and what it may show do not.
json restrictions_of(const json& stored)
{
    json kept = json::object();
    for (const auto* key :
         {"disabled", "discover", "call", "skills", "extended_card", "signatures", "trusted_keys", "key_set_origins"}) {
        if (const auto* value = core::member(stored, key)) {
            kept[key] = *value;
        }
    }
    return kept;
}

}  // namespace

registration read_registration(const json& body)
{
    registration out;
    const auto refuse = [&](const char* key, const char* predicate) {
        out.problems.push_back({{}, 1, 1, key, predicate});
    };
    const auto text = [&](const char* key, bool required) {
        const auto* value = core::member(body, key);
        const bool absent = value == nullptr || value->is_null();
        const auto* given = core::string_member(body, key);
        if (absent ? required : given == nullptr || (required && given->empty())) {
            refuse(
                key,
                absent  ? "is missing; expected text"
                : given ? "is empty; expected text"
                        : "is no text; expected text"
            );
        }
        return given == nullptr ? std::string{} : *given;
    };
    if (!body.is_object()) {
        refuse("body", "is no object; expected agent_url, name, version, agent_card_url and description");
        return out;
    }
    out.url = text("agent_url", /*required=*/true);
    out.name = text("name", /*required=*/true);
    out.version = text("version", /*required=*/false);
    out.card_url = text("agent_card_url", /*required=*/false);
    out.description = text("description", /*required=*/false);
    out.id = id_of(out.name);
    if (out.id.empty() && !out.name.empty()) {
        refuse("name", "has nothing that an id can be made of; expected letters or digits");
    }
    return out;
}

bool may_replace(const model::registrant& by, const json& stored)
{
    const auto* registered = core::member(stored, "registered");
    const bool is_registered = registered != nullptr && registered->is_boolean() && registered->get<bool>();
    return by.operates || (is_registered && core::text_member(stored, "registered_by") == by.owns_as);
}

json definition_of(const registration& asked, const json& stored, const model::registrant& by)
{
    json out = at_the_same_origins(asked, stored) ? stored : restrictions_of(stored);
    out["url"] = asked.url;
    if (!by.operates) {
        out["registered"] = true;
        set_text(out, "registered_by", by.owns_as);
    }
    set_text(out, "card_url", asked.card_url);
    set_text(out, "version", asked.version);
    auto& metadata = out["metadata"];
    if (!metadata.is_object()) {
        metadata = json::object();
    }
    metadata["name"] = asked.name;
    set_text(metadata, "description", asked.description);
    return out;
}

std::string registered_key(std::string_view key)
{
    constexpr std::string_view prefix = "agent.";
    key.remove_prefix(key.starts_with(prefix) ? prefix.size() : 0);
    if (key == "url" || key == "card_url") {
        return std::string{prefix.substr(0, prefix.size() - 1)} + "_" + std::string{key};
    }
    return std::string{key};
}

namespace {

using core::errc;
using core::json;

constexpr std::uint64_t most_changes = 1000;

config::problem problem_of(std::string key, std::string wording)
{
    return {{}, 1, 1, std::move(key), std::move(wording)};
}

constexpr auto names_key = "agent.hosts";

// Another replica has given one of the names to another agent, which is not here yet.
bool is_about_names(const core::error& why) noexcept
{
    return why.code == errc::invalid_params;
}

bool whole_number(const json& value)
{
    return value.is_number_unsigned() || (value.is_number_integer() && value >= 0);
}

// Reports keys that `known` does not have. Positional parameters have no keys.
void check_keys(const json& params, const std::vector<std::string_view>& known, std::vector<config::problem>& problems)
{
    for (const auto& [key, value] : params.items()) {
        if (params.is_object() && std::find(known.begin(), known.end(), key) == known.end()) {
            problems.push_back(problem_of(config::shown_key(key), config::unknown_key(key, known)));
        }
    }
}

std::optional<std::uint64_t> read_number(const json& params, const char* key, std::vector<config::problem>& problems)
{
    const auto* value = core::member(params, key);
    if (value == nullptr || value->is_null()) {
        return std::nullopt;
    }
    if (!whole_number(*value)) {
        problems.push_back(problem_of(key, "expected a whole number, 0 or greater"));
        return std::nullopt;
    }
    return value->get<std::uint64_t>();
}

store::author author_of(const rpc_caller& caller, std::optional<std::uint64_t> if_version)
{
    return {caller.who, std::chrono::system_clock::now(), if_version};
}

struct upsert_params {
    std::string id;
    json definition = json::object();
    std::optional<std::uint64_t> if_version;
    std::vector<config::problem> problems;
};

// `{id, agent: {…}, ifVersion}`; the id may stand in the agent instead.
upsert_params read_upsert(const json& params)
{
    upsert_params out;
    check_keys(params, {"id", "agentId", "name", "agent", "ifVersion"}, out.problems);
    out.if_version = read_number(params, "ifVersion", out.problems);
    out.id = agent_parameter(params);
    const auto* agent = core::member(params, "agent");
    if (agent == nullptr || !agent->is_object()) {
        out.problems.push_back(problem_of(
            "agent",
            std::string{agent == nullptr ? "is missing" : "is no object"} + "; expected a map of the agent's settings"
        ));
        return out;
    }
    for (const auto& [key, value] : agent->items()) {
        if (key != "id") {
            config::append_member(out.definition, key, value);
        } else if (!value.is_string() || (!out.id.empty() && value != out.id)) {
            out.problems.push_back(problem_of("agent.id", "is not the id; expected the same id"));
        } else {
            out.id = value.get<std::string>();
        }
    }
    if (out.id.empty()) {
        out.problems.push_back(problem_of("id", "is missing; expected the agent's id"));
    }
    return out;
}

// The answer of AgentUp's own placeholder of an orchestrator, with parts of agents/upsert's.
json accepted(const registration& asked, std::uint64_t version, bool changed, bool durable)
{
    return {
        {"status", "accepted"},
        {"message", "The agent is registered as '" + asked.id + "'."},
        {"timestamp", shown_time(std::chrono::system_clock::now())},
        {"id", asked.id},
        {"version", version},
        {"changed", changed},
        {"durable", durable}
    };
}

}  // namespace

write_methods::write_methods(registry& agents, cards::card_plane& cards, const read_methods& reads)
    : registry_{agents},
      cards_{cards},
      reads_{reads}
{
}

std::string write_methods::refuse_write(const core::rpc_request& request, const std::string& id, const core::error& why)
    const
{
    json data{{"agent", id}, {"retryable", core::retryable(why.code)}};
    if (why.code == errc::version_conflict) {
        const auto* there = registry_.find(id);
        data["version"] = there == nullptr ? 0 : there->version;
    }
    return core::make_error(request.id, why.code, data);
}

net::task<rpc_result>
write_methods::upsert(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/)
{
    auto asked = read_upsert(request.params);
    if (!asked.problems.empty()) {
        co_return refuse_params(request, asked.problems);
    }
    auto proposed = registry_.propose(asked.id, asked.definition, "agent");
    if (!proposed.problems.empty()) {
        co_return refuse_params(request, proposed.problems);
    }
    const bool known = registry_.find(asked.id) != nullptr;
    auto by = author_of(caller, asked.if_version);
    const auto version = co_await registry_.upsert(asked.id, std::move(proposed), std::move(by));
    if (!version && is_about_names(version.error())) {
        co_return refuse_params(request, {problem_of(names_key, version.error().detail)});
    }
    if (!version) {
        co_return refuse_write(request, asked.id, version.error());
    }
    fetch_first(asked.id);
    co_await cards_.settled(asked.id);
    json result{{"id", asked.id}, {"version", *version}, {"created", !known}, {"durable", registry_.durable()}};
    auto text = core::make_result(request.id, result);
    if (const auto* there = registry_.find(asked.id)) {
        text.resize(text.size() - model::card_end.size());
        text.append(R"(,"agent":)").append(reads_.record_text(*there, caller)).append(model::card_end);
    }
    co_return text;
}

// The other replicas leave it to this one for a while.
void write_methods::fetch_first(const std::string& id)
{
    if (registry_.is_shared()) {
        cards_.refresh_stale(id);
    }
}

net::task<rpc_result>
write_methods::remove(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/)
{
    std::vector<config::problem> problems;
    check_keys(request.params, {"id", "agentId", "name", "ifVersion"}, problems);
    const auto if_version = read_number(request.params, "ifVersion", problems);
    const auto id = agent_parameter(request.params);
    if (id.empty()) {
        problems.push_back(problem_of("id", "is missing; expected the agent's id"));
    }
    if (!problems.empty()) {
        co_return refuse_params(request, problems);
    }
    auto by = author_of(caller, if_version);
    const auto version = co_await registry_.remove(id, std::move(by));
    if (!version) {
        co_return refuse_write(request, id, version.error());
    }
    co_return core::make_result(
        request.id,
        {{"id", id}, {"version", *version}, {"deleted", true}, {"durable", registry_.durable()}}
    );
}

net::task<rpc_result>
write_methods::reset(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/)
{
    auto [agent, refusal] = find_agent(request, registry_, caller);
    if (agent == nullptr) {
        co_return std::move(refusal);
    }
    const auto& entry = *agent->entry;
    bool was_open = false;
    model::each_breaker(entry, [&](const std::string&, balancing::breaker& each) {
        was_open = each.close() || was_open;
    });
    const json result{{"id", entry.record.id}, {"reset", was_open}};
    co_return core::make_result(request.id, result);
}

net::task<rpc_result>
write_methods::changes(core::rpc_request request, const rpc_caller& /*caller*/, answer_builder& /*answer*/)
{
    std::vector<config::problem> problems;
    check_keys(request.params, {"after", "limit", "fresh"}, problems);
    const auto after = read_number(request.params, "after", problems);
    const auto limit = read_number(request.params, "limit", problems);
    if (!problems.empty()) {
        co_return refuse_params(request, problems);
    }
    const auto most = std::clamp<std::uint64_t>(limit.value_or(100), 1, most_changes);
    const auto found = co_await registry_.changes(after.value_or(0), most);
    if (!found) {
        co_return core::make_error(request.id, found.error().code);
    }
    auto list = json::array();
    for (const auto& each : *found) {
        list.push_back(
            {{"version", each.version},
             {"at", shown_time(each.at)},
             {"by", each.who},
             {"action", store::name(each.what)},
             {"agent", each.agent}}
        );
    }
    co_return core::make_result(request.id, {{"changes", std::move(list)}});
}

net::task<enrolled> write_methods::enroll(std::string body, model::registrant by)
{
    const auto parsed = core::parse_json(body);
    if (!parsed) {
        co_return enrolled{{}, core::caller_error(errc::parse_error), {}};
    }
    auto asked = read_registration(*parsed);
    if (!asked.problems.empty()) {
        co_return enrolled{asked.id, core::caller_error(errc::invalid_params), std::move(asked.problems)};
    }
    const auto* there = registry_.find(asked.id);
    if (there != nullptr && there->declared()) {
        co_return enrolled{asked.id, core::caller_error(errc::agent_read_only), {}};
    }
    const auto stored = co_await registry_.stored(asked.id);
    if (!stored) {
        co_return enrolled{asked.id, stored.error(), {}};
    }
    const auto& record = *stored;
    const auto stored_definition = core::parse_json(record ? record->definition : "null");
    const auto before = stored_definition ? *stored_definition : json{};
    const auto version_before = record ? record->version : 0;
    if (record && !may_replace(by, before)) {
        co_return enrolled{asked.id, core::caller_error(errc::forbidden), {}};
    }
    const auto definition = definition_of(asked, before, by);
    if (definition == before) {
        co_return enrolled{asked.id, accepted(asked, version_before, /*changed=*/false, registry_.durable()), {}};
    }
    auto proposed = registry_.propose(asked.id, definition, "agent");
    if (!proposed.problems.empty()) {
        for (auto& each : proposed.problems) {
            each.key = registered_key(each.key);
        }
        co_return enrolled{asked.id, core::caller_error(errc::invalid_params), std::move(proposed.problems)};
    }
    store::author author{std::move(by.who), std::chrono::system_clock::now(), version_before};
    const auto version = co_await registry_.upsert(asked.id, std::move(proposed), std::move(author));
    if (!version) {
        std::vector<config::problem> problems;
        if (is_about_names(version.error())) {
            problems.push_back(problem_of(registered_key(names_key), version.error().detail));
        }
        co_return enrolled{asked.id, version.error(), std::move(problems)};
    }
    fetch_first(asked.id);
    co_return enrolled{asked.id, accepted(asked, *version, /*changed=*/true, registry_.durable()), {}};
}

}  // namespace gateway::management
