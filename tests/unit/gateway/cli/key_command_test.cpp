#include "gateway/cli/key_command.hpp"

#include "config/load.hpp"
#include "core/json/json.hpp"
#include "gateway/access/access_plan.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace {

using gateway::cli::key_command;
using gateway::cli::key_form;
using gateway::cli::new_key;

core::json made(key_command asked)
{
    asked.form = key_form::json;
    const auto text = new_key(asked);
    REQUIRE(text.has_value());
    const auto read = core::parse_json(*text);
    REQUIRE(read.has_value());
    return *read;
}

TEST_SUITE("key command")
{
    TEST_CASE("A key has 256 random bits and a prefix by which it is found where it should not be")
    {
        const auto one = made({.name = "ci", .scopes = {}, .expires = {}});
        const auto other = made({.name = "ci", .scopes = {}, .expires = {}});
        const auto key = one["key"].get<std::string>();
        CHECK(key.starts_with("cardea_"));
        CHECK(key.size() == std::string{"cardea_"}.size() + 43);
        CHECK(key != other["key"].get<std::string>());
    }

    TEST_CASE("The entry makes a provider know the key")
    {
        const auto one = made({.name = "ci", .scopes = {"words:call", "b"}, .expires = "2127-01-31"});
        CHECK(one["entry"]["name"] == "ci");
        CHECK(one["entry"]["scopes"] == core::json::array({"words:call", "b"}));
        CHECK(one["entry"]["expires"] == "2127-01-31");
        core::api_key known;
        known.sha256 = one["entry"]["sha256"].get<std::string>();
        known.owner.id = "ci";
        core::access_settings settings;
        settings.providers = {{"keys", core::api_key_provider{.keys = {known}}}};
        const auto plan = gateway::access::access_plan::make(settings);
        const auto key = one["key"].get<std::string>();
        const auto judged = plan->judge({&plan->reader().fields().at(0), key}, std::chrono::system_clock::time_point{});
        REQUIRE(judged.has_value());
        REQUIRE(judged->has_value());
        CHECK((*judged)->owner->id == "ci");
    }

    TEST_CASE("As text the key stands once and its entry is a line to paste, without the key")
    {
        const auto text = new_key({.name = "ci", .scopes = {"a"}, .expires = {}});
        REQUIRE(text.has_value());
        const auto at = text->find("cardea_");
        REQUIRE(at != std::string::npos);
        CHECK(text->find("cardea_", at + 1) == std::string::npos);
        CHECK(text->find(R"(    - {"name":"ci","sha256":")") != std::string::npos);
        CHECK(
            text->find(R"("scopes":["a"]})"
                       "\n") != std::string::npos
        );
    }

    TEST_CASE("As text a key comes with the access of a configuration that has no provider yet")
    {
        const auto text = new_key({.name = "${HOME}", .scopes = {"a"}, .expires = {}});
        REQUIRE(text.has_value());
        const auto at = text->find("    access:\n");
        REQUIRE(at != std::string::npos);
        // All of it is indented alike, which YAML allows.
        const auto read =
            config::load(text->substr(at), "c.yml", [](std::string_view) { return std::optional<std::string>{}; });
        CHECK(read.problems.empty());
        CHECK(read.warnings.empty());
        REQUIRE(read.value.access.providers.size() == 1);
        const auto* keys = std::get_if<core::api_key_provider>(&read.value.access.providers.front().type);
        REQUIRE(keys != nullptr);
        REQUIRE(keys->keys.size() == 1);
        CHECK(keys->keys.front().owner.id == "${HOME}");
        CHECK(read.value.access.rules.size() == 1);
    }

    TEST_CASE("A name that looks like a variable is written so that a configuration reads it as it is")
    {
        const auto entry = made({.name = "${HOME}$${X}", .scopes = {"${A}"}, .expires = {}})["entry"];
        CHECK(entry["name"] == "$${HOME}$$${X}");
        CHECK(entry["scopes"][0] == "$${A}");
    }

    TEST_CASE("What cannot be an entry is refused")
    {
        const auto refused = [](key_command asked) { return !new_key(asked).has_value(); };
        CHECK(refused({.name = "", .scopes = {}, .expires = {}}));
        CHECK(refused({.name = "a\nb", .scopes = {}, .expires = {}}));
        CHECK(refused({.name = std::string(257, 'a'), .scopes = {}, .expires = {}}));
        CHECK_FALSE(refused({.name = std::string(256, 'a'), .scopes = {}, .expires = {}}));
        CHECK(refused({.name = "a", .scopes = {"ok", ""}, .expires = {}}));
        CHECK(refused({.name = "a", .scopes = {"a b"}, .expires = {}}));
        CHECK(refused({.name = "a\xFF", .scopes = {}, .expires = {}}));
        CHECK_FALSE(refused({.name = "a", .scopes = {}, .expires = "2127-01-31T00:00:00Z"}));
        for (const auto* date : {"2127-1-31", "2127-01-3a", "tomorrow", "2127-02-30", "2020-01-01", "9999-12-31"}) {
            CAPTURE(date);
            CHECK(refused({.name = "a", .scopes = {}, .expires = date}));
        }
    }
}

}  // namespace
