// Containment of programs, members of bundles, and clients of both.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/contained_fixture.hpp"
#include "tests/flow/mcp_bundle_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using flow::check_contained;
using flow::contain;
using flow::contain_principal;
using flow::contained_rpc;
using flow::release;
using flow::release_principal;
using namespace flow::mcp_bundles;

TEST_SUITE_BEGIN("flow/contained_programs");

namespace {

constexpr std::string_view agents_code = "agent_contained";
constexpr std::string_view callers_code = "principal_contained";

void with_callers(config::settings& settings)
{
    settings.access.providers = {
        flow::token("ann", "ann-token-0123456789", {}),
        flow::token("bob", "bob-token-0123456789", {}),
    };
    for (auto& each : settings.agents) {
        each.discover = flow::anyone;
        each.call = flow::anyone;
    }
}

const field_list ann = flow::bearer("ann-token-0123456789");
const field_list bob = flow::bearer("bob-token-0123456789");

http_client
begun(const program_gateway& x, const field_list& fields, std::string_view body, std::string_view verb = "POST")
{
    http_client caller{x.port()};
    caller.send(x.text(verb, fields, body));
    return caller;
}

}  // namespace

TEST_CASE("a call of a program's session that is under way gets the 403, and its program ends")
{
    program_gateway x;
    const auto session = x.begin();
    auto caller = begun(x, session, call_of("hang", "5"));
    x.got("hang");
    const auto cut = contain(x.gateway(), "a")["cut"];
    CHECK(cut["calls"].get<int>() + cut["streams"].get<int>() == 1);
    CHECK(cut["sessions"] == 1);
    if (cut["calls"] == 1) {
        check_contained(caller.read_response(), contained_rpc("5", agents_code));
    }
    CHECK(program_gateway::becomes_true([&] { return !x.running(x.programs().front()); }));
    check_contained(x.post(call_of("echo", "6"), session), contained_rpc("6", agents_code));
    release(x.gateway(), "a");
    CHECK(x.post(call_of("echo", "7"), session).status == 404);  // its program is gone: the client begins a new session
    const auto next = x.begin();
    CHECK(x.post(call_of("echo", "8"), next).status == 200);
}

TEST_CASE("streams of a program's session end in the words of their clients")
{
    program_gateway x;
    const auto session = x.begin();
    auto listening = begun(x, session, {}, "GET");
    CHECK(listening.read_head().status == 200);
    auto calling = begun(x, session, call_of("hang", "5"));
    CHECK(calling.read_head().status == 200);  // silence becomes a stream
    CHECK(contain(x.gateway(), "a")["cut"]["streams"] == 2);
    CHECK(listening.read_until("\r\n0\r\n\r\n").find(": contained\n\n") != std::string::npos);
    CHECK(
        calling.read_until("\r\n0\r\n\r\n").find("data: " + contained_rpc("5", agents_code) + "\n\n") !=
        std::string::npos
    );
}

TEST_CASE("the sessions of a contained principal with programs end, and nobody else's")
{
    program_gateway x{with_callers};
    const auto hers = x.begin(ann);
    const auto his = x.begin(bob);
    REQUIRE(x.programs().size() == 2);
    auto calling = begun(x, hers, call_of("hang", "5"));
    CHECK(calling.read_head().status == 200);
    const auto would = contain_principal(x.gateway(), "ann", "ann", {{"dryRun", true}})["cut"];
    const auto cut = contain_principal(x.gateway(), "ann", "ann")["cut"];
    CHECK(cut["calls"] == 0);
    CHECK(cut["streams"] == 1);
    CHECK(cut["sessions"] == 1);
    CHECK(would == cut);
    CHECK(calling.read_until("\r\n0\r\n\r\n").find(contained_rpc("5", callers_code)) != std::string::npos);
    CHECK(program_gateway::becomes_true([&] { return !x.running(x.programs().front()); }));
    CHECK(x.running(x.programs().back()));
    check_contained(x.post(call_of("echo", "6"), hers), contained_rpc("6", callers_code));
    CHECK(x.post(call_of("echo", "6"), his).status == 200);
    release_principal(x.gateway(), "ann", "ann");
    CHECK(x.post(call_of("echo", "7"), hers).status == 404);
}

TEST_CASE("a contained member of a bundle is refused, and the others answer")
{
    bundle_gateway x;
    REQUIRE(program_gateway::becomes_true([&] { return names_in(x.modern("tools/list", json::object())).size() == 4; })
    );
    const auto session = x.begin();
    REQUIRE(x.post(call_of("a__one", "1"), session).contains("result"));
    REQUIRE(x.post(call_of("bee__one", "2"), session).contains("result"));
    contain(x.programs().gateway(), "a");
    const auto legacy = x.send("POST", session, call_of("a__one", "3"));
    CAPTURE(legacy.body);
    CHECK(legacy.status == 403);
    CHECK(json::parse(legacy.body)["error"]["data"]["code"] == agents_code);
    const auto modern = x.send_modern("tools/call", {{"name", "a__one"}, {"arguments", json::object()}});
    CHECK(modern.status == 403);
    CHECK(x.post(call_of("bee__one", "4"), session).contains("result"));
    release(x.programs().gateway(), "a");
    CHECK(program_gateway::becomes_true([&] {
        return json::parse(x.send("POST", session, call_of("a__one", "5")).body).contains("result");
    }));
}

TEST_SUITE_END();
