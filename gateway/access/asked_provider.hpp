// The provider of a type whose service is asked about credentials. What the service of one provider answers is not for the callers
// of the next. Control loop.
#pragma once

#include "core/access.hpp"
#include "core/error.hpp"
#include "gateway/access/question_line.hpp"
#include "jose/digest.hpp"
#include "net/loop/types.hpp"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gateway::access {

// `Settings`: those of the type, of which core::access_provider::type is one.
template <class Settings>
class asked_provider {
public:
    struct provider {
        std::string name;
        Settings settings;
    };
    using provider_pointer = std::shared_ptr<const provider>;
    using answer = question_line::answer;
    using question = std::function<net::task<answer>(provider_pointer by, std::string token)>;

    // `service`: what errors call it.
    explicit asked_provider(std::string service)
        : service_{std::move(service)}
    {
    }

    // The first provider of this type counts; others are passed over.
    void set_providers(const std::vector<core::access_provider>& providers)
    {
        provider_pointer first;
        for (const auto& each : providers) {
            const auto* settings = std::get_if<Settings>(&each.type);
            if (settings != nullptr && !first) {
                first = std::make_shared<const provider>(provider{each.name, *settings});
            }
        }
        const bool same =
            first && provider_ && first->name == provider_->name && first->settings == provider_->settings;
        if (!same) {
            provider_ = std::move(first);
            questions_ = std::make_shared<question_line>();
        }
    }

    // False: there is no such provider.
    bool is_configured() const noexcept { return provider_ != nullptr; }

    // The answer of `asks` about the token, as question_line::ask(). Fails with access_unavailable also if there is no provider, or
    // another one by the time of the answer.
    net::task<answer> ask(std::string token, question asks)
    {
        const auto by = provider_;
        if (!by || stopped_) {
            co_return unavailable("there is none");
        }
        auto key = jose::sha256(token);
        std::function<net::task<answer>()> asked = [asks = std::move(asks), by, text = std::move(token)] {
            return asks(by, text);
        };
        auto outcome = co_await questions_->ask(std::move(key), std::move(asked));
        if (by != provider_) {
            co_return unavailable("it has changed meanwhile");
        }
        co_return outcome;
    }

    // No question begins any more.
    void stop() noexcept { stopped_ = true; }
    bool stopped() const noexcept { return stopped_; }

    core::error unavailable(const char* why) const
    {
        return core::gateway_error(core::errc::access_unavailable, service_ + ": " + why);
    }

private:
    std::string service_;
    provider_pointer provider_;  // null: there is none
    std::shared_ptr<question_line> questions_ = std::make_shared<question_line>();
    bool stopped_ = false;
};

}  // namespace gateway::access
