#include "gateway/model/inner_calls.hpp"

#include "net/loop/signal.hpp"
#include "net/loop/transport.hpp"

#include <array>
#include <bit>
#include <charconv>

namespace gateway::model {
namespace {

// The host is nobody's name: such a request is for the gateway itself.
constexpr std::string_view base = "http://cardea";

// Whoever waits for a whole answer.
class waiting_observer final : public net::exchange_observer {
public:
    explicit waiting_observer(std::uint64_t limit) noexcept
        : limit_{limit}
    {
    }

    void headed(const net::exchange_head& head) override { reply_.head = head; }

    void took(std::string_view piece) override
    {
        if (reply_.body.size() + piece.size() > limit_) {
            outcome_ = core::upstream_error(core::errc::message_too_large, "an answer within the process");
            ended_.set();
            return;
        }
        reply_.body += piece;
    }

    void ended(core::result<> how) override
    {
        outcome_ = std::move(how);
        ended_.set();
    }

    static net::task<core::result<inner_reply>>
    wait(std::shared_ptr<waiting_observer> self, std::unique_ptr<net::exchange> under_way)
    {
        while (!self->outcome_) {
            auto ended = self->ended_.wait();
            co_await std::move(ended);
        }
        under_way.reset();
        if (!*self->outcome_) {
            co_return std::move(*self->outcome_).error();
        }
        co_return std::move(self->reply_);
    }

private:
    std::uint64_t limit_;
    inner_reply reply_;
    std::optional<core::result<>> outcome_;
    net::task_signal ended_;
};

// An exchange whose caller has a number until it ends.
class numbered_exchange final : public net::exchange {
public:
    numbered_exchange(inner_callers::place place, std::unique_ptr<net::exchange> under_way) noexcept
        : place_{std::move(place)},
          under_way_{std::move(under_way)}
    {
    }

private:
    inner_callers::place place_;
    std::unique_ptr<net::exchange> under_way_;
};

}  // namespace

inner_calls::inner_calls(net::loop& control, inner_callers& callers, server serve)
    : callers_{callers},
      serve_{std::move(serve)},
      client_{control, "cardea"}
{
}

std::unique_ptr<net::exchange> inner_calls::start(inner_request request, net::exchange_observer& observer)
{
    net::exchange_request out;
    out.url = std::string{base} + request.target;
    out.method = std::move(request.method);
    out.headers = std::move(request.fields);
    const auto* const home = request.caller->home;
    auto place = callers_.put(request.caller);
    out.headers.emplace_back(inner_callers::field_name, place.text());
    if (!request.caller->host.empty()) {
        out.headers.emplace_back("Host", request.caller->host);
    }
    for (const auto& [name, value] : request.caller->fields) {
        out.headers.emplace_back(name, value.reveal());
    }
    out.body = std::move(request.body);
    out.head_timeout = request.head_timeout;
    out.stream_timeout = request.stream_timeout;
    out.max_size = request.max_size;
    out.repeatable = false;
    out.dial = [this, home] {
        auto ends = net::connected_pair();
        if (ends[0].open()) {
            const std::shared_ptr<const inner_callers> sender{std::shared_ptr<void>{}, &callers_};
            serve_({.socket = std::move(ends[1]), .peer = {}, .tls = {}, .sender = sender}, home);
        }
        return std::move(ends[0]);
    };
    out.dialled_key = std::to_string(std::bit_cast<std::uintptr_t>(home));
    return std::make_unique<numbered_exchange>(std::move(place), client_.start(std::move(out), observer));
}

net::task<core::result<inner_reply>> inner_calls::ask(inner_request request)
{
    auto observer = std::make_shared<waiting_observer>(request.max_size);
    auto under_way = start(std::move(request), *observer);
    return waiting_observer::wait(std::move(observer), std::move(under_way));
}

inner_callers::place::~place()
{
    if (of_ != nullptr) {
        const std::lock_guard lock{of_->mutex_};
        of_->callers_.erase(number_);
    }
}

inner_callers::place inner_callers::put(inner_caller_pointer caller)
{
    const std::lock_guard lock{mutex_};
    callers_.emplace(++last_, std::move(caller));
    return {*this, last_};
}

inner_caller_pointer inner_callers::find(std::string_view number) const
{
    std::uint64_t value = 0;
    const auto [end, ec] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (ec != std::errc{} || end != number.data() + number.size()) {
        return nullptr;
    }
    const std::lock_guard lock{mutex_};
    const auto found = callers_.find(value);
    return found == callers_.end() ? nullptr : found->second;
}

}  // namespace gateway::model
