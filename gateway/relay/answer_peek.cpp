#include "gateway/relay/answer_peek.hpp"

#include "gateway/relay/body_reader.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace gateway::relay {
namespace {

constexpr core::duration longest_peek{1'000};

// The body, if it comes whole within so many bytes and soon; else empty. It stays to be read.
net::routine<std::string>
peek_body(net::server_connection& caller, agent_exchange& agent, exchange_wait& wait, std::size_t limit)
{
    const auto until = caller.owner().now() + longest_peek;
    for (;;) {
        body_reader reader{agent.head().body, agent.head().content_length};
        std::string body;
        auto rest = agent.side().received().substr(agent.head_length());
        while (!reader.done() && !rest.empty()) {
            const auto piece = reader.take(rest);
            if (!piece || piece->data.size() > limit - body.size()) {
                co_return std::string{};
            }
            body += piece->data;
            rest.remove_prefix(piece->used);
        }
        if (reader.done()) {
            co_return body;
        }
        // The head is read in place, so that the buffer cannot grow.
        if (agent.side().ended() || agent.side().full()) {
            co_return std::string{};
        }
        agent.side().arm();
        const auto how = co_await wait.until(until);
        if (how != woken::by_event) {
            co_return std::string{};
        }
    }
}

}  // namespace

net::routine<core::result<>>
repair_call(net::server_connection& caller, agent_exchange& agent, exchange_wait& wait, relay_call& call)
{
    for (;;) {
        call.hooks.repair->note_answer(agent.head());
        const auto wanted = call.hooks.repair->interest(agent.head());
        if (!wanted) {
            co_return core::result<>{};
        }
        std::string body;
        if (*wanted > 0) {
            body = co_await peek_body(caller, agent, wait, *wanted);
        }
        const auto again = co_await call.hooks.repair->repair(call, agent, agent.head(), std::move(body));
        if (!again) {
            co_return again.error();
        }
        if (!*again) {
            co_return core::result<>{};
        }
        agent.discard();
        auto done = co_await agent.begin();
        if (!done) {
            co_return done;
        }
    }
}

}  // namespace gateway::relay
