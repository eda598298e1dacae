#include "gateway/access/question_line.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <utility>

namespace gateway::access {
namespace {

core::error unavailable(std::string why)
{
    return core::gateway_error(core::errc::access_unavailable, std::move(why));
}

}  // namespace

net::task<question_line::answer> question_line::ask(std::string key, std::function<net::task<answer>()> question)
{
    const auto self = shared_from_this();
    const auto where = co_await net::asio::this_coro::executor;
    if (waiting_ >= most_waiting) {
        co_return unavailable("too many credentials wait for an answer");
    }
    std::shared_ptr<asked> about;
    const auto found = under_way_.find(key);
    if (found != under_way_.end()) {
        about = found->second;
    } else if (under_way_.size() >= most_questions) {
        co_return unavailable("too many questions are under way");
    } else {
        about = std::make_shared<asked>();
        under_way_.emplace(key, about);
        net::asio::co_spawn(where, carry_out(self, std::move(key), std::move(question)), net::asio::detached);
    }
    if (!about->answered) {
        net::task_signal ended;
        auto waits = ended.wait();
        about->waiting.push_back(&ended);
        ++waiting_;
        co_await std::move(waits);
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
        outcome = unavailable(thrown.what());
    }
    const auto about = line->under_way_.at(key);
    line->under_way_.erase(key);
    about->answered = std::move(outcome);
    for (auto* const waiter : std::exchange(about->waiting, {})) {
        waiter->set();
    }
}

}  // namespace gateway::access
