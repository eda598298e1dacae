#include "gateway/access/sts_verifier.hpp"

#include "gateway/access/sts_token.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace gateway::access {

sts_verifier::sts_verifier(net::fetcher& fetcher, std::function<core::wall_time()> wall)
    : fetcher_{fetcher},
      wall_{std::move(wall)},
      provider_{"STS"}
{
}

bool sts_verifier::recognises(const std::string& token) const
{
    return provider_.is_configured() && token.starts_with(sts_token_prefix);
}

net::task<core::result<model::accepted_credential>> sts_verifier::verify(std::string token)
{
    asked::question question = [this](asked::provider_pointer by, std::string text) {
        return ask(std::move(by), std::move(text));
    };
    auto answer = co_await provider_.ask(std::move(token), std::move(question));
    co_return answer;
}

net::task<core::result<model::accepted_credential>> sts_verifier::ask(asked::provider_pointer by, std::string token)
{
    auto question = read_sts_token(token, by->settings, wall_());
    if (!question) {
        co_return question.error();
    }
    if (provider_.stopped()) {
        co_return provider_.unavailable("the gateway stops");
    }
    const auto answer = co_await fetcher_.fetch(std::move(question->request));
    auto owner = read_sts_answer(answer, by->name);
    if (!owner) {
        co_return owner.error();
    }
    co_return model::accepted_credential{
        .owner = std::make_shared<const core::principal>(std::move(*owner)),
        .until = std::min<core::wall_time>(question->expires, wall_() + model::longest_acceptance),
        .ends = question->expires
    };
}

}  // namespace gateway::access
