// Calls of clients of the modern era on programs of the legacy one, whose lines are the test's.
#pragma once

#include "gateway/mcp/eras/modern_client_calls.hpp"
#include "jose/sealed_text.hpp"
#include "mcp/calls/incoming.hpp"
#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>

namespace mcp_path_test {

using gateway::mcp::eras::modern_client_calls;
using gateway::model::program_request;

inline const std::string declares = R"("io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"roots":{}},)";

// `meta`: members of `_meta` beside those that every request has, with a comma behind each.
inline std::string modern(
    const std::string& id,
    const std::string& method,
    const std::string& params = "",
    const std::string& meta = declares
)
{
    return message(
        id,
        method,
        "{" + params + (params.empty() ? "" : ",") + R"("_meta":{)" + meta +
            R"("io.modelcontextprotocol/protocolVersion":"2026-07-28"}})"
    );
}

inline std::shared_ptr<const mcp::session_ids> new_seals()
{
    const core::secret key{std::string(jose::sealing_key_bytes, 'k')};
    return std::make_shared<const mcp::session_ids>(jose::text_sealer{{&key, 1}});
}

class modern_client_rig : public rig {
public:
    static program_request asked(const std::string& text, const std::string& digest)
    {
        const auto read = mcp::read_incoming(text);
        REQUIRE_FALSE(read.problem.has_value());
        program_request out;
        out.act = gateway::model::program_act::modern;
        out.agent = "a";
        out.read = read.message;
        out.digest = digest;
        const client_text whole{text};
        const mcp::client_message& view = whole;
        out.message = mcp::kept_message{view};
        return out;
    }

    // Null: it was refused, and `troubles` says why.
    reader call(program_request what)
    {
        auto reader = calls.request(new_entry(), what);
        if (!reader) {
            troubles.push_back(reader.error().code);
        }
        poll();
        return reader ? *reader : nullptr;
    }
    reader call(const std::string& text, const std::string& digest = "d") { return call(asked(text, digest)); }

    // What has come by the time that something has.
    std::string later(const reader& from)
    {
        std::string text;
        CHECK(wait_until([&] {
            text = text.empty() ? next(from) : text;
            return !text.empty();
        }));
        return text;
    }

    const std::vector<std::string>& lines(std::size_t program = 0) const { return programs.lines.at(program); }

    std::shared_ptr<const mcp::server_lists> known;  // of the server; null: nothing is
    gateway::mcp::table::local_session_services services{
        .loop = loop,
        .turns = turns,
        .reach = [this](const gateway::model::agent_entry& agent) { return reach(agent); },
        .speaks_modern = [](const core::agent&) { return false; },
        .clock = [this] { return now; },
        .log = log,
        .lists = [this](const std::string&) { return known; },
        .seals = new_seals(),
    };
    modern_client_calls calls{services, *sessions};
};

}  // namespace mcp_path_test
