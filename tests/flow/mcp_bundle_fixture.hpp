// What the tests of bundles share: a gateway with two programs and one bundle of them.
#pragma once

#include "tests/flow/mcp_program_fixture.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flow::mcp_bundles {

using namespace mcp_programs;

inline core::mcp_bundle bundle_of(std::vector<core::bundle_member> members)
{
    core::mcp_bundle bundle;
    bundle.name = "default";
    bundle.agents = std::move(members);
    return bundle;
}

// The programs `a` and `b`, of which the bundle calls the second `bee`. They differ in where they keep what they get.
class bundle_gateway {
public:
    explicit bundle_gateway(const program_gateway::adjustment& adjust = {})
        : programs_{[&](config::settings& settings) {
              settings.agents[0].mcp->start = core::mcp_start::eager;
              auto second = settings.agents[0];
              second.id = "b";
              second.mcp->directory = other_.path().string();
              settings.agents.push_back(std::move(second));
              settings.mcp.bundles = {bundle_of({{"a"}, {"b", "bee"}})};
              if (adjust) {
                  adjust(settings);
              }
          }}
    {
    }

    const program_gateway& programs() const noexcept { return programs_; }
    std::optional<double> metric(const std::string& series) { return programs_.gateway().metric(series); }
    const scratch_directory& other() const noexcept { return other_; }

    http_response send(
        std::string_view method,
        const field_list& fields,
        std::string_view body = {},
        std::string_view path = "/mcp"
    ) const
    {
        http_client caller{programs_.port()};
        caller.send(text(method, fields, body, path));
        return caller.read_response();
    }

    static std::string
    text(std::string_view method, const field_list& fields, std::string_view body, std::string_view path = "/mcp")
    {
        field_list all{{"Accept", "application/json, text/event-stream"}};
        all.insert(all.end(), fields.begin(), fields.end());
        if (!body.empty()) {
            all.emplace_back("Content-Type", "application/json");
        }
        return request_text(method, path, all, body);
    }

    json post(const std::string& body, const field_list& fields = {}) const
    {
        const auto got = send("POST", fields, body);
        CHECK(got.status == 200);
        return json::parse(got.body);
    }

    field_list begin(const field_list& fields = {}, std::string_view path = "/mcp") const
    {
        const auto got = send("POST", fields, initialize_body, path);
        REQUIRE(got.status == 200);
        auto session = fields;
        session.emplace_back("Mcp-Session-Id", got.header("Mcp-Session-Id"));
        session.emplace_back("MCP-Protocol-Version", "2025-11-25");
        return session;
    }

    json modern(std::string_view method, json params, const field_list& fields = {}) const
    {
        const auto got = send_modern(method, std::move(params), fields);
        CHECK(got.status == 200);
        return json::parse(got.body);
    }

    http_response send_modern(std::string_view method, json params, const field_list& fields = {}) const
    {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28";
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json::object();
        field_list all{{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", std::string{method}}};
        if (params.contains("name")) {
            all.emplace_back("Mcp-Name", params["name"].get<std::string>());
        }
        all.insert(all.end(), fields.begin(), fields.end());
        return send("POST", all, json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}}.dump());
    }

private:
    scratch_directory other_;
    program_gateway programs_;
};

inline std::vector<std::string> names_in(const json& listed)
{
    std::vector<std::string> names;
    for (const auto& each : listed["result"]["tools"]) {
        names.push_back(each["name"].get<std::string>());
    }
    return names;
}

}  // namespace flow::mcp_bundles
