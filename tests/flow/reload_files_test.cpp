// A running gateway and the files that its configuration names: secrets, variables, authorities; and what it remembers of
// them from one reload to the next.
#include "tests/flow/reload_fixture.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("flow/reload_files");

namespace {

using core::json;
using flow::inline_agent;
using flow::reloading_gateway;
using test_support::read_whole;
using test_support::scratch_directory;
using test_support::write_whole;

}  // namespace

TEST_CASE("what has no effect is warned of at the start and at every reload, which it does not keep from happening")
{
    const scratch_directory here;
    const auto file = here.file("client.json");
    const auto written = [&](const std::string& id) {
        write_whole(
            file,
            R"({"mcpServers":{")" + id + R"(":{"serverUrl":"http://127.0.0.1:9/","trust":true,"start":"lazy"}}} // end)"
        );
    };
    written("a");
    reloading_gateway gateway{file};
    CHECK(gateway.event("config_warning", "mcpServers.a.trust: has no effect").has_value());
    written("b");
    const auto answer = gateway.reloaded();
    CHECK(answer["agents"]["added"] == json{"b"});
    REQUIRE(answer["warnings"].size() == 1);
    const auto warning = answer["warnings"][0].get<std::string>();
    CHECK(warning.starts_with(file + ":1:"));
    CHECK(warning.ends_with(": warning: mcpServers.b.trust: has no effect: only MCP clients use it"));
    CHECK(gateway.event("config_warning", "mcpServers.b.trust").has_value());
}

TEST_CASE("a file of variables that changes gives its program a new session")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    write_whole(here.file("env"), "A=1");
    write_whole(
        file,
        "agents:\n  p: {command: sleep, args: [\"1000\"], start: lazy, env_file: " + here.file("env") + "}\n"
    );
    reloading_gateway gateway{file};
    write_whole(here.file("env"), "A=2");
    CHECK(gateway.event("agent_changed", R"("agent":"p")", R"("keys":"transport")").has_value());
    CHECK(gateway.event("config_reloaded", R"("trigger":"file")").has_value());
}

TEST_CASE("an authority with another content is a change of its agent alone, once")
{
    const scratch_directory here;
    const test_support::test_ca first;
    const test_support::test_ca second{"another root"};
    const auto file = here.file("c.yml");
    const auto authority = here.file("ca.pem");
    const auto take = [&](const test_support::test_ca& ca) { write_whole(authority, read_whole(ca.ca_file())); };
    const auto configure = [&](const std::string& more) {
        write_whole(
            file,
            "reload: {watch: false}\nagents:\n" + inline_agent("a", "A") +
                inline_agent("t", "T", ", tls: {ca_file: \"" + authority + "\"}" + more)
        );
    };
    take(first);
    configure("");
    reloading_gateway gateway{file};
    const auto reload = [&] { return gateway.reloaded()["agents"]; };
    CHECK(reload()["unchanged"] == 2);
    take(second);
    auto done = reload();
    CHECK(done["changed"] == json{{{"id", "t"}, {"keys", {"tls"}}}});
    CHECK(done["unchanged"] == 1);
    CHECK(reload()["unchanged"] == 2);

    // One that came with a configuration that was refused is not in use yet.
    take(first);
    write_whole(file, "agents: [");
    CHECK(gateway.reload().status == 422);
    configure("");
    done = reload();
    CHECK(done["changed"] == json{{{"id", "t"}, {"keys", {"tls"}}}});
    CHECK(done["unchanged"] == 1);

    take(second);
    configure(", version: 2");
    done = reload();
    CHECK(done["changed"] == json{{{"id", "t"}, {"keys", {"version"}}}});
    CHECK(done["unchanged"] == 1);
    CHECK(reload()["unchanged"] == 2);
}

TEST_CASE("a file that a refused configuration misses is awaited, and what makes it whole is noticed")
{
    const scratch_directory here;
    const scratch_directory secrets;
    const auto file = here.file("c.yml");
    write_whole(file, "agents:\n" + inline_agent("a", "First"));
    reloading_gateway gateway{file};
    const auto more = ", bearer_file: \"" + secrets.file("token") + "\"";
    write_whole(file, "agents:\n" + inline_agent("a", "Second", more));
    CHECK(gateway.event("config_rejected", "agents.a.bearer_file").has_value());
    CHECK(gateway.metric("cardea_config_last_reload_successful") == "0");
    CHECK(gateway.card_name("a") == "First");
    write_whole(secrets.file("token"), "t0ken");
    CHECK(gateway.serves("a", "Second"));
    CHECK(gateway.metric("cardea_config_last_reload_successful") == "1");
}

TEST_CASE("watching that a reload turns on begins with it")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    const auto configure = [&](const std::string& watch, const std::string& name) {
        write_whole(file, "reload: {watch: " + watch + "}\nagents:\n" + inline_agent("a", name));
    };
    configure("false", "First");
    reloading_gateway gateway{file};
    configure("true", "Second");
    CHECK(gateway.reloaded()["settings"] == json{"reload.watch"});
    configure("true", "Third");
    CHECK(gateway.serves("a", "Third"));
}

TEST_CASE("the level and the format of the log take effect with a reload")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    write_whole(file, "agents:\n" + inline_agent("a", "A") + "log: {level: warn}\n");
    reloading_gateway gateway{file};
    CHECK(gateway.card_name("a") == "A");
    write_whole(file, "agents:\n" + inline_agent("a", "A") + "log: {level: info, format: text}\n");
    CHECK(gateway.reloaded()["settings"] == json{"log.level", "log.format"});
    CHECK(gateway.card_name("a") == "A");
    const auto line = gateway.process.wait_for_line([](std::string_view each) {
        return each.find("INFO  a  GET card 200") != each.npos;
    });
    CHECK(line.has_value());
    CHECK(gateway.process.err().find(R"("event":"request")") == std::string::npos);
}

TEST_CASE("A lock file that is broken refuses the reload and says where, and one that is mended applies")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    const auto lock = here.file("pins.json");
    write_whole(lock, R"({"version": 1, "agents": {}})");
    write_whole(file, "pins: {file: " + lock + "}\nagents:\n" + inline_agent("a", "A"));
    reloading_gateway gateway{file};
    write_whole(lock, "{\"version\": 1,\n \"agents\": {,}}");
    CHECK(gateway.event("config_rejected", "pins.json: line 2, column 13: is not JSON").has_value());
    write_whole(lock, R"({"version": 1, "agents": {"a": {"cards": null}}})");
    CHECK(gateway.event("config_rejected", "agents.a.cards: is not known").has_value());
    write_whole(lock, R"({"version": 1, "agents": {"a": {"card": null}}})");
    CHECK(gateway.event("pins_file_applied", R"("agents":1)").has_value());
    CHECK(gateway.serves("a", "A"));
}

TEST_SUITE_END();
