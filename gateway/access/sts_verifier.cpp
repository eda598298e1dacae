#include "gateway/access/sts_verifier.hpp"

#include "gateway/access/sts_token.hpp"
#include "jose/digest.hpp"

#include <algorithm>
#include <utility>
#include <variant>

namespace gateway::access {
namespace {

core::error unavailable(const char* why)
{
    return core::gateway_error(core::errc::access_unavailable, std::string{"STS: "} + why);
}

}  // namespace

sts_verifier::sts_verifier(net::fetcher& fetcher, std::function<core::wall_time()> wall)
    : fetcher_{fetcher},
      wall_{std::move(wall)},
      questions_{std::make_shared<question_line>()}
{
}

void sts_verifier::set_providers(const std::vector<core::access_provider>& providers)
{
    provider_pointer first;
    for (const auto& each : providers) {
        const auto* settings = std::get_if<core::aws_sigv4_provider>(&each.type);
        if (settings != nullptr && !first) {
            first = std::make_shared<const provider>(provider{each.name, *settings});
        }
    }
    const bool same = first && provider_ && first->name == provider_->name && first->settings == provider_->settings;
    if (!same) {
        provider_ = std::move(first);
        questions_ = std::make_shared<question_line>();
    }
}

bool sts_verifier::recognises(const std::string& token) const
{
    return provider_ && token.starts_with(sts_token_prefix);
}

net::task<core::result<model::accepted_credential>> sts_verifier::verify(std::string token)
{
    const auto by = provider_;
    if (!by || stopped_) {
        co_return unavailable("there is none");
    }
    auto key = jose::sha256(token);
    std::function<net::task<question_line::answer>()> question = [this, by, text = std::move(token)] {
        return ask(by, text);
    };
    auto answer = co_await questions_->ask(std::move(key), std::move(question));
    if (by != provider_) {
        co_return unavailable("the provider has changed meanwhile");
    }
    co_return answer;
}

net::task<core::result<model::accepted_credential>> sts_verifier::ask(provider_pointer by, std::string token)
{
    auto question = read_sts_token(token, by->settings, wall_());
    if (!question) {
        co_return question.error();
    }
    if (stopped_) {
        co_return unavailable("the gateway stops");
    }
    const auto answer = co_await fetcher_.fetch(std::move(question->request));
    auto owner = read_sts_answer(answer, by->name);
    if (!owner) {
        co_return owner.error();
    }
    co_return model::accepted_credential{
        .owner = std::make_shared<const core::principal>(std::move(*owner)),
        .until = std::min<core::wall_time>(question->expires, wall_() + model::longest_acceptance)
    };
}

}  // namespace gateway::access
