#include "gateway/access/asked_provider.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <utility>

namespace gateway::access {
namespace {

core::error unanswered(std::string why)
{
    return core::gateway_error(core::errc::access_unavailable, std::move(why));
}

}  // namespace

net::task<question_line::answer> question_line::ask(std::string key, std::function<net::task<answer>()> question)
{
    const auto self = shared_from_this();
    const auto where = co_await net::asio::this_coro::executor;
    if (waiting_ >= most_waiting) {
        co_return unanswered("too many credentials wait for an answer");
    }
    std::shared_ptr<asked> about;
    const auto found = under_way_.find(key);
    if (found != under_way_.end()) {
        about = found->second;
    } else if (under_way_.size() >= most_questions) {
        co_return unanswered("too many questions are under way");
    } else {
        about = std::make_shared<asked>();
        under_way_.emplace(key, about);
        net::asio::co_spawn(where, carry_out(self, std::move(key), std::move(question)), net::asio::detached);
    }
    if (!about->answered) {
        ++waiting_;
        co_await about->waiting.wait();
        --waiting_;
    }
    co_return *about->answered;  // NOLINT(*-optional-access): it wakes when there is an answer
}

net::task<> question_line::carry_out(
    std::shared_ptr<question_line> line,
    std::string key,
    std::function<net::task<answer>()> question
)
{
    std::optional<answer> outcome;
    try {
        outcome = co_await question();
    } catch (const std::exception& thrown) {
        outcome = unanswered(thrown.what());
    }
    const auto about = line->under_way_.at(key);
    line->under_way_.erase(key);
    about->answered = std::move(outcome);
    about->waiting.wake();
}

}  // namespace gateway::access
