#include "gateway/cli/gateway_command.hpp"

#include "config/dump.hpp"
#include "core/ascii.hpp"
#include "core/utf8.hpp"
#include "gateway/cli/admin_client.hpp"
#include "gateway/cli/agent_tables.hpp"
#include "gateway/cli/gateway_tables.hpp"
#include "gateway/model/terminal_text.hpp"
#include "gateway/telemetry/log_output.hpp"
#include "net/client/exchange.hpp"
#include "net/sse/sse_events.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string_view>
#include <thread>
#include <utility>

namespace gateway::cli {
namespace {

using core::json;
using steady = std::chrono::steady_clock;

constexpr std::uint64_t most_rows = 1000;

std::string encoded(std::string_view value)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string out;
    for (const char each : value) {
        if (core::is_letter(each) || core::is_digit(each) || each == '-' || each == '_' || each == '.') {
            out.push_back(each);
        } else {
            const auto byte = static_cast<unsigned char>(each);
            out += {'%', digits[byte >> 4U], digits[byte & 15U]};
        }
    }
    return out;
}

// The field of an event, such as `id`.
std::string field_of(std::string_view event, std::string_view name)
{
    while (!event.empty()) {
        if (const auto line = net::take_sse_line(event); line.name == name) {
            return std::string{line.value};
        }
    }
    return {};
}

// The text within the window of a terminal, whose lines are overwritten.
std::string in_window(std::string_view text)
{
    ::winsize window{};
    const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_row > 1 && window.ws_col > 0;
    const std::size_t rows = known ? window.ws_row - 1U : 1000U;
    const std::size_t columns = known ? window.ws_col : 1000U;
    std::string out = "\x1b[H";
    for (std::size_t row = 0; row < rows && !text.empty(); ++row) {
        const auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        out.append(core::cut_utf8(line, columns)).append("\x1b[K\n");
    }
    return out + "\x1b[J";
}

class gateway_cli {
public:
    gateway_cli(const gateway_command& command, admin_client gateway, telemetry::line_form form)
        : command_{command},
          gateway_{std::move(gateway)},
          form_{form},
          terminal_{::isatty(STDOUT_FILENO) == 1},
          table_{command.output == output_form::table || (command.output == output_form::automatic && terminal_)}
    {
    }

    exit_code run()
    {
        switch (command_.verb) {
            case gateway_verb::status:
                return command_.watch ? watch() : status();
            case gateway_verb::events:
                return events();
            case gateway_verb::edges:
                return show(gateway_.call("calls/edges", wishes_of_edges()), [this](const json& found) {
                    return table_ ? edges_table(found) : model::shown_json(found);
                });
            case gateway_verb::replicas:
                return show(gateway_.call("replicas/list", json::object()), [this](const json& found) {
                    return table_ ? replicas_table(found) : model::shown_json(found);
                });
            case gateway_verb::reload:
                return show(gateway_.reload(), [&](const json& report) {
                    return table_ ? reload_text(report) : model::shown_json(report);
                });
            case gateway_verb::configuration:
                return show(gateway_.call("gateway/config", json::object()), [&](const json& found) {
                    const auto dumped = dump_of(found);
                    if (const auto* const omitted = core::member(found, "agents_omitted")) {
                        std::cerr << "cardea: " << core::to_text(*omitted)
                                  << " agents are left out: there are too many\n";
                    }
                    return command_.output == output_form::json
                               ? model::shown_json(dumped)
                               : model::printable(config::dump_text(dumped), /*lines=*/true);
                });
        }
        return exit_code::unusable;
    }

private:
    static exit_code report(const admin_failure& failure)
    {
        std::cerr << complaints(failure, {}) << std::flush;
        return code_of(failure);
    }

    template <class Text>
    static exit_code show(const admin_result& result, const Text& text_of_result)
    {
        if (!result) {
            return report(result.error());
        }
        std::cout << text_of_result(*result) << std::flush;
        return exit_code::done;
    }

    // `info` of gateway/info, and agents/health with the numbers of calls.
    admin_result found() const
    {
        auto info = gateway_.call("gateway/info", json::object());
        if (!info) {
            return info;
        }
        json params{{"stats", true}, {"sort", command_.sort.empty() ? "trouble" : command_.sort}, {"limit", most_rows}};
        auto agents = gateway_.call("agents/health", params);
        if (!agents) {
            return agents;
        }
        (*agents)["info"] = std::move(*info);
        return agents;
    }

    json wishes_of_edges() const
    {
        auto params = json::object();
        for (const auto& [name, value] :
             {std::pair{"principal", &command_.principal}, {"agent", &command_.agent}, {"sort", &command_.sort}}) {
            if (!value->empty()) {
                params[name] = *value;
            }
        }
        if (command_.limit) {
            params["limit"] = *command_.limit;
        }
        return params;
    }

