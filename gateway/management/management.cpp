#include "gateway/management/management.hpp"

#include "gateway/management/answer_builder.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <variant>

namespace gateway::management {
namespace {

using core::errc;

// How much larger requests are once they have been read.
constexpr std::size_t document_factor = 16;

// `agents.list` is `agents/list` too.
bool spells(std::string_view wire_name, std::string_view name) noexcept
{
    return std::ranges::equal(wire_name, name, [](char written, char expected) {
        return written == expected || (written == '.' && expected == '/');
    });
}

}  // namespace

struct management::method {
    // The trail of what was written is for operators too: it says who did.
    enum class rights : std::uint8_t { everybody, readers, operators, operators_to_write };

    std::string_view name;
    rights access;
    net::task<rpc_result> (*run)(
        management& self,
        core::rpc_request request,
        const rpc_caller& caller,
        answer_builder& answer
    );

    bool can_be_fresh = false;

    bool may(const rpc_caller& caller) const noexcept
    {
        return access == rights::everybody || caller.may_write || (access == rights::readers && !caller.shows);
    }
    bool writes() const noexcept { return access == rights::operators_to_write; }
};

template <auto Group, auto Method>
net::task<rpc_result>
management::run(management& self, core::rpc_request request, const rpc_caller& caller, answer_builder& answer)
{
    return (self.*Group.*Method)(std::move(request), caller, answer);
}

const management::method* management::find(std::string_view wire_name) noexcept
{
    using enum method::rights;
    static constexpr method methods[] = {
        {"agents/list", everybody, run<&management::reads_, &read_methods::list>, true},
        {"agents/get", everybody, run<&management::reads_, &read_methods::get>, true},
        {"agents/health", everybody, run<&management::reads_, &read_methods::health>, true},
        {"agents/card", readers, run<&management::cards_, &card_methods::card>},
        {"agents/history", readers, run<&management::cards_, &card_methods::history>},
        {"agents/stats", readers, run<&management::reads_, &read_methods::stats>},
        {"agents/refreshCard", everybody, run<&management::cards_, &card_methods::refresh>},
        {"agents/upsert", operators_to_write, run<&management::writes_, &write_methods::upsert>},
        {"agents/delete", operators_to_write, run<&management::writes_, &write_methods::remove>},
        {"agents/reset", operators, run<&management::writes_, &write_methods::reset>},
        {"agents/changes", operators, run<&management::writes_, &write_methods::changes>, true},
        {"agents/restart", operators, run<&management::cards_, &card_methods::restart>},
        {"agents/contain", operators_to_write, run<&management::containments_, &containment_methods::contain_agent>},
        {"agents/release", operators_to_write, run<&management::containments_, &containment_methods::release_agent>},
        {"principals/contain",
         operators_to_write,
         run<&management::containments_, &containment_methods::contain_principal>},
        {"principals/release",
         operators_to_write,
         run<&management::containments_, &containment_methods::release_principal>},
        {"principals/list", readers, run<&management::containments_, &containment_methods::principals>},
        {"agents/pins", readers, run<&management::pins_, &pin_methods::pins>},
        {"agents/approve", operators_to_write, run<&management::pins_, &pin_methods::approve>},
        {"gateway/info", readers, run<&management::gateway_, &gateway_methods::info>},
        {"gateway/config", readers, run<&management::gateway_, &gateway_methods::config>},
        {"replicas/list", readers, run<&management::gateway_, &gateway_methods::replicas>},
        {"gateway/advice", readers, run<&management::gateway_, &gateway_methods::sentences>},
        {"access/explain", readers, run<&management::gateway_, &gateway_methods::explain>},
        {"calls/edges", readers, run<&management::edge_methods_, &edge_methods::edges>},
        {"bundles/list", operators, run<&management::reads_, &read_methods::bundles>},
    };
    const auto* const found =
        std::ranges::find_if(methods, [&](const method& each) { return spells(wire_name, each.name); });
    return found == std::end(methods) ? nullptr : found;
}

std::string_view management::method_name(std::string_view wire_name) noexcept
{
    const auto* const found = find(wire_name);
    return found == nullptr ? "other" : found->name;
}

management::management(
    const config::settings& settings,
    registry& agents,
    cards::card_plane& cards,
    sessions::session_plane& sessions,
    threads::turn_lines& turns
)
    : settings_{settings},
      turns_{turns},
      memory_{settings.limits.rpc_memory},
      calls_{[&agents](const std::string& id) {
          const auto* const agent = agents.find(id);
          return agent == nullptr ? nullptr : &agent->entry->call_url;
      }},
      history_{settings.limits.history_agents, std::chrono::steady_clock::now(), std::chrono::system_clock::now()},
      reads_{agents, cards, sessions, {calls_, history_}, turns},
      cards_{agents, cards, sessions},
      gateway_{{agents, cards, sessions, calls_}, turns},
      containments_{settings, agents, turns},
      pins_{agents, turns},
      edge_methods_{edges_, agents, turns},
      writes_{agents, cards, reads_}
{
}

net::task<model::rpc_answer> management::handle(std::string body, rpc_caller caller)
{
    model::rpc_answer out;
    auto& line = turns_.of(caller.may_write);
    answer_builder answer{
        core::memory_share{memory_, caller.may_write ? 0 : memory_.most() / part_for_operators},
        settings_.limits.rpc_answer,
        caller.may_write ? 0 : body.size() * document_factor
    };
    if (!answer.hold(0)) {
        out.refused = errc::overloaded;
        co_return out;
    }
    co_await line.wait();
    auto parsed = core::parse_rpc(body, {.batch = settings_.limits.rpc_batch, .depth = 64});
    body = {};
    answer.set_batch(parsed.batch);
    out.method = parsed.batch ? "batch" : std::string_view{};
    for (auto& item : parsed.items) {
        if (line.over()) {
            co_await line.wait();
        }
        if (caller.left.stop_requested()) {
            break;
        }
        if (auto* refusal = std::get_if<core::rpc_refusal>(&item)) {
            answer.begin(/*writes=*/false);
            answer.add({}, {std::move(refusal->answer)});
        } else {
            auto request = std::move(std::get<core::rpc_request>(item));
            const auto id = request.id;
            const auto* const method = find(request.method);
            if (!parsed.batch) {
                out.method = method_name(request.method);
            }
            answer.begin(caller.may_write && method != nullptr && method->writes());
            auto result = co_await carry_out(method, std::move(request), caller, answer);
            out.denied = out.denied || result.denied;
            if (!id.empty()) {
                answer.add(id, std::move(result));
            }
        }
        if (answer.failed()) {
            out.refused = errc::overloaded;
            co_return out;
        }
    }
    if (caller.left.stop_requested()) {
        out.refused = errc::caller_gone;
        co_return out;
    }
    answer.finish(out);
    co_return out;
}

net::task<rpc_result>
management::carry_out(const method* method, core::rpc_request request, const rpc_caller& caller, answer_builder& answer)
{
    if (method == nullptr) {
        co_return core::make_error(request.id, errc::method_not_found);
    }
    if (!method->may(caller)) {
        co_return denied(request, errc::admin_only);
    }
    if (method->can_be_fresh && core::member(request.params, "fresh") != nullptr) {
        auto refreshing = refresh(request, caller);
        if (auto refusal = co_await std::move(refreshing)) {
            co_return std::move(*refusal);
        }
    }
    co_return co_await method->run(*this, std::move(request), caller, answer);
}

// Nothing: what is known is fresh, or need not be.
net::task<std::optional<rpc_result>> management::refresh(const core::rpc_request& request, const rpc_caller& caller)
{
    const auto& wish = *core::member(request.params, "fresh");
    if (!wish.is_boolean() && !wish.is_null()) {
        co_return refuse_params(request, {{{}, 1, 1, "fresh", "is no boolean; expected true or false"}});
    }
    if (wish != true || !refresh_) {
        co_return std::nullopt;
    }
    if (caller.shows) {
        co_return denied(request, errc::forbidden);  // each asks the database
    }
    auto refreshed = co_await refresh_();
    if (refreshed) {
        co_return std::nullopt;
    }
    co_return rpc_result{core::make_error(request.id, refreshed.error().code)};
}

net::task<model::registration_answer> management::enroll(std::string body, model::registrant by)
{
    auto done = co_await writes_.enroll(std::move(body), std::move(by));
    model::registration_answer out;
    if (done.outcome) {
        out.reply.fields = "Cache-Control: no-store\r\n";
        out.reply.body = core::to_text(*done.outcome);
        co_return out;
    }
    out.refused = std::move(done.outcome).error();
    out.reply = done.problems.empty() ? responses::error_answer(out.refused->code, done.agent)
                                      : responses::problems_answer(out.refused->code, problem_list(done.problems));
    co_return out;
}

}  // namespace gateway::management
