#include "gateway/a2a/managed_card_endpoint.hpp"

#include "core/json/jsonrpc_server.hpp"
#include "gateway/access/policy.hpp"
#include "net/loop/ask.hpp"
#include "net/loop/shared_budget.hpp"

#include <memory>
#include <utility>

namespace gateway::a2a {
namespace {

using core::errc;

// It depends on who asks, however that is seen.
constexpr std::string_view nobody_keeps = "Cache-Control: private, no-store\r\nVary: *\r\n";

responses::answer answer_with(std::string card, bool in_result, const std::string& call_id)
{
    const auto text = std::make_shared<const std::string>(std::move(card));
    responses::answer out;
    out.fields = nobody_keeps;
    out.body = in_result ? core::begin_result(call_id) : std::string{};
    out.rest = *text;
    out.end = in_result ? "}" : "";
    out.kept = text;
    return out;
}

}  // namespace

net::routine<> managed_card_endpoint::answer(request::request_context& request, model::card_position as)
{
    if (as.in_result && request.call_id.empty()) {
        // A notification: whatever comes of it, there is no answer to it (JSON-RPC 2.0 section 4.1).
        responses::answer nothing;
        nothing.status = 204;
        nothing.fields = nobody_keeps;
        co_await request::respond(request, std::move(nothing));
        co_return;
    }
    auto card = co_await make(request, as.dialect);
    if (!card) {
        co_await request::respond_call_error(request, std::move(card).error());
        co_return;
    }
    net::budget_share share{request.caller.bodies()};
    if (!share.set(card->size())) {
        co_await request::respond_call_error(request, core::gateway_error(errc::overloaded, "bodies"));
        co_return;
    }
    co_await request::respond(request, answer_with(std::move(*card), as.in_result, request.call_id));
}

net::routine<core::result<std::string>>
managed_card_endpoint::make(request::request_context& request, ::a2a::card_dialect dialect)
{
    auto found = co_await obtain_card(request);
    if (!found.card) {
        co_return std::move(*found.failure);  // NOLINT(bugprone-unchecked-optional-access): obtain_card() has set it
    }
    if (found.card->whole == nullptr) {
        // The agent has just become one whose extended card is made here.
        co_return core::gateway_error(errc::session_not_ready, "its card is being made again");
    }
    model::extended_request asked{
        .agent = request.agent,
        .card = found.card->whole,
        .caller = request.owner ? *request.owner : nullptr,
        .overlays = {},
        .dialect = dialect,
        .origin = own_origin(request)
    };
    const auto& overlays = request.agent->record.overlays;
    for (std::size_t i = 0; i < overlays.size(); ++i) {
        if (access::allows(overlays[i].when, request.principal())) {
            asked.overlays.push_back(i);
        }
    }
    auto question = control_.extend(std::move(asked));
    co_return co_await net::ask(control_.card_executor(), request.caller.owner().get_executor(), std::move(question));
}

}  // namespace gateway::a2a
