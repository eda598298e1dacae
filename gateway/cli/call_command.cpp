#include "gateway/cli/call_command.hpp"

#include "config/file.hpp"
#include "core/ascii.hpp"
#include "gateway/cli/admin_client.hpp"
#include "gateway/cli/agent_tables.hpp"
#include "gateway/cli/call_messages.hpp"
#include "gateway/model/terminal_text.hpp"
#include "net/client/exchange.hpp"
#include "net/sse/sse_events.hpp"

#include <algorithm>
#include <functional>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::cli {
namespace {

using core::json;

constexpr core::json_limits answer_limits{.bytes = 64 * 1024 * 1024, .depth = 64, .members = 10'000};
constexpr std::size_t most_values = 2'000'000;  // in a message

bool is_of_protocol(std::string_view name)
{
    return name == "accept" || name == "content-type" || name == "last-event-id" || name.starts_with("a2a-") ||
           name.starts_with("mcp-") || name.starts_with("cardea-caller-");
}

std::string random_id()
{
    constexpr std::string_view digits = "0123456789abcdef";
    std::random_device source;
    std::string out;
    for (int i = 0; i < 32; ++i) {
        out.push_back(digits[source() % digits.size()]);
    }
    return out;
}

class call_cli {
public:
    call_cli(const call_command& command, admin_client gateway)
        : command_{command},
          gateway_{std::move(gateway)},
          json_{command.output == output_form::json}
    {
    }

    exit_code run()
    {
        if (!read_headers() || !read_documents()) {
            return exit_;
        }
        const auto agent = gateway_.call("agents/get", {{"id", command_.id}});
        if (!agent) {
            err(complaints(agent.error(), command_.id));
            return code_of(agent.error());
        }
        const auto* const card = core::member(*agent, "card");
        const bool says_nothing = command_.text.empty() && document_.empty();
        if (!command_.tool.empty()) {
            call_tool(card == nullptr ? json{} : *card);
        } else if (says_nothing && core::text_member(*agent, "protocol") == "mcp") {
            list_tools();
        } else if (says_nothing) {
            fail(exit_code::unusable, "expected TEXT, --json FILE or --tool NAME");
        } else {
            send_message(card == nullptr ? json{} : *card);
        }
        return exit_;
    }

private:
    static void err(const std::string& printable) { std::cerr << printable << std::flush; }

    void fail(exit_code code, const std::string& message)
    {
        exit_ = code;
        end_line();
        err("cardea: " + model::printable(message) + "\n");
    }

    // A caller's own fields have other names on their way: a credential among them is not for the admin listener.
    bool read_headers()
    {
        for (const auto& line : command_.headers) {
            const auto colon = std::min(line.find(':'), line.size());
            auto name = std::string{core::trim(std::string_view{line}.substr(0, colon))};
            const auto value =
                colon < line.size() ? core::trim(std::string_view{line}.substr(colon + 1)) : std::string_view{};
            if (!core::is_token(name) || value.empty() || std::ranges::any_of(value, core::is_control)) {
                fail(exit_code::unusable, "--header: expected NAME:VALUE, got '" + line.substr(0, colon) + "'");
                return false;
            }
            if (!is_of_protocol(core::in_lower_case(name))) {
                name.insert(0, "Cardea-Caller-");
            }
            headers_.emplace_back(std::move(name), value);
        }
        return true;
    }

    bool read_documents()
    {
        if (!command_.json_file.empty()) {
            auto text = config::read_file(command_.json_file == "-" ? "/dev/stdin" : command_.json_file);
            if (!text) {
                fail(exit_code::unusable, command_.json_file + ": " + text.error().detail);
                return false;
            }
            document_ = std::move(*text);
        }
        return is_usable(command_.json_file, document_, false) && is_usable("--args", command_.arguments, true);
    }

    // Reports JSON that cannot be sent.
    bool is_usable(const std::string& of, const std::string& text, bool as_object)
    {
        if (text.empty()) {
            return true;
        }
        const auto parsed = core::parse_json(text, answer_limits);
        if (!parsed || (as_object && !parsed->is_object())) {
            fail(exit_code::unusable, of + ": " + (parsed ? "expected a JSON object" : parsed.error().detail));
            return false;
        }
        return true;
    }

    void send_message(const json& card)
    {
        message_to_agent what;
        what.agent = command_.id;
        what.version = command_.a2a_version.empty() ? version_for(card) : command_.a2a_version;
        what.text = command_.text;
        what.document = document_;
        what.id = random_id();
        what.stream = command_.stream;
        answer(request_of(what));
    }

    void call_tool(const json& card)
    {
        const auto* const skills = core::member(card, "skills");
        json schema;
        for (std::size_t i = 0; skills != nullptr && skills->is_array() && i < skills->size(); ++i) {
            const auto* const its = core::member((*skills)[i], "inputSchema");
            if (its != nullptr && shown_member((*skills)[i], "id") == command_.tool) {
                schema = *its;
            }
        }
        answer(tool_request(command_.id, command_.tool, command_.arguments.empty() ? "{}" : command_.arguments, schema)
        );
    }

    void list_tools()
    {
        constexpr int most_pages = 200;
        auto tools = json::array();
        std::string cursor;
        int pages = 0;
        do {
            const auto request = tools_request(command_.id, cursor);
            cursor.clear();
            exchange(request, [&](const json& message) {
                const auto* const result = core::member(message, "result");
                const auto* const found = result == nullptr ? nullptr : core::member(*result, "tools");
                if (found != nullptr && found->is_array()) {
                    tools.insert(tools.end(), found->begin(), found->end());
                    cursor = core::text_member(*result, "nextCursor");
                }
            });
        } while (exit_ == exit_code::done && !cursor.empty() && ++pages < most_pages);
        if (exit_ == exit_code::done) {
            std::cout << (json_ ? model::shown_json({{"tools", std::move(tools)}}) : tools_table(tools)) << std::flush;
        }
    }

    void answer(const admin_request& request)
    {
        std::string state;
        std::string task;
        exchange(request, [&](const json& message) {
            const auto said = read_message(message);
            if (json_) {
                std::cout << (streams_ ? model::printable(core::to_text(message)) + "\n" : model::shown_json(message))
                          << std::flush;
            } else {
                say(said);
            }
            state = said.state.empty() ? state : said.state;
            task = said.task.empty() ? task : said.task;
        });
        end_line();
        if (const auto why = failure_of(state); !why.empty()) {
            fail(exit_code::refused, command_.id + ": " + std::string{why});
        } else if (exit_ == exit_code::done && !state.empty() && state != "completed") {
            err("cardea: " + model::printable(command_.id + ": the task " + task + " is " + state) + "\n");
        }
    }

    void say(const heard& said)
    {
        if (!said.text.empty()) {
            if (!said.goes_on) {
                end_line();
            }
            std::cout << model::printable(said.text, /*lines=*/true) << std::flush;
            within_line_ = !said.text.ends_with('\n');
        }
        if (command_.stream && !said.progress.empty()) {
            end_line();
            err(model::printable(said.progress) + "\n");
        }
    }

    void end_line()
    {
        if (within_line_) {
            std::cout << '\n' << std::flush;
            within_line_ = false;
        }
    }

    // Sends the request, and gives each message of the answer to `hear`. A failure is reported, also one that a message tells.
    void exchange(admin_request request, const std::function<void(const json& message)>& hear)
    {
        for (const auto& [name, value] : headers_) {
            std::erase_if(request.headers, [&](const auto& each) {
                return core::equal_ignoring_case(each.first, name);
            });
            request.headers.emplace_back(name, value);
        }
        bool result = false;
        const auto take = [&](std::string_view text) {
            const auto message = core::parse_document(text, answer_limits, most_values);
            if (!message) {
                return;
            }
            const auto said = read_message(*message);
            result = result || said.result;
            hear(*message);
            if (!said.failure.empty()) {
                fail(exit_code::refused, command_.id + ": " + said.failure);
            }
        };
        unsigned status = 0;
        std::string body;
        net::sse_splitter events{answer_limits.bytes};
        const admin_reader reader{
            [&](const net::exchange_head& head) {
                status = head.status;
                streams_ = head.has_type("text/event-stream");
                return true;
            },
            [&](std::string_view piece) {
                if (!streams_) {
                    body.append(piece);
                    return true;
                }
                events.feed(piece);
                while (const auto event = events.next()) {
                    if (const auto data = net::sse_data(*event)) {
                        take(*data);
                    }
                }
                return !events.too_large();
            }
        };
        const auto failure = gateway_.stream(request, reader);
        if (!streams_ && !failure) {
            take(body);
        }
        if (failure) {
            end_line();
            err(complaints(*failure, command_.id));
            exit_ = code_of(*failure);
        } else if (!result) {
            fail(
                exit_code::refused,
                command_.id + ": the answer (status " + std::to_string(status) + ") has no result"
            );
        }
    }

    const call_command& command_;
    admin_client gateway_;
    bool json_;
    std::vector<std::pair<std::string, std::string>> headers_;
    std::string document_;
    exit_code exit_ = exit_code::done;
    bool streams_ = false;      // the answer is an event stream
    bool within_line_ = false;  // of stdout
};

}  // namespace

exit_code run_call_command(const call_command& command, const environment& variable)
{
    auto gateway = admin_client::open(command, variable);
    if (!gateway) {
        std::cerr << "cardea: " << model::printable(gateway.error().detail) << '\n';
        return exit_code::unusable;
    }
    return call_cli{command, std::move(*gateway)}.run();
}

}  // namespace gateway::cli
