#include "gateway/access/external_verifier.hpp"

#include "gateway/access/verifier_answer.hpp"

#include <algorithm>
#include <utility>

namespace gateway::access {
namespace {

// RFC 6750 section 2.1 has fewer characters; others would not arrive there as they are.
bool is_visible(char c) noexcept
{
    return c > ' ' && c <= '~';
}

}  // namespace

external_verifier::external_verifier(net::fetcher& fetcher, std::function<core::wall_time()> wall)
    : fetcher_{fetcher},
      wall_{std::move(wall)},
      provider_{"verifier"}
{
}

net::task<core::result<model::accepted_credential>> external_verifier::verify(std::string token)
{
    if (!std::ranges::all_of(token, is_visible)) {
        co_return core::caller_error(core::errc::unauthenticated, "verifier: no bearer token has such characters");
    }
    asked::question question = [this](asked::provider_pointer by, std::string text) {
        return ask(std::move(by), std::move(text));
    };
    auto answer = co_await provider_.ask(std::move(token), std::move(question));
    co_return answer;
}

net::task<core::result<model::accepted_credential>>
external_verifier::ask(asked::provider_pointer by, std::string token)
{
    if (provider_.stopped()) {
        co_return provider_.unavailable("the gateway stops");
    }
    auto request = verifier_question(by->settings, token);
    const auto answer = co_await fetcher_.fetch(std::move(request));
    co_return read_verifier_answer(answer, by->name, by->settings.cache, wall_());
}

}  // namespace gateway::access
