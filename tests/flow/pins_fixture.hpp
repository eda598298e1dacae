// What the tests of pins share: a server that says other things when it is told to, and a gateway in front of it.
#pragma once

#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flow::pins {

using namespace flow::mcp_calls;

inline std::string tool(std::string_view name, std::string_view words, std::string_view type = "string")
{
    return json{
        {"name", name},
        {"description", words},
        {"inputSchema", {{"type", "object"}, {"properties", {{"q", {{"type", type}}}}}}}
    }.dump();
}

// What a server says: to the gateway's own session, and to callers.
class changing_server {
public:
    struct words {
        std::string own;
        std::string callers;
        std::string instructions = "Be kind.";
    };

    explicit changing_server(std::string tools) { set(tools, tools); }

    void set(const std::string& own, const std::string& callers, const std::string& instructions = "Be kind.")
    {
        const std::lock_guard lock{said_->mutex};
        said_->now = {'[' + own + ']', '[' + callers + ']', instructions};
    }
    void set(const std::string& all) { set(all, all); }

    handler as_handler() const
    {
        return [said = said_](const recorded_request& request) { return serve(*said, request); };
    }

private:
    struct shared_words {
        std::mutex mutex;
        words now;
    };

    static script serve(shared_words& said, const recorded_request& request)
    {
        const std::lock_guard lock{said.mutex};
        const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
        const auto method = body.is_object() ? body.value("method", "") : std::string{};
        if (request.method != "POST") {
            return answer(405, "");
        }
        if (!body.contains("id")) {
            return answer(202, "");
        }
        const auto result = [&](const std::string& text) {
            return answer_json(R"({"jsonrpc":"2.0","id":)" + body["id"].dump() + R"(,"result":)" + text + '}');
        };
        if (method == "initialize") {
            const json begun{
                {"protocolVersion", "2025-06-18"},
                {"capabilities", {{"tools", json::object()}}},
                {"serverInfo", {{"name", "s"}, {"version", "1"}}},
                {"instructions", said.now.instructions}
            };
            return answer_json(
                json{{"jsonrpc", "2.0"}, {"id", body["id"]}, {"result", begun}}.dump(),
                {{"Mcp-Session-Id", std::string{server_id}}}
            );
        }
        if (method == "tools/list") {
            const bool own = request.header("Traceparent").empty();
            return result(R"({"tools":)" + (own ? said.now.own : said.now.callers) + '}');
        }
        return result(method == "tools/call" ? R"({"content":[{"type":"text","text":"done"}]})" : "{}");
    }

    std::shared_ptr<shared_words> said_ = std::make_shared<shared_words>();
};

// A gateway in front of one server.
struct pinned {
    explicit pinned(
        std::string tools,
        core::pin_mode mode = core::pin_mode::enforce,
        const relayed::adjustment& adjust = {}
    )
        : server{std::move(tools)},
          x{server.as_handler(), [mode, adjust](config::settings& settings) {
                make_mcp(settings);
                auto& agent = settings.agents[0];
                agent.pin.mode = mode;
                agent.mcp->start = core::mcp_start::eager;
                agent.mcp->era = core::mcp_era::legacy;
                if (adjust) {
                    adjust(settings);
                }
            }}
    {
        CHECK(becomes_true([&] { return get_card(x.gateway, "a").status == 200; }));
    }

    void refresh() const { manage(x.gateway, "agents/refreshCard", {{"id", "a"}}); }
    core::json pins() const { return manage(x.gateway, "agents/pins", {{"id", "a"}})["agents"][0]; }

    json tools(const std::string& session) const
    {
        const auto got = post(x, R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})", {{"Mcp-Session-Id", session}});
        CHECK(got.status == 200);
        return json::parse(got.body)["result"]["tools"];
    }

    http_response call(const std::string& session, std::string_view name) const
    {
        const json body{{"jsonrpc", "2.0"}, {"id", 5}, {"method", "tools/call"}, {"params", {{"name", name}}}};
        return post(x, body.dump(), {{"Mcp-Session-Id", session}});
    }

    changing_server server;
    relayed x;
};

inline std::vector<std::string> names(const json& tools)
{
    std::vector<std::string> all;
    for (const auto& each : tools) {
        all.push_back(each["name"].get<std::string>());
    }
    return all;
}

inline void check_unknown(const http_response& got)
{
    CHECK(got.status == 200);
    CHECK(json::parse(got.body)["error"]["code"] == -32602);
}

}  // namespace flow::pins
