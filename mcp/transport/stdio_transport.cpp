#include "mcp/transport/stdio_transport.hpp"

#include "core/redaction.hpp"
#include "mcp/transport/line_reader.hpp"
#include "net/process/child_process.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace mcp {
namespace {

using core::errc;

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

class stdio_transport final : public transport, private net::child_observer {
public:
    stdio_transport(
        net::loop& on,
        net::child_command command,
        std::size_t max_message,
        stderr_log complaints,
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

    core::result<> send(outgoing message) override
    {
        if (child_ == nullptr) {
            return core::upstream_error(errc::upstream_reset, "the program has ended");
        }
        if (message.text.size() > max_message_) {
            return core::gateway_error(errc::body_too_large, "the message is over max_message");
        }
        return child_->write(std::move(message.text) + '\n');
    }

    std::size_t queued() const noexcept override { return child_ == nullptr ? 0 : child_->queued(); }

    void set_trial(bool on) override
    {
        on_trial_ = on;
        complaints_.set_level(on ? core::log_level::debug : core::log_level::info);
    }

    std::string last_words() const override { return complaints_.last_words(); }

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
        if (on_trial_) {
            complaints_.keep_no_more();
        }
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
        // The program did start: its end is reported after that.
        later([this, how] { leave(how); });
    }

    void leave(net::child_end how)
    {
        child_.reset();
        if (closing_) {
            observer_.closed();
        } else {
            const auto words = complaints_.last_words();
            observer_.lost(core::upstream_error(
                errc::session_crashed,
                net::to_text(how) + (words.empty() ? words : "; it wrote: " + words)
            ));
        }
    }

    net::loop& loop_;
    net::child_command command_;
    std::size_t max_message_;
    line_reader lines_;
    stderr_log complaints_;
    transport_observer& observer_;
    std::unique_ptr<net::child_process> child_;
    bool connected_ = false;  // and the observer knows
    bool closing_ = false;
    bool on_trial_ = false;
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
    const std::vector<std::pair<std::string, std::string>>& inherited,
    std::string agent,
    const core::logger& log
)
{
    return stdio_factory(on, server, inherited, {std::move(agent), core::redaction_of(server), log});
}

transport_factory stdio_factory(
    net::loop& on,
    const core::mcp_server& server,
    const std::vector<std::pair<std::string, std::string>>& inherited,
    stderr_log complaints
)
{
    return [&on,
            command = command_of(server, inherited),
            limit = server.max_message,
            complaints = std::move(complaints)](transport_observer& observer) -> std::unique_ptr<transport> {
        return std::make_unique<stdio_transport>(on, command, limit, complaints, observer);
    };
}

}  // namespace mcp
