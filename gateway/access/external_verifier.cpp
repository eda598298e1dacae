#include "gateway/access/external_verifier.hpp"

#include "gateway/access/verifier_answer.hpp"
#include "jose/digest.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace gateway::access {
namespace {

core::error unavailable(const char* why)
{
    return core::gateway_error(core::errc::access_unavailable, std::string{"verifier: "} + why);
}

// RFC 6750 section 2.1 has fewer characters; others would not arrive there as they are.
bool is_visible(char c) noexcept
{
    return c > ' ' && c <= '~';
}

}  // namespace

external_verifier::external_verifier(net::fetcher& fetcher, std::function<core::wall_time()> wall)
    : fetcher_{fetcher},
      wall_{std::move(wall)},
      questions_{std::make_shared<question_line>()}
{
}

void external_verifier::set_providers(const std::vector<core::access_provider>& providers)
{
    provider_pointer first;
    for (const auto& each : providers) {
        const auto* settings = std::get_if<core::http_verifier_provider>(&each.type);
        if (settings != nullptr && !first) {
            first = std::make_shared<const provider>(provider{each.name, *settings});
        }
    }
    const bool same = first && provider_ && first->name == provider_->name && first->settings == provider_->settings;
    if (!same) {
        provider_ = std::move(first);
        questions_ = std::make_shared<question_line>();  // what another service answers is not for these callers
    }
}

net::task<core::result<model::accepted_credential>> external_verifier::verify(std::string token)
{
    const auto by = provider_;
    if (!by || stopped_) {
        co_return unavailable("there is none");
    }
    if (!std::ranges::all_of(token, is_visible)) {
        co_return core::caller_error(core::errc::unauthenticated, "verifier: no bearer token has such characters");
    }
    auto key = jose::sha256(token);
    std::function<net::task<question_line::answer>()> question = [this, by, text = std::move(token)] {
        return ask(by, text);
    };
    auto answer = co_await questions_->ask(std::move(key), std::move(question));
    if (by != provider_) {
        co_return unavailable("it has changed meanwhile");
    }
    co_return answer;
}

net::task<core::result<model::accepted_credential>> external_verifier::ask(provider_pointer by, std::string token)
{
    if (stopped_) {
        co_return unavailable("the gateway stops");
    }
    auto request = verifier_question(by->settings, token);
    const auto answer = co_await fetcher_.fetch(std::move(request));
    co_return read_verifier_answer(answer, by->name, by->settings.cache, wall_());
}

}  // namespace gateway::access
