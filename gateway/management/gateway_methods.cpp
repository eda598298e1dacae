#include "gateway/management/gateway_methods.hpp"

#include "core/ascii.hpp"
#include "core/utf8.hpp"
#include "gateway/management/advice.hpp"
#include "gateway/management/json_records.hpp"
#include "gateway/model/version.hpp"
#include "gateway/telemetry/process_stats.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <utility>

namespace gateway::management {
namespace {

using core::json;

constexpr std::chrono::days soon{14};  // an end of a certificate

attention about_gateway(bool critical, std::string subject, std::string why, std::string_view what_to_do)
{
    return {
        .critical = critical,
        .subject = std::move(subject),
        .why = std::move(why),
        .what_to_do = std::string{what_to_do}
    };
}

std::int64_t days_until(core::wall_time end, core::wall_time now)
{
    return std::chrono::floor<std::chrono::days>(end - now).count();
}

void add_certificates(std::vector<attention>& to, const process_facts& facts, core::wall_time now)
{
    for (const auto& each : facts.certificates) {
        const auto days = days_until(each.end, now);
        if (each.end - now < soon) {
            to.push_back(about_gateway(
                each.end <= now,
                each.file,
                each.end <= now ? "The certificate of the listener " + each.listener +
                                      " has expired: callers who verify it cannot connect."
                                : "The certificate of the listener " + each.listener + " expires in " +
                                      std::to_string(days) + (days == 1 ? " day." : " days."),
                "Renew it; the gateway reads the file again by itself."
            ));
        }
    }
}

void add_reload(std::vector<attention>& to, const process_facts::latest_reload& latest)
{
    if (!latest.problems.empty()) {
        std::string why{"The latest configuration was refused: "};
        why.append(core::cut_utf8(latest.problems.front(), 150)) += '.';
        to.push_back(about_gateway(
            true,
            "configuration",
            std::move(why),
            "Correct it, then reload; the gateway runs with the one before."
        ));
    }
    if (!latest.needs_restart.empty()) {
        std::string why{"These settings need a restart: "};
        for (const auto& each : latest.needs_restart) {
            why += (&each == latest.needs_restart.data() ? "" : ", ") + each;
        }
        why = std::string{core::cut_utf8(why, 199)} + '.';
        to.push_back(
            about_gateway(false, "configuration", std::move(why), "Restart the gateway, or hand over to a new process.")
        );
    }
}

// The words of what can be wrong with an agent beside its status.
std::optional<advice> breaker_words(const model::agent_entry& agent)
{
    bool open = false;
    model::each_breaker(agent, [&](const std::string&, const balancing::breaker& each) {
        open = open || each.state() != balancing::breaker_state::closed;
    });
    return open ? std::optional{advice_for(core::errc::circuit_open)} : std::nullopt;
}

json to_json(const attention& what)
{
    json out{
        {"severity", what.critical ? "critical" : "warning"},
        {"subject", what.subject},
        {"why", what.why},
        {"advice", what.what_to_do}
    };
    if (!what.agent.empty()) {
        out["agent"] = what.agent;
    }
    return out;
}

attention held_attention(const registered_agent& agent, std::size_t held)
{
    const auto& id = agent.entry->record.id;
    auto why = std::to_string(held) +
               (held == 1 ? " item of what it says of itself is" : " items of what it says of itself are") +
               " not approved: callers get the approved form, or none.";
    if (agent.entry->held) {
        why = "Nobody has approved the agent: its card and its calls are refused with card_held.";
    }
    return {
        false,
        id,
        std::move(why),
        "Compare with cardea agents pins " + id + " --diff, then approve or mend it.",
        id
    };
}

// The findings of a walk over all agents.
struct agents_found {
    std::array<std::uint64_t, healths.size()> by_status{};
    std::uint64_t in_flight = 0;
    std::vector<attention> critical;
    std::vector<attention> warnings;

