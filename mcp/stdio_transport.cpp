#include "mcp/stdio_transport.hpp"

#include "core/redaction.hpp"
#include "mcp/line_reader.hpp"
#include "net/child_process.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

namespace mcp {
namespace {

using core::errc;

constexpr std::size_t longest_complaint = 500;
constexpr int most_complaints = 20;  // in each of:
constexpr std::chrono::seconds complaint_window{10};

net::child_command
command_of(const core::mcp_server& server, const std::vector<std::pair<std::string, std::string>>& inherited)
{
    net::child_command command;
    command.program = server.command;
    command.arguments = server.arguments;
    command.directory = server.directory;
    command.environment = inherited;
    for (const auto& [name, value] : server.environment) {
        const auto known = std::ranges::find(command.environment, name, &std::pair<std::string, std::string>::first);
        if (known == command.environment.end()) {
            command.environment.emplace_back(name, value.reveal());
        } else {
            known->second = value.reveal();
        }
    }
    return command;
}

// Lines for the log out of what a program says on stderr; a flood becomes a number.
class complaint_log {
public:
    complaint_log(std::string agent, const core::redaction& secrets, const core::logger& log)
        : agent_{std::move(agent)},
          secrets_{secrets},
          log_{log}
    {
    }

    void add(std::string_view bytes, core::steady_time now)
    {
        while (!bytes.empty()) {
            const auto end = std::min(bytes.find('\n'), bytes.size());
            const auto room = longest_ - std::min(line_.size(), longest_);
            line_.append(bytes.substr(0, std::min(end, room)));
            if (end == bytes.size()) {
                return;
            }
            write(now);
            bytes.remove_prefix(end + 1);
        }
    }

    void end(core::steady_time now)
    {
        write(now);
        tell_lost();
    }

private:
    void write(core::steady_time now)
    {
        if (now >= window_end_) {
            tell_lost();
            window_end_ = now + complaint_window;
            written_ = 0;
        }
        while (line_.ends_with('\r')) {
            line_.pop_back();
        }
        if (!line_.empty() && ++written_ <= most_complaints) {
            const auto text = secrets_.apply(line_, longest_complaint);
            log_.write(core::log_level::info, "mcp_stderr", {{"agent", agent_}, {"text", text}});
        } else if (!line_.empty()) {
            ++lost_;
        }
        line_.clear();
    }

    void tell_lost()
    {
        if (lost_ > 0) {
            log_.write(core::log_level::info, "mcp_stderr_dropped", {{"agent", agent_}, {"lines", lost_}});
            lost_ = 0;
        }
    }

    std::string agent_;
    core::redaction secrets_;
    const core::logger& log_;
    std::size_t longest_ = longest_complaint + secrets_.reach();  // of a line, as it is kept
    std::string line_;
    core::steady_time window_end_{};
    int written_ = 0;
    std::uint64_t lost_ = 0;
};

class stdio_transport final : public transport, private net::child_observer {
public:
    stdio_transport(
        net::loop& on,
        net::child_command command,
        std::size_t max_message,
        complaint_log complaints,
        transport_observer& observer
    )
        : loop_{on},
          command_{std::move(command)},
          max_message_{max_message},
          lines_{max_message},
          complaints_{std::move(complaints)},
          observer_{observer}
    {
    }

    void open() override
    {
        auto started = net::child_process::start(loop_, command_, *this, {.queued = max_message_ + extra_queue});
        if (!started) {
            later([this, why = std::move(started).error()] { observer_.lost(why); });
            return;
        }
        child_ = std::move(*started);
        later([this] {
            connected_ = true;
            observer_.connected();
        });
    }

    core::result<> send(outgoing what) override
    {
        if (child_ == nullptr) {
            return core::upstream_error(errc::upstream_reset, "the program has ended");
        }
        if (what.text.size() > max_message_) {
            return core::gateway_error(errc::body_too_large, "the message is over max_message");
        }
        return child_->write(std::move(what.text) + '\n');
    }

    std::size_t queued() const noexcept override { return child_ == nullptr ? 0 : child_->queued(); }

    void settle(const dialect& /*speaks*/) override {}

    void open_stream(outgoing listen) override
    {
        if (!listen.text.empty() && !send(std::move(listen))) {
            later([this] { observer_.stream_changed(stream_news::gone); });
        }
    }

    void close(bool /*end_session*/) override
    {
        closing_ = true;
        if (child_ != nullptr) {
            child_->stop();
        } else {
            later([this] { observer_.closed(); });
        }
    }

private:
    static constexpr std::size_t extra_queue = 1024 * 1024;  // beside one message of the largest size

    template <class Function>
    void later(Function then)
    {
        net::asio::post(loop_.get_executor(), [alive = std::weak_ptr<bool>{alive_}, then = std::move(then)] {
            if (!alive.expired()) {
                then();
            }
        });
    }

    void wrote(std::string_view bytes) override
    {
        const std::weak_ptr<bool> alive{alive_};
        lines_.feed(bytes);
        while (const auto line = lines_.next()) {
            if (closing_) {
                continue;
            }
            if (line->too_long) {
                observer_.refused(line->text, max_message_);
            } else {
                observer_.received(line->text);
            }
            if (alive.expired()) {
                return;
            }
        }
    }

    void complained(std::string_view bytes) override { complaints_.add(bytes, loop_.now()); }

    void ended(net::child_end how) override
    {
        complaints_.end(loop_.now());
        if (connected_ || closing_) {
            return leave(how);
        }
        // It did start: that it has ended is told behind that.
        later([this, how] { leave(how); });
    }

    void leave(net::child_end how)
    {
        child_.reset();
        if (closing_) {
            observer_.closed();
        } else {
            observer_.lost(core::upstream_error(errc::session_crashed, net::to_text(how)));
        }
    }

    net::loop& loop_;
    net::child_command command_;
    std::size_t max_message_;
    line_reader lines_;
    complaint_log complaints_;
    transport_observer& observer_;
    std::unique_ptr<net::child_process> child_;
    bool connected_ = false;  // and has told so
    bool closing_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace

std::vector<std::pair<std::string, std::string>> inherited_environment()
{
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto* name : {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"}) {
        if (const char* value = std::getenv(name)) {  // NOLINT(concurrency-mt-unsafe): see the header
            all.emplace_back(name, value);
        }
    }
    return all;
}

transport_factory stdio_factory(
    net::loop& on,
    const core::mcp_server& server,
    std::vector<std::pair<std::string, std::string>> inherited,
    std::string agent,
    const core::logger& log
)
{
    auto command = command_of(server, inherited);
    const complaint_log complaints{std::move(agent), core::redaction_of(server), log};
    return [&on, command = std::move(command), limit = server.max_message, complaints](transport_observer& observer
           ) -> std::unique_ptr<transport> {
        return std::make_unique<stdio_transport>(on, command, limit, complaints, observer);
    };
}

}  // namespace mcp
