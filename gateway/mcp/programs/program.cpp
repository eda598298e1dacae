#include "gateway/mcp/programs/program.hpp"

#include "mcp/calls/client_message.hpp"

#include <utility>

namespace gateway::mcp::programs {

program::program(::mcp::start_place turns, const ::mcp::transport_factory& make, bool held)
    : wire_{make(*this)},
      turns_{turns}
{
    if (!held) {
        let_start();
    }
}

void program::let_start()
{
    stage_ = stage::waits;
    if (turns_.turns == nullptr) {
        open();
    } else {
        turn_ = turns_.turns->ask([this] { open(); }, turns_.overlaps);
    }
}

void program::open()
{
    stage_ = stage::opens;
    wire_->open();
}

core::result<> program::send(std::string text, std::string_view method, std::uint64_t call)
{
    ::mcp::outgoing message;
    message.text = std::move(text);
    message.id = call;
    message.method = method;
    return send(std::move(message));
}

core::result<> program::send(::mcp::outgoing message)
{
    if (stage_ == stage::stops || stage_ == stage::ended) {
        return core::upstream_error(core::errc::upstream_reset, "the program has ended");
    }
    message.text = ::mcp::one_line(std::move(message.text));
    message.of_caller = true;
    if (stage_ != stage::runs) {
        const auto size = message.text.size();
        if (waiting_.size() >= most_waiting || (!waiting_.empty() && waiting_bytes_ + size > most_waiting_bytes)) {
            return core::gateway_error(core::errc::overloaded, "too many messages wait for the program's start");
        }
        waiting_bytes_ += size;
        waiting_.push_back(std::move(message));
        return {};
    }
    return wire_->send(std::move(message));
}

void program::ready(std::string_view version)
{
    turn_.reset();
    ::mcp::dialect speaks;
    speaks.version = version;
    wire_->settle(speaks);
}

bool program::listen()
{
    if (stage_ != stage::runs || wire_->fell_back()) {
        return false;
    }
    wire_->open_stream({});
    return true;
}

void program::stop(std::function<void()> gone, bool silently)
{
    gone_ = std::move(gone);
    observer_ = nullptr;
    waiting_.clear();
    waiting_bytes_ = 0;
    turn_.reset();
    stage_ = stage::stops;
    wire_->close(/*end_session=*/!silently);
}

void program::connected()
{
    stage_ = stage::runs;
    waiting_bytes_ = 0;
    for (auto& each : std::exchange(waiting_, {})) {
        const auto call = each.id;
        auto sent = wire_->send(std::move(each));
        if (sent) {
            continue;
        }
        if (sent.error().code == core::errc::upstream_reset) {
            return lost(std::move(sent).error());
        }
        // More waited than it takes at once, which is no fault of what goes up before.
        failed(call, std::move(sent).error(), {});
        if (stage_ != stage::runs) {
            return;
        }
    }
    if (observer_ != nullptr) {
        observer_->connected();
    }
}

void program::received(std::string_view text)
{
    if (observer_ != nullptr) {
        observer_->said(text);
    }
}

void program::received_long(const ::mcp::read_text& what)
{
    if (observer_ != nullptr) {
        observer_->said_long(what);
    }
}

void program::refused(std::string_view beginning, std::size_t limit)
{
    if (observer_ != nullptr) {
        observer_->said_too_much(beginning, limit);
    }
}

void program::failed(std::uint64_t request, core::error why, std::optional<::mcp::era> /*says*/)
{
    // The client was told 202 for a notification or an answer before: there is nobody left to tell.
    if (request != 0 && observer_ != nullptr) {
        observer_->failed(request, std::move(why));
    }
}

void program::stream_changed(::mcp::stream_news /*news*/)
{
    if (observer_ != nullptr) {
        observer_->listening();
    }
}

// Over streamable HTTP. A session for one call cannot go on in another one.
void program::session_lost()
{
    lost(core::upstream_error(core::errc::upstream_reset, "the server has lost the session"));
}

void program::lost(core::error why)
{
    stage_ = stage::ended;
    turn_.reset();
    if (observer_ != nullptr) {
        std::exchange(observer_, nullptr)->ended(std::move(why));
    }
}

void program::closed()
{
    stage_ = stage::ended;
    if (gone_) {
        std::exchange(gone_, nullptr)();
    }
}

}  // namespace gateway::mcp::programs
