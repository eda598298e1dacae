#include "gateway/wiring/containment_publication.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

namespace gateway::wiring {
namespace {

using model::containments_pointer;
using model::cut_counts;

constexpr std::chrono::seconds patience{1};  // with a worker: its count is left out then

// The answers of the workers to one question, which come to the control loop.
struct worker_answers {
    using timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>;

    explicit worker_answers(net::executor here)
        : all_here{here, patience}
    {
    }

    timer all_here;
    std::size_t missing = 0;
    cut_counts sum;
};

net::task<cut_counts> summed(std::shared_ptr<worker_answers> answers)
{
    if (answers->missing > 0) {
        net::error_code ignored;  // it is cancelled by the last answer
        co_await answers->all_here.async_wait(net::asio::redirect_error(net::use_task, ignored));
    }
    co_return answers->sum;
}

// Every worker is asked at once, before anybody waits for the answers.
net::task<cut_counts>
ask_workers(const containment_audience& told, cut_counts here, std::function<cut_counts(worker::worker& on)> question)
{
    const auto control = told.control.get_executor();
    auto answers = std::make_shared<worker_answers>(control);
    answers->sum = here;
    answers->missing = told.workers.size();
    for (const auto& each : told.workers) {
        each->post([control, answers, question](worker::worker& on) {
            net::asio::post(control, [answers, cut = question(on)] {
                answers->sum += cut;
                if (--answers->missing == 0) {
                    answers->all_here.cancel();
                }
            });
        });
    }
    return summed(std::move(answers));
}

// The sessions that live on the control loop, of agents and principals that are contained from now on.
cut_counts counted_here(const containment_audience& told, const model::containments& these)
{
    cut_counts out{.sessions = told.callers.programs().of_principals(these)};
    for (const auto& [id, terms] : these.agents) {
        const auto* const agent = told.registry.find(id);
        if (agent != nullptr && !agent->contained) {
            out.sessions += told.callers.programs().ending(id);
        }
    }
    return out;
}

// Sessions of contained agents end with their planes.
net::task<cut_counts> publish(const containment_audience& told, const containments_pointer& now)
{
    auto here = now == nullptr ? cut_counts{} : counted_here(told, *now);
    here += told.admin.set_containments(now);
    told.deliveries.set_containments(now);
    auto asked = ask_workers(told, here, [now](worker::worker& on) { return on.handler().set_containments(now); });
    if (now != nullptr) {
        told.callers.programs().end_of_principals(*now);
    }
    return asked;
}

net::task<cut_counts> count(const containment_audience& told, const containments_pointer& these)
{
    auto here = counted_here(told, *these);
    here += told.admin.would_cut(*these);
    return ask_workers(told, here, [these](worker::worker& on) { return on.handler().would_cut(*these); });
}

}  // namespace

std::unique_ptr<management::containment_table> make_containment_table(const containment_audience& told)
{
    told.cards.set_contained([&registry = told.registry](const std::string& id) {
        const auto* const agent = registry.find(id);
        return agent != nullptr && agent->contained;
    });
    return std::make_unique<management::containment_table>(
        told.control.timers(),
        management::containment_services{
            told.control.get_executor(),
            told.registry,
            told.store,
            told.log,
            // Ends hold on all replicas at once, whatever their clocks say.
            [feed = told.store.feed()] {
                const auto now = std::chrono::system_clock::now();
                return feed == nullptr ? now : now + feed->clock_ahead();
            },
            std::chrono::steady_clock::now,
            [told](const containments_pointer& now) { return publish(told, now); },
            [told](const containments_pointer& these) { return count(told, these); }
        }
    );
}

}  // namespace gateway::wiring
