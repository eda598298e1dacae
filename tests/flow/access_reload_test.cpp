// Who may use the admin listener while the configuration changes: `admin_access`, `access` and `register.token` at reloads.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/reload_fixture.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/access at reloads");

namespace {

using namespace flow;
using test_support::http_client;
using test_support::write_whole;

const field_list ops = bearer("token-of-ops-0123456789");
const field_list old_reader = bearer("token-of-old-0123456789");
const field_list new_reader = bearer("token-of-new-0123456789");

// With an operator, and a reader of this name.
std::string configuration(
    std::string_view admin_access,
    const std::string& reader = "old",
    const std::string& registration = "register-token-0123456789"
)
{
    const auto provider = [](const std::string& name, const std::string& scopes) {
        return "{type: static_token, name: " + name + ", principal: " + name + ", token: token-of-" + name +
               "-0123456789, scopes: [" + scopes + "]}";
    };
    return "reload: {watch: false}\nadmin_access: " + std::string{admin_access} +
           "\nregister: {token: " + registration + "}\nlimits: {failed_credentials: 1000}\naccess: {providers: [" +
           provider("ops", "\"cardea:read\", \"cardea:write\"") + ", " + provider(reader, "\"cardea:read\"") +
           "]}\nagents:\n" + inline_agent("a", "A", ", discover: {scopes: [\"cardea:read\"]}");
}

struct changing_gateway {
    void reload(const std::string& text, const field_list& headers, unsigned expected) const
    {
        write_whole(file, text);
        CHECK(request(gateway.admin_port, "POST", "/reload", headers).status == expected);
    }

    unsigned metrics(const field_list& headers) const
    {
        return request(gateway.admin_port, "GET", "/metrics", headers).status;
    }

    unsigned card(const field_list& headers) const
    {
        return request(gateway.port, "GET", card_target("a"), headers).status;
    }

    unsigned registers(std::uint16_t port, const std::string& token) const
    {
        auto headers = bearer(token);
        headers.emplace_back("Content-Type", "application/json");
        return request(port, "POST", "/agent/register", headers, "{}").status;
    }

    static std::string first(const std::string& file, const std::string& text)
    {
        write_whole(file, text);
        return file;
    }

    explicit changing_gateway(const std::string& text)
        : gateway{first(file, text)}
    {
    }

    test_support::scratch_directory here;
    std::string file = here.file("c.yml");
    reloading_gateway gateway;
};

}  // namespace

TEST_CASE("admin_access changes with a reload, to scopes and back to loopback or open")
{
    const changing_gateway with{configuration("loopback")};
    CHECK(with.metrics(nobody) == 200);
    for (const auto* open : {"loopback", "open"}) {
        CAPTURE(open);
        with.reload(configuration("scopes"), nobody, 200);
        CHECK(with.metrics(nobody) == 401);
        CHECK(with.metrics(old_reader) == 200);
        CHECK(with.metrics(unknown) == 401);
        CHECK(rpc(with.gateway.admin_port, nobody, "agents/list", "{}").status == 401);
        CHECK(request(with.gateway.admin_port, "GET", "/readyz").status == 200);
        with.reload(configuration(open), nobody, 401);
        with.reload(configuration(open), old_reader, 403);
        CHECK(with.metrics(nobody) == 401);
        with.reload(configuration(open), ops, 200);
        CHECK(with.metrics(nobody) == 200);
        CHECK(with.metrics(unknown) == 200);
        CHECK(rpc(with.gateway.admin_port, nobody, "agents/list", "{}").status == 200);
    }
}

TEST_CASE("a configuration with problems leaves admin_access as it is")
{
    const changing_gateway with{configuration("scopes")};
    with.reload("admin_access: scopes\n", ops, 422);
    with.reload(configuration("anybody"), ops, 422);
    CHECK(with.metrics(nobody) == 401);
    CHECK(with.metrics(old_reader) == 200);
}

TEST_CASE(
    "credentials of a provider that a reload removes are refused, also on kept connections, and those of a new one hold"
)
{
    const changing_gateway with{configuration("scopes")};
    http_client kept{with.gateway.admin_port};
    const auto ask_again = [&] {
        kept.send(test_support::request_text("HEAD", "/metrics", old_reader));
        return kept.read_response(true).status;
    };
    CHECK(ask_again() == 200);
    CHECK(with.card(old_reader) == 200);
    CHECK(with.metrics(new_reader) == 401);
    CHECK(with.card(new_reader) == 401);
    with.reload(configuration("scopes", "new"), ops, 200);
    CHECK(ask_again() == 401);
    CHECK(with.metrics(old_reader) == 401);
    CHECK(with.card(old_reader) == 401);
    CHECK(with.metrics(new_reader) == 200);
    CHECK(with.card(new_reader) == 200);
}

TEST_CASE("a listener of a bundle hears that rules of access give it other tools")
{
    const auto text = [](std::string_view groups) {
        return "reload: {watch: false}\naccess:\n"
               "  providers:\n"
               "    - {type: static_token, name: old, token: token-of-old-0123456789, groups: [old]}\n"
               "    - {type: static_token, name: ops, token: token-of-ops-0123456789, groups: [ops]}\n"
               "  rules:\n"
               "    - {agents: [b], discover: authenticated, call: {groups: [" +
               std::string{groups} +
               "]}}\n"
               "    - {discover: authenticated, call: authenticated}\n"
               "mcp: {bundles: {default: {agents: [a, b]}}}\nagents:\n" +
               inline_agent("a", "A") + inline_agent("b", "B");
    };
    const changing_gateway with{text("old, ops")};
    http_client listener{with.gateway.port};
    auto fields = old_reader;
    fields.insert(
        fields.end(),
        {{"Accept", "application/json, text/event-stream"},
         {"Content-Type", "application/json"},
         {"MCP-Protocol-Version", "2026-07-28"},
         {"Mcp-Method", "subscriptions/listen"}}
    );
    listener.send(test_support::request_text(
        "POST",
        "/mcp",
        fields,
        R"({"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":)"
        R"({"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
        R"("io.modelcontextprotocol/clientCapabilities":{}}}})"
    ));
    CHECK(listener.read_until("subscriptions/acknowledged").find("200") != std::string::npos);
    with.reload(text("ops"), nobody, 200);
    CHECK(listener.read_until("tools/list_changed").find("data:") != std::string::npos);
}

TEST_CASE("a token for registrations that a reload replaces is refused on both listeners")
{
    const changing_gateway with{configuration("scopes")};
    const auto status = [&](const std::string& token) {
        const auto admin = with.registers(with.gateway.admin_port, token);
        CHECK(with.registers(with.gateway.port, token) == admin);
        return admin;
    };
    // The body is no registration.
    CHECK(status("register-token-0123456789") == 400);
    CHECK(status("another-token-0123456789") == 401);
    with.reload(configuration("scopes", "old", "another-token-0123456789"), ops, 200);
    CHECK(status("register-token-0123456789") == 401);
    CHECK(status("another-token-0123456789") == 400);
}

TEST_SUITE_END();
