// The provider of a type whose service is asked about credentials. What the service of one provider answers is not for the callers
// of the next. Control loop.
#pragma once

#include "core/access.hpp"
#include "core/error.hpp"
#include "gateway/model/credential_checks.hpp"
#include "jose/digest.hpp"
#include "net/loop/types.hpp"
#include "net/loop/waiting_tasks.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace gateway::access {

// Questions about credentials to services elsewhere: one at a time about a credential, however many requests bring it, and
// not too many at once. Held by shared_ptr: a question goes on when whoever asked it has left.
class question_line : public std::enable_shared_from_this<question_line> {
public:
    static constexpr std::size_t most_questions = 64;  // under way
    static constexpr std::size_t most_waiting = 256;   // requests that wait for their answers

    using answer = core::result<model::accepted_credential>;

    question_line() = default;
    question_line(const question_line&) = delete;
    question_line& operator=(const question_line&) = delete;

    // The answer of `question` about the credential that has this `key`; the answer of one that is under way about the same, if
    // there is one. Fails with access_unavailable if there are too many, or if the question throws.
    net::task<answer> ask(std::string key, std::function<net::task<answer>()> question);

private:
    struct asked {
        std::optional<answer> answered;
        net::waiting_tasks waiting;
    };

    static net::task<>
    carry_out(std::shared_ptr<question_line> line, std::string key, std::function<net::task<answer>()> question);

    std::unordered_map<std::string, std::shared_ptr<asked>> under_way_;
    std::size_t waiting_ = 0;
};

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
