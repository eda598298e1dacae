#include "gateway/model/audit_trail.hpp"

#include "core/json/json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("gateway/audit_trail");

namespace {

using core::json;
using namespace gateway::model;

class kept final : public core::log_sink {
public:
    void write(std::string_view line) override { lines.emplace_back(line); }

    std::vector<std::string> lines;
};

struct rig {
    kept sink;
    audit_trail trail{&sink};

    // The members of the only line, without its time.
    json line()
    {
        REQUIRE(sink.lines.size() == 1);
        auto members = json::parse(sink.lines.front());
        CHECK(std::regex_match(
            members["ts"].get<std::string>(),
            std::regex{R"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z)"}
        ));
        CHECK(sink.lines.front().find('\n') == std::string::npos);
        members.erase("ts");
        sink.lines.clear();
        return members;
    }
};

}  // namespace

TEST_CASE("a published card is told by its hash and size, with lists and flags")
{
    rig r;
    const std::vector<std::string> capabilities{"streaming", "stateTransitionHistory"};
    const std::vector<std::string> schemes{"oauth", "key"};
    r.trail.card_published(
        {.agent = "words",
         .name = "Words",
         .version = "1.2",
         .protocol_version = "0.3.0",
         .url = "http://h/agents/words/",
         .skills = 3,
         .bytes = 512,
         .sha256 = "ab",
         .capabilities = capabilities,
         .security_schemes = schemes,
         .has_signature = true}
    );
    CHECK(
        r.line() ==
        json{
            {"event", "agent_card_published"},
            {"agent", "words"},
            {"name", "Words"},
            {"version", "1.2"},
            {"protocol_version", "0.3.0"},
            {"url", "http://h/agents/words/"},
            {"skill_count", 3},
            {"card_size_bytes", 512},
            {"card_sha256", "ab"},
            {"capabilities", capabilities},
            {"security_schemes", schemes},
            {"streaming", true},
            {"push_notifications", false},
            {"signed", true}
        }
    );
}

TEST_CASE("which hashes there are says what happened to an agent")
{
    rig r;
    r.trail.agent_changed({.agent = "a", .by = "admin ::1", .before = "", .after = "22"});
    CHECK(r.line() == json{{"event", "agent_created"}, {"agent", "a"}, {"by", "admin ::1"}, {"after_sha256", "22"}});
    r.trail.agent_changed({.agent = "a", .by = "keys ci", .before = "22", .after = "33"});
    CHECK(
        r.line() ==
        json{
            {"event", "agent_updated"},
            {"agent", "a"},
            {"by", "keys ci"},
            {"before_sha256", "22"},
            {"after_sha256", "33"}
        }
    );
    r.trail.agent_changed({.agent = "a", .by = "configuration", .before = "33", .after = ""});
    CHECK(
        r.line() == json{{"event", "agent_deleted"}, {"agent", "a"}, {"by", "configuration"}, {"before_sha256", "33"}}
    );
}

TEST_CASE("a denied caller, a key and a reload have what is known of them and no more")
{
    rig r;
    r.trail.access_denied({.principal = "", .provider = "", .agent = "", .reason = denial::refused, .address = "::1"});
    CHECK(r.line() == json{{"event", "access_denied"}, {"reason", "refused"}, {"address", "::1"}, {"count", 1}});
    r.trail.access_denied(
        {.principal = "ci",
         .provider = "keys",
         .agent = "words",
         .reason = denial::forbidden,
         .address = "10.0.0.1",
         .count = 17}
    );
    CHECK(
        r.line() ==
        json{
            {"event", "access_denied"},
            {"reason", "forbidden"},
            {"agent", "words"},
            {"principal", "ci"},
            {"provider", "keys"},
            {"address", "10.0.0.1"},
            {"count", 17}
        }
    );
    r.trail.key_first_used({"keys", "ci"});
    CHECK(r.line() == json{{"event", "key_first_used"}, {"provider", "keys"}, {"key", "ci"}});
    r.trail.configuration_reloaded({.trigger = "signal", .sha256 = "cd", .problems = 0});
    CHECK(
        r.line() ==
        json{
            {"event", "configuration_reloaded"},
            {"outcome", "ok"},
            {"trigger", "signal"},
            {"problems", 0},
            {"sha256", "cd"}
        }
    );
    r.trail.configuration_reloaded({.trigger = "file", .sha256 = "", .problems = 2});
    CHECK(
        r.line() ==
        json{{"event", "configuration_reloaded"}, {"outcome", "refused"}, {"trigger", "file"}, {"problems", 2}}
    );
    r.trail.session_restarted("words", "ops ops");
    CHECK(r.line() == json{{"event", "session_restarted"}, {"agent", "words"}, {"by", "ops ops"}});
}

TEST_CASE("A line says who contained what, why, until when and what that has cut")
{
    rig r;
    r.trail.containment_changed(
        {.contains = true,
         .agent = "words",
         .provider = {},
         .principal = {},
         .by = "admin ops",
         .reason = "leak",
         .until = "2027-01-31T12:00:00.000Z",
         .cut = gateway::model::cut_counts{3, 2, 1}}
    );
    CHECK(
        r.line() ==
        json{
            {"event", "agent_contained"},
            {"agent", "words"},
            {"by", "admin ops"},
            {"reason", "leak"},
            {"until", "2027-01-31T12:00:00.000Z"},
            {"cut", {{"calls", 3}, {"streams", 2}, {"sessions", 1}}}
        }
    );
    for (const bool contains : {true, false}) {
        r.trail.containment_changed(
            {.contains = contains,
             .agent = {},
             .provider = "keys",
             .principal = "ci",
             .by = "until",
             .reason = "leak",
             .until = {}}
        );
        CHECK(
            r.line() ==
            json{
                {"event", contains ? "principal_contained" : "principal_released"},
                {"provider", "keys"},
                {"principal", "ci"},
                {"by", "until"},
                {"reason", "leak"}
            }
        );
    }
}

TEST_CASE("texts and lists are cut, and nothing that a terminal obeys is in a line")
{
    rig r;
    const std::vector<std::string> many(audit_trail::longest_list + 1, "scheme");
    const std::string long_name(audit_trail::longest_text + 1, 'n');
    r.trail.card_published(
        {.agent = "a",
         .name = long_name,
         .version = "\x1b[31m\xc2\x9b\xe2\x80\xae\n\"",
         .protocol_version = "\xff",
         .url = "u",
         .sha256 = "",
         .capabilities = {},
         .security_schemes = many}
    );
    const auto text = r.sink.lines.front();
    CHECK(std::ranges::none_of(text, [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }));
    CHECK(text.find("\xc2\x9b") == std::string::npos);
    CHECK(text.find("\xe2\x80\xae") == std::string::npos);
    const auto line = r.line();
    CHECK(line["name"].get<std::string>().size() == audit_trail::longest_text);
    CHECK(line["security_schemes"].size() == audit_trail::longest_list);
    CHECK(line["version"] == "\x1b[31m\xc2\x9b\xe2\x80\xae\n\"");
}

TEST_CASE("a trail without a sink writes nothing")
{
    const audit_trail off;
    CHECK_FALSE(off.on());
    off.key_first_used({"keys", "ci"});
    off.access_denied({});
    off.agent_changed({});
    off.configuration_reloaded({});
    off.session_restarted("a", "b");
    off.containment_changed({});
}

TEST_SUITE_END();
