// What cards say of credentials: those that this gateway asks for.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/reload_fixture.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

TEST_SUITE_BEGIN("flow/access cards");

namespace {

using namespace flow;
using test_support::scratch_directory;
using test_support::write_whole;

const std::string demanding_card =
    R"({"name":"D","description":"d","version":"1","url":"http://127.0.0.1:9/","protocolVersion":"0.3.0",)"
    R"("capabilities":{},"defaultInputModes":["text"],"defaultOutputModes":["text"],"skills":[],)"
    R"("securitySchemes":{"own":{"type":"http","scheme":"basic"}},"security":[{"own":[]}]})";

test_support::script card_of_agent(const test_support::recorded_request& /*asked*/)
{
    return test_support::answer_json(demanding_card);
}

core::json card_for(std::uint16_t port, std::string_view id, const field_list& headers)
{
    const auto answer = request(port, "GET", card_target(id), headers);
    CHECK(answer.status == 200);
    return parsed(answer.body);
}

std::string configuration(const std::string& agent_url, const std::string& access)
{
    return "reload: {watch: false}\n" + access + "agents:\n  fetched: {url: \"" + agent_url +
           "\", discover: anyone, call: {principals: [ci]}}\n  written: {url: \"http://127.0.0.1:9/\", card: " +
           demanding_card + ", discover: anyone, call: {principals: [ci]}}\n";
}

std::string provider(const std::string& name, const std::string& header)
{
    return "access: {providers: [{type: api_key, name: " + name + ", header: " + header +
           ", keys: [{name: ci, sha256: " + jose::sha256_hex("key-of-ci") + "}]}]}\n";
}

std::string schemes_of(const reloading_gateway& gateway, std::string_view id)
{
    const auto answer = gateway.card(id);
    return answer.status == 200 ? parsed(answer.body).value("securitySchemes", core::json{}).dump() : "";
}

}  // namespace

TEST_CASE("a card names the schemes of the gateway in the shape that its reader asks for")
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    auto old = ci;
    old.emplace_back("A2A-Version", "0.3");
    const auto card = card_for(port, "secret", old);
    CHECK(card["securitySchemes"]["keys"] == parsed(R"({"type":"apiKey","in":"header","name":"X-API-Key"})"));
    CHECK(card["securitySchemes"]["operator"] == parsed(R"({"type":"http","scheme":"bearer"})"));
    CHECK(card["security"].size() == 4);
    auto modern = ci;
    modern.emplace_back("A2A-Version", "1.0");
    CHECK(card_for(port, "secret", modern)["securityRequirements"].size() == 4);
    CHECK(card_for(port, "open", old)["security"].back() == core::json::object());
}

TEST_CASE("with what a card names a caller gets through")
{
    guarded_gateway with;
    const auto port = with.gateway.port();
    const auto scheme = card_for(port, "seen", ci)["securitySchemes"]["keys"];
    const field_list headers{{scheme["name"].get<std::string>(), "key-of-ci"}};
    CHECK(call(port, "seen", headers).status == 200);
}

TEST_CASE("cards that were made before providers changed are made again")
{
    const test_support::scripted_agent agent{card_of_agent};
    const scratch_directory here;
    const auto file = here.file("c.yml");
    write_whole(file, configuration(agent.url("/"), provider("keys", "X-API-Key")));
    reloading_gateway gateway{file};
    const auto key_in = [](const std::string& header) {
        return R"({"type":"apiKey","in":"header","name":")" + header +
               R"(","apiKeySecurityScheme":{"location":"header","name":")" + header + R"("}})";
    };
    for (const auto* const id : {"fetched", "written"}) {
        CHECK(schemes_of(gateway, id) == R"({"keys":)" + key_in("X-API-Key") + "}");
    }
    write_whole(file, configuration(agent.url("/"), provider("others", "X-Other-Key")));
    gateway.reloaded();
    for (const auto* const id : {"fetched", "written"}) {
        CAPTURE(id);
        CHECK(becomes_true([&] { return schemes_of(gateway, id) == R"({"others":)" + key_in("X-Other-Key") + "}"; }));
    }
}

TEST_CASE("a card that was made before providers changed is served as stale while its agent is away")
{
    auto agent = std::make_unique<test_support::scripted_agent>(card_of_agent);
    const scratch_directory here;
    const auto file = here.file("c.yml");
    const auto url = agent->url("/");
    write_whole(file, configuration(url, provider("keys", "X-API-Key")));
    reloading_gateway gateway{file};
    REQUIRE(gateway.card("fetched").status == 200);
    agent.reset();
    write_whole(file, configuration(url, provider("others", "X-Other-Key")));
    gateway.reloaded();
    const auto answer = gateway.card("fetched");
    CHECK(answer.status == 200);
    CHECK(answer.header("Cardea-Card").starts_with("stale"));
    CHECK(parsed(answer.body)["securitySchemes"].contains("keys"));
}

TEST_SUITE_END();
