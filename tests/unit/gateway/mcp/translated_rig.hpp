// Clients of the legacy era and a program of the modern one whose lines are the test's.
#pragma once

#include "gateway/mcp/local_session_plane.hpp"
#include "mcp/calls/incoming.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "net/loop/signal.hpp"
#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mcp_path_test {

using gateway::model::program_act;
using gateway::model::program_batch;
using gateway::model::program_reader;
using gateway::model::program_request;

inline const std::string era_refusal =
    R"({"jsonrpc":"2.0","id":0,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}})";

inline const std::string discovered =
    R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"logging":{}},)"
    R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1.50"}}})";

inline const std::string translated_opening =
    R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{}},)"
    R"("serverInfo":{"name":"s","version":"1.50"}}})";

inline std::string terms_meta(const std::string& level = {})
{
    return R"("io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1.0"},)"
           R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"roots":{}})" +
           (level.empty() ? "" : R"(,"io.modelcontextprotocol/logLevel":")" + level + '"');
}

class translated_rig : public rig {
public:
    translated_rig()
    {
        server.era = core::mcp_era::modern;
        publish();
    }
    ~translated_rig()
    {
        plane.stop();
        poll();
    }

    void publish() { plane.set_agent("a", new_entry()); }

    static program_request asked(program_act act, const std::string& handle, const std::string& text = {})
    {
        program_request out;
        out.act = act;
        out.agent = "a";
        out.handle = handle;
        out.version = "2025-06-18";
        if (!text.empty()) {
            const client_text read{text};
            const mcp::client_message& view = read;
            out.message = mcp::kept_message{view};
            out.read = mcp::read_incoming(text).message;
        }
        return out;
    }

    std::unique_ptr<program_reader> open(program_request what)
    {
        auto reader = plane.open(std::move(what), loop.get_executor(), wake);
        poll();
        return reader;
    }

    // Everything that has come; behind it "over", or the failure's name, if nothing comes any more.
    std::string all(program_reader& from)
    {
        poll();
        std::string text;
        while (auto batch = from.take()) {
            for (const auto& each : batch->texts) {
                text += each + '\n';
            }
            if (batch->failure) {
                text += core::name(batch->failure->code);
            } else if (batch->over) {
                text += "over";
            }
            const bool over = batch->over;
            from.next();
            poll();
            if (over) {
                break;
            }
        }
        return text;
    }

    std::string all(program_request what)
    {
        const auto reader = open(std::move(what));
        return all(*reader);
    }

    // The handle of a session whose opening is known here.
    std::string begin_session()
    {
        lists = std::make_shared<mcp::server_lists>();
        lists->server = *mcp::read_discover_result(discovered);
        const auto reader = open(asked(program_act::begin, "", opening));
        auto batch = reader->take();
        REQUIRE(batch.has_value());
        CHECK(batch->texts == std::vector{translated_opening});
        reader->next();
        poll();
        return batch->handle;
    }

    // A line that a program was sent, counted from the last, and its id.
    std::string line(std::size_t from_last = 0, std::size_t number = 0) const
    {
        const auto& sent = programs.lines.at(number);
        return from_last < sent.size() ? sent[sent.size() - 1 - from_last] : std::string{};
    }
    std::string id_of_line(std::size_t from_last = 0, std::size_t number = 0) const
    {
        return std::string{mcp::members_of(line(from_last, number)).find("id")};
    }

    void say(const std::string& text, std::size_t number = 0)
    {
        programs.say(text, number);
        poll();
    }

    void pass(core::duration time)
    {
        now += time;
        plane.sweep(now);
        poll();
    }

    net::task<core::result<>> read_lists(std::string id)
    {
        lists_read.push_back(std::move(id));
        co_return core::result<>{};
    }

    net::signal wake;
    std::vector<std::string> lists_read;       // of which agents
    std::shared_ptr<mcp::server_lists> lists;  // null: the control session knows nothing yet
    gateway::mcp::local_session_plane plane{gateway::mcp::table::local_session_services{
        .loop = loop,
        .turns = turns,
        .reach = [this](const gateway::model::agent_entry&) { return programs.factory(); },
        .speaks_modern = [this](const core::agent&) { return modern; },
        .clock = [this] { return now; },
        .log = log,
        .control = [this](const std::string&) -> core::result<std::shared_ptr<const mcp::server_facts>> {
            if (lists == nullptr) {
                return core::upstream_error(errc::session_not_ready);
            }
            return std::shared_ptr<const mcp::server_facts>{lists, &lists->server};
        },
        .lane = [this](const std::string&) { return programs.factory(); },
        .listed = [this](const std::string&) { return lists; },
        .lists = [this](const std::string&) { return lists; },
        .read_lists = [this](const std::string& id) { return read_lists(id); },
    }};
};

}  // namespace mcp_path_test