    void add(attention what)
    {
        auto& to = what.critical ? critical : warnings;
        if (to.size() < gateway_methods::most_shown) {
            to.push_back(std::move(what));
        }
    }

    void look_at(const registered_agent& agent, const agent_planes& planes)
    {
        const auto& record = agent.entry->record;
        const auto now = std::chrono::steady_clock::now();
        const auto* const card = planes.cards.status(record.id);
        const auto session = record.mcp ? planes.sessions.facts(record.id) : std::nullopt;
        const auto judged = judge(agent, card, session ? &*session : nullptr, planes.calls.facts(record.id, now), now);
        ++by_status[static_cast<std::size_t>(judged.status)];
        in_flight += agent.entry->calls ? agent.entry->calls->in_flight() : 0;
        if (judged.status == health::unhealthy || judged.status == health::degraded) {
            auto words = words_of(judged, card, session ? &*session : nullptr, planes.sessions.complaints(record.id));
            add(
                {judged.status == health::unhealthy,
                 record.id,
                 std::move(words.why),
                 std::move(words.what_to_do),
                 record.id}
            );
        } else if (const auto words = breaker_words(*agent.entry)) {
            add({false, record.id, std::string{words->why}, std::string{words->what_to_do}, record.id});
        }
    }
};

json listeners_of(const process_facts& facts)
{
    auto all = json::array();
    for (const auto& each : facts.listeners) {
        all.push_back({{"name", each.name}, {"address", each.address}, {"tls", each.tls}});
    }
    return all;
}

json certificates_of(const process_facts& facts, core::wall_time now)
{
    auto all = json::array();
    for (const auto& each : facts.certificates) {
        all.push_back({{"listener", each.listener}, {"file", each.file}, {"days", days_until(each.end, now)}});
    }
    return all;
}

json reload_of(const process_facts::latest_reload& latest)
{
    return {
        {"at", shown_time(latest.at)},
        {"trigger", latest.trigger},
        {"outcome", latest.problems.empty() ? "ok" : "refused"},
        {"problems", latest.problems},
        {"needs_restart", latest.needs_restart}
    };
}

json store_of(const process_facts& facts)
{
    const auto* const kind = facts.store_shared ? "postgresql" : facts.store_lasts ? "sqlite" : "memory";
    json out{{"kind", kind}, {"ok", !facts.store_trouble}};
    if (facts.store_trouble) {
        out["failure"] = core::name(*facts.store_trouble);
    }
    return out;
}

json counts_of(const agents_found& found, const process_facts& facts)
{
    json out{{"bundles", facts.bundles}};
    std::uint64_t all = 0;
    for (const auto each : healths) {
        const auto count = found.by_status[static_cast<std::size_t>(each)];
        out[std::string{name(each)}] = count;
        all += count;
    }
    out["agents"] = all;
    return out;
}

// Values of a dump, which are at their places there, by path. A key with a dot, such as an agent's id, is quoted in it.
void flatten(const json& tree, const std::string& path, json& to)
{
    if (tree.is_object() && tree.contains("value") && tree.contains("origin") && tree.size() == 2) {
        to.push_back({{"path", path}, {"value", tree["value"]}, {"origin", tree["origin"]}});
        return;
    }
    if (!tree.is_object()) {
        to.push_back({{"path", path}, {"value", tree}, {"origin", ""}});
        return;
    }
    for (const auto& [key, below] : tree.items()) {
        const auto name = key.find('.') == std::string::npos ? key : core::to_text(json(key));
        flatten(below, path.empty() ? name : path + '.' + name, to);
    }
}

}  // namespace

std::string settings_text(const json& dumped, std::size_t omitted)
{
    json out{{"values", json::array()}};
    flatten(dumped, {}, out["values"]);
    if (omitted > 0) {
        out["agents_omitted"] = omitted;
    }
    return core::to_text(out);
}

std::vector<attention>
attention_of(const process_facts& facts, std::uint64_t descriptors, std::uint64_t most, core::wall_time now)
{
    std::vector<attention> out;
    if (facts.store_trouble) {
        const auto words = advice_for(*facts.store_trouble);
        out.push_back(about_gateway(true, "store", std::string{words.why}, words.what_to_do));
    }
    if (facts.audit_fails) {
        out.push_back(about_gateway(
            true,
            "audit",
            "The latest line of the audit was lost.",
            "Look at the disk and the rights of its file."
        ));
    }
    add_reload(out, facts.reload);
    add_certificates(out, facts, now);
    if (facts.overload > 0) {
        out.push_back(about_gateway(
            facts.overload > 1,
            "overload",
            "The gateway is overloaded, level " + std::to_string(facts.overload) + " of 3.",
            "Look at its CPU and memory; take load away, or add workers and memory."
        ));
    }
    if (most > 0 && descriptors * 5 > most * 4) {
        out.push_back(about_gateway(
            false,
            "descriptors",
            std::to_string(descriptors) + " of " + std::to_string(most) + " descriptors are in use.",
            "Raise LimitNOFILE of the service, or look for callers that hold connections."
        ));
    }
    if (facts.lost_lines > 0) {
        out.push_back(about_gateway(
            false,
            "log",
            std::to_string(facts.lost_lines) + " log lines were lost since the start.",
            "Look at whoever reads stderr: it is too slow."
        ));
    }
    return out;
}

// Agents that are contained, also those that are not there, and that the store has not taken what is contained.
std::vector<attention> gateway_methods::contained() const
{
    std::vector<attention> out;
    if (containments_ == nullptr) {
        return out;
    }
    if (const auto missing = containments_->unwritten().size(); missing > 0) {
        out.push_back(about_gateway(
            true,
            "containment",
            std::to_string(missing) + " of what is contained is not in the store: a restart would lift it.",
            "Look at the disk of the store; the gateway tries again each second."
        ));
    }
    for (const auto& id : containments_->agents()) {
        const auto& terms = *containments_->find({id, {}});
        std::string why{"Contained since "};
        why.append(shown_time(terms.since)).append(terms.until ? " until " + shown_time(*terms.until) : "");
        const auto reason = core::cut_utf8(terms.reason, 120);
        why.append(": ").append(reason).append(reason.ends_with('.') ? "" : ".");
        out.push_back(
            {.critical = false,
             .subject = id,
             .why = std::move(why),
             .what_to_do = "Release the agent with cardea agents release, once what it did is mended.",
             .agent = planes_.agents.find(id) == nullptr ? std::string{} : id}
        );
        if (out.size() > most_shown) {
            break;
        }
    }
    return out;
}

net::task<rpc_result>
gateway_methods::info(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/) const
{
    agents_found found;
    agent_visitor visit = [&](const std::string& /*id*/, const registered_agent& agent) {
        found.look_at(agent, planes_);
        if (const auto held = pins_ == nullptr ? 0 : pins_->held_of(agent.entry->record.id); held > 0) {
            found.add(held_attention(agent, held));
        }
        return true;
    };
    auto& line = turns_.of(caller.may_write);
    std::string from_the_first;
    co_await walk_agents(planes_.agents, line, std::move(from_the_first), std::move(visit), caller.left);
    const auto facts = from_.facts();
    const auto now = std::chrono::system_clock::now();
    const auto read = telemetry::read_process_stats();
    const auto stats = read ? *read : telemetry::process_stats{};
    auto own = attention_of(facts, stats.open_descriptors, stats.most_descriptors, now);
    std::ranges::move(contained(), std::back_inserter(own));
    auto needs = json::array();
    for (const bool critical : {true, false}) {
        const auto add = [&](const std::vector<attention>& from) {
            for (const auto& each : from) {
                if (each.critical == critical && needs.size() < most_shown) {
                    needs.push_back(to_json(each));
                }
            }
        };
        add(own);
        add(critical ? found.critical : found.warnings);
    }
    json out{
        {"version", model::version()},
        {"started", shown_time(facts.started)},
        {"process", ::getpid()},
        {"public_url", facts.public_url},
        {"listeners", listeners_of(facts)},
        {"in_flight", found.in_flight},
        {"connections", facts.connections},
        {"memory", {{"resident", stats.resident_bytes}}},
        {"descriptors", {{"open", stats.open_descriptors}, {"limit", stats.most_descriptors}}},
        {"overload", {{"level", facts.overload}}},
        {"store", store_of(facts)},
        {"certificates", certificates_of(facts, now)},
        {"reload", reload_of(facts.reload)},
        {"counts", counts_of(found, facts)},
        {"try", {{"enabled", facts.no_tries.empty()}}},
        {"attention", std::move(needs)}
    };
    if (!facts.no_tries.empty()) {
        out["try"]["why_not"] = facts.no_tries;
    }
    co_return core::make_result(request.id, out);
}

net::task<rpc_result>
gateway_methods::config(core::rpc_request request, const rpc_caller& caller, answer_builder& answer) const
{
    auto asked = from_.configuration();
    const auto text = co_await std::move(asked);
    // All who asked at once wake at once; each copies the text in a turn of its own.
    co_await turns_.of(caller.may_write).wait();
    if (caller.left.stop_requested()) {
        co_return core::make_error(request.id, core::errc::caller_gone);
    }
    if (text->size() > answer.room()) {
        co_return core::make_error(request.id, core::errc::too_large);
    }
    if (!answer.hold(text->size())) {
        co_return core::make_error(request.id, core::errc::overloaded);
    }
    co_return core::make_result_of_text(request.id, *text);
}

net::task<rpc_result>
gateway_methods::replicas(core::rpc_request request, const rpc_caller& /*caller*/, answer_builder& /*answer*/) const
{
    const auto known = from_.replicas ? from_.replicas() : model::replicas{};
    auto list = json::array();
    for (const auto& [facts, silent] : known.live) {
        const auto id = core::hex_digits_of(facts.id);
        list.push_back(
            {{"name", facts.name},
             {"id", std::string_view{id.data(), id.size()}},
             {"url", facts.url},
             {"version", facts.version},
             {"configuration", facts.configuration},
             {"applied", facts.applied},
             {"silent_seconds", std::chrono::duration_cast<std::chrono::seconds>(silent).count()},
             {"self", facts.id == known.self}}
        );
    }
    co_return core::make_result(request.id, {{"replicas", std::move(list)}});
}

net::task<rpc_result>
gateway_methods::sentences(core::rpc_request request, const rpc_caller& /*caller*/, answer_builder& /*answer*/) const
{
    const auto* const code = core::member(request.params, "code");
    const auto asked = code != nullptr && code->is_string() ? code->get<std::string>() : std::string{};
    const auto words = advice_for(std::string_view{asked});
    if (words.why.empty()) {
        co_return refuse_params(request, {{{}, 1, 1, "code", "is no code or reason of the gateway"}});
    }
    co_return core::make_result(request.id, {{"code", asked}, {"why", words.why}, {"advice", words.what_to_do}});
}

net::task<rpc_result>
gateway_methods::explain(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/) const
{
    if (core::member(request.params, "credential") != nullptr && !caller.may_write) {
        co_return denied(request, core::errc::admin_only);
    }
    auto explained = co_await from_.explain(std::move(request.params));
    if (explained) {
        co_return core::make_result(request.id, std::move(*explained));
    }
    const auto& why = explained.error();
    if (why.code != core::errc::invalid_params) {
        co_return core::make_error(request.id, why.code);
    }
    const auto colon = std::min(why.detail.find(": "), why.detail.size());
    auto what = why.detail.substr(std::min(colon + 2, why.detail.size()));
    co_return refuse_params(request, {{{}, 1, 1, why.detail.substr(0, colon), std::move(what)}});
}

}  // namespace gateway::management