    std::string shown(const json& all) const
    {
        if (!table_) {
            return model::shown_json(all);
        }
        const auto& info = all.at("info");
        const bool cut = all.at("agents").size() >= most_rows;
        const auto rest =
            cut ? "These are the first of " + shown_member(info.at("counts"), "agents") + " agents.\n" : "";
        return info_text(info) + "\n" + calls_table(all) + rest;
    }

    exit_code status() const
    {
        return show(found(), [this](const json& all) { return shown(all); });
    }

    // A gateway that cannot be reached is waited for, once it has been seen.
    exit_code watch() const
    {
        constexpr std::chrono::seconds pause{2};
        const bool draws = terminal_ && table_;
        auto latest = found();
        if (!latest) {
            return report(latest.error());
        }
        std::cout << (draws ? "\x1b[2J" : "");
        for (std::string text;; latest = found()) {
            if (latest) {
                text = shown(*latest);
                std::cout << (draws ? in_window(text) : text) << std::flush;
            } else if (draws) {
                std::cout << in_window(complaints(latest.error(), {}) + "\n" + text) << std::flush;
            } else {
                report(latest.error());
            }
            std::this_thread::sleep_for(pause);
        }
    }

    admin_request request_of_events() const
    {
        constexpr std::uint64_t usual = 20;
        admin_request out;
        out.silence = std::chrono::seconds{60};  // a quiet stream has a comment every 15 s
        out.path = "/events?last=" + std::to_string(command_.last.value_or(usual));
        for (const auto& [name, value] :
             {std::pair{"agent", &command_.agent},
              {"event", &command_.event},
              {"route", &command_.route},
              {"status", &command_.status}}) {
            if (!value->empty()) {
                out.path.append("&").append(name).append("=").append(encoded(*value));
            }
        }
        out.headers.emplace_back("Accept", "text/event-stream");
        if (!latest_.empty()) {
            out.headers.emplace_back("Last-Event-ID", latest_);
        }
        return out;
    }

    // A stream that breaks off, as it does at a hand-over, is resumed.
    exit_code events()
    {
        constexpr std::chrono::seconds patience{30};
        constexpr std::chrono::milliseconds pause{500};
        for (auto seen = steady::now() - patience;;) {
            live_ = false;
            const auto failure = read_events();
            if (!std::cout || (live_ && !command_.follow)) {
                return exit_code::done;  // main() tells of an output that takes no more
            }
            if (live_) {
                seen = steady::now();
                std::cerr << "cardea: the stream of events has ended; asking again\n" << std::flush;
            } else if (steady::now() - seen > patience) {
                return report(failure);
            }
            std::this_thread::sleep_for(pause);
        }
    }

    // Until the stream ends, or with the comment `live` if it is not followed. Returns why there is no more.
    admin_failure read_events()
    {
        constexpr std::uint64_t longest = 1024 * 1024;  // of an event
        net::sse_splitter events{longest};
        unsigned status = 0;
        bool streams = false;
        std::string body;
        const admin_reader reader{
            [&](const net::exchange_head& head) {
                status = head.status;
                streams = status == 200 && head.has_type("text/event-stream");
                return true;
            },
            [&](std::string_view piece) {
                if (!streams) {
                    body.append(piece);
                    return true;
                }
                events.feed(piece);
                while (const auto event = events.next()) {
                    take(*event);
                }
                std::cout.flush();
                return std::cout.good() && !events.too_large() && (command_.follow || !live_);
            }
        };
        auto failure = gateway_.stream(request_of_events(), reader);
        if (failure) {
            return std::move(*failure);
        }
        return streams ? admin_failure{.message = "the gateway has ended the stream of events"}
                       : gateway_.refusal(status, body);
    }

    void take(std::string_view event)
    {
        const auto data = net::sse_data(event);
        if (!data) {
            live_ = live_ || event.starts_with(": live");
            return;
        }
        if (field_of(event, "event") == "lost") {
            std::cerr << "cardea: " << model::printable("lines were lost: " + *data) << "\n" << std::flush;
            return;
        }
        latest_ = field_of(event, "id");
        std::cout << (table_ ? telemetry::shown_line(*data, form_) : model::printable(*data)) << '\n';
    }

    const gateway_command& command_;
    admin_client gateway_;
    telemetry::line_form form_;
    bool terminal_;
    bool table_;
    std::string latest_;  // id of the last event
    bool live_ = false;   // all events that came before have been told
};

}  // namespace

exit_code run_gateway_command(const gateway_command& command, const environment& variable)
{
    auto gateway = admin_client::open(command, variable);
    if (!gateway) {
        std::cerr << "cardea: " << model::printable(gateway.error().detail) << '\n';
        return exit_code::unusable;
    }
    const auto place = telemetry::place_of(STDOUT_FILENO, variable);
    auto form = telemetry::form_at(place, core::log_format::text);
    form.journal = false;
    return gateway_cli{command, std::move(*gateway), form}.run();
}

}  // namespace gateway::cli
