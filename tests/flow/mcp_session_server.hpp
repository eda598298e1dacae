// What the tests of callers' sessions share: a server that numbers its sessions and can be made to lose them, and a gateway in
// front of it.
#pragma once

#include "tests/flow/mcp_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flow::mcp_calls {

// A server that numbers its sessions and can be made to forget them. What it asks for is in its fields.
class session_server {
public:
    unsigned lost_status = 404;
    std::size_t lost_size = 0;  // of its body, at least
    unsigned delete_status = 200;
    unsigned initialize_status = 200;
    std::string version = "2025-06-18";
    std::size_t id_size = 0;                                   // 0: as long as it is
    bool forgets_each = false;                                 // after every answer to a call
    std::optional<gate> opening{};                             // that holds back the answer to `initialize`
    std::function<script(const recorded_request&)> calls{};    // instead of the usual answer
    std::function<script(const recorded_request&)> listens{};  // the same to GET
    std::string capabilities = R"({"tools":{}})";

    handler as_handler()
    {
        return [this](const recorded_request& request) { return serve(request); };
    }

    void forget()
    {
        const std::lock_guard lock{mutex_};
        known_.clear();
    }

private:
    script serve(const recorded_request& request)
    {
        const std::lock_guard lock{mutex_};
        const auto body = json::parse(request.body, nullptr, /*allow_exceptions=*/false);
        const auto method = body.is_object() ? body.value("method", "") : std::string{};
        if (method == "initialize") {
            return initialize(body);
        }
        if (!known_.contains(request.header("Mcp-Session-Id"))) {
            std::string lost =
                R"({"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}})";
            lost.insert(lost.size() - 1, std::max(lost_size, lost.size()) - lost.size(), ' ');
            return answer_json_with(lost_status, lost);
        }
        if (request.method == "DELETE") {
            return answer(delete_status, "");
        }
        if (request.method == "GET" && listens) {
            return listens(request);
        }
        if (request.method == "GET") {
            return answer(200, "data: {}\n\n", {{"Content-Type", "text/event-stream"}});
        }
        if (!body.contains("id")) {
            return answer(202, "");
        }
        if (method == "tools/call" && calls) {
            return calls(request);
        }
        if (forgets_each) {
            known_.clear();
        }
        return answer_json(
            R"({"jsonrpc":"2.0","id":)" + body["id"].dump() + R"(,"result":{"of":")" +
            request.header("Mcp-Session-Id").substr(0, 4) + R"("}})"
        );
    }

    script initialize(const json& body)
    {
        if (initialize_status != 200) {
            return answer(initialize_status, "");
        }
        auto id = "s-" + std::to_string(++begun_);
        if (id_size > 0) {
            id.insert(id.end(), id_size - id.size(), 'x');
        }
        known_.insert(id);
        auto begun = answer_json(
            R"({"jsonrpc":"2.0","id":)" + body["id"].dump() + R"(,"result":{"protocolVersion":")" + version +
                R"(","capabilities":)" + capabilities + R"(,"serverInfo":{"name":"s","version":"1"}}})",
            {{"Mcp-Session-Id", id}}
        );
        return opening ? then(script{pass_gate{opening->shared()}}, std::move(begun)) : begun;
    }

    static script answer_json_with(unsigned status, std::string body)
    {
        return answer(status, std::move(body), {{"Content-Type", "application/json"}});
    }

    std::mutex mutex_;
    std::set<std::string> known_;
    int begun_ = 0;
};

struct session_rig {
    explicit session_rig(const relayed::adjustment& adjust = {}, std::size_t id_size = 0)
        : server{std::make_shared<session_server>()}
    {
        server->id_size = id_size;
        x = std::make_unique<relayed>(server->as_handler(), [adjust](config::settings& settings) {
            make_mcp(settings);
            if (adjust) {
                adjust(settings);
            }
        });
    }

    void begin_session()
    {
        const std::string body =
            R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":)"
            R"({"sampling":{},"roots":{"listChanged":true}},"clientInfo":{"name":"test","version":"1"}}})";
        const auto got = post(*x, body);
        REQUIRE(got.status == 200);
        session = {{"Mcp-Session-Id", got.header("Mcp-Session-Id")}, {"MCP-Protocol-Version", "2025-06-18"}};
    }

    http_response call(std::string_view id = "1") const { return post(*x, call_of(id), session); }
    http_response end() const { return send(*x, "DELETE", with(usual_fields(), session)); }

    std::vector<std::string> methods_from(std::size_t first) const
    {
        std::vector<std::string> out;
        const auto all = x->agent.requests();
        for (std::size_t i = first; i < all.size(); ++i) {
            const auto body = json::parse(all[i].body, nullptr, /*allow_exceptions=*/false);
            out.push_back(body.is_object() ? body.value("method", "") : all[i].method);
        }
        return out;
    }

    std::shared_ptr<session_server> server;
    std::unique_ptr<relayed> x;
    field_list session;
};

using names = std::vector<std::string>;

}  // namespace flow::mcp_calls
