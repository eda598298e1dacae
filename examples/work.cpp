#include "examples/work.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <ctime>
#include <exception>
#include <iostream>
#include <iterator>
#include <random>
#include <sstream>
#include <utility>

namespace examples {

namespace {

constexpr std::size_t most_steps = 100;
constexpr std::size_t most_tasks = 1000;

std::string quoted(const std::string& word)
{
    return '"' + word + '"';
}

struct dice {
    unsigned count = 3;
    unsigned sides = 6;
};

dice dice_asked_for(std::string_view text)
{
    for (auto at = text.find('d'); at != std::string_view::npos; at = text.find('d', at + 1)) {
        auto from = at;
        while (from > 0 && std::isdigit(static_cast<unsigned char>(text[from - 1])) != 0) {
            --from;
        }
        dice found;
        const auto count = std::from_chars(text.data() + from, text.data() + at, found.count);
        const auto sides = std::from_chars(text.data() + at + 1, text.data() + text.size(), found.sides);
        const bool read = count.ec == std::errc{} && sides.ec == std::errc{};
        if (read && found.count >= 1 && found.count <= most_steps && found.sides >= 2 && found.sides <= 1000) {
            return found;
        }
    }
    return {};
}

asio::awaitable<void> carry_out(task_ref of, plan what, std::chrono::milliseconds pace)
{
    asio::steady_timer clock{of->changed.get_executor()};
    boost::system::error_code ec;
    for (auto& step : what.steps) {
        clock.expires_after(pace);
        co_await clock.async_wait(asio::redirect_error(asio::use_awaitable, ec));
        if (ec || of->ended()) {
            co_return;  // cancelled by its caller
        }
        of->add(task_state::working, std::move(step));
    }
    of->add(task_state::working, std::move(what.result), /*artifact=*/true);
    of->add(task_state::completed, {});
}

}  // namespace

plan count_words(std::string_view text)
{
    std::istringstream in{std::string{text}};
    const std::vector<std::string> words{std::istream_iterator<std::string>{in}, {}};
    plan out;
    std::map<std::string, std::size_t> times;
    for (const auto& word : words) {
        ++times[word];
        if (out.steps.size() < most_steps) {
            out.steps.push_back(quoted(word) + " is word " + std::to_string(out.steps.size() + 1));
        }
    }
    out.result = std::to_string(words.size()) + " words, " + std::to_string(text.size()) + " bytes";
    const auto frequent =
        std::max_element(times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (frequent != times.end()) {
        out.result += ", most frequent: " + quoted(frequent->first) + " (" + std::to_string(frequent->second) + ')';
    }
    return out;
}

plan roll_dice(std::string_view text)
{
    static std::mt19937 chance{std::random_device{}()};
    const auto asked = dice_asked_for(text);
    std::uniform_int_distribution<unsigned> one_of{1, asked.sides};
    plan out;
    unsigned sum = 0;
    std::string terms;
    for (unsigned i = 1; i <= asked.count; ++i) {
        const auto rolled = one_of(chance);
        sum += rolled;
        out.steps.push_back("die " + std::to_string(i) + " shows " + std::to_string(rolled));
        terms += (i == 1 ? "" : " + ") + std::to_string(rolled);
    }
    out.result =
        std::to_string(asked.count) + 'd' + std::to_string(asked.sides) + ": " + terms + " = " + std::to_string(sum);
    return out;
}

task::task(const asio::any_io_executor& executor, std::string context, json asked)
    : id{new_id()},
      context_id{context.empty() ? new_id() : std::move(context)},
      message{std::move(asked)},
      changed{executor, asio::steady_timer::time_point::max()}
{
    message["taskId"] = id;
    message["contextId"] = context_id;
    add(task_state::submitted, {});
}

const task_event& task::status() const
{
    return *std::find_if(events.rbegin(), events.rend(), [](const task_event& e) { return !e.artifact; });
}

const task_event* task::artifact() const
{
    const auto found = std::find_if(events.begin(), events.end(), [](const task_event& e) { return e.artifact; });
    return found == events.end() ? nullptr : &*found;
}

bool task::ended() const
{
    return status().state == task_state::completed || status().state == task_state::canceled;
}

void task::add(task_state state, std::string text, bool artifact)
{
    events.push_back({state, std::move(text), timestamp_now(), artifact});
    changed.cancel();
}

asio::awaitable<void> task::next_event()
{
    boost::system::error_code ec;
    co_await changed.async_wait(asio::redirect_error(asio::use_awaitable, ec));
}

task_board::task_board(asio::any_io_executor executor, std::chrono::milliseconds pace)
    : executor_{std::move(executor)},
      pace_{pace}
{
}

task_ref task_board::start(plan what, std::string context, json message)
{
    forget_old_tasks();
    auto out = std::make_shared<task>(executor_, std::move(context), std::move(message));
    tasks_[out->id] = out;
    order_.push_back(out);
    asio::co_spawn(executor_, carry_out(out, std::move(what), pace_), [](const std::exception_ptr& failed) {
        if (failed) {
            std::cerr << "demo_agent: a task ended with an exception\n";
        }
    });
    return out;
}

task_ref task_board::find(const std::string& id) const
{
    const auto found = tasks_.find(id);
    return found == tasks_.end() ? nullptr : found->second;
}

std::vector<task_ref> task_board::newest_first() const
{
    return {order_.rbegin(), order_.rend()};
}

void task_board::forget_old_tasks()
{
    if (order_.size() < most_tasks) {
        return;
    }
    const auto old = std::find_if(order_.begin(), order_.end(), [](const task_ref& t) { return t->ended(); });
    if (old != order_.end()) {
        tasks_.erase((*old)->id);
        order_.erase(old);
    }
}

std::string new_id()
{
    static boost::uuids::random_generator generate;
    return boost::uuids::to_string(generate());
}

std::string timestamp_now()
{
    using namespace std::chrono;
    const auto now = floor<milliseconds>(system_clock::now());
    const std::time_t seconds = system_clock::to_time_t(now);
    std::tm utc{};
    gmtime_r(&seconds, &utc);
    std::array<char, 32> text{};
    const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S.", &utc);
    const auto fraction = std::to_string(1000 + now.time_since_epoch().count() % 1000);
    return std::string{text.data(), length} + fraction.substr(1) + 'Z';
}

}  // namespace examples
