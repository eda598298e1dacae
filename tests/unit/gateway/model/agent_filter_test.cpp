#include "gateway/model/agent_filter.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/agent_filter");

namespace {

using core::json;
using gateway::model::agent_filter;
using gateway::model::card_words;
using gateway::model::read_filter;
using gateway::model::shows;
using gateway::model::words_of;

json parsed(std::string_view text)
{
    const auto value = core::parse_json(text);
    REQUIRE(value.has_value());
    return *value;
}

}  // namespace

TEST_CASE("a filter is read from its parameters, and what cannot be read is said")
{
    std::vector<config::problem> problems;
    const auto all = read_filter(json{}, problems);
    CHECK(all.tag.empty());
    CHECK(all.text.empty());
    CHECK(all.after.empty());
    CHECK_FALSE(all.protocol.has_value());
    CHECK(all.limit == 100);
    const auto some = read_filter(
        parsed(R"({"tag":"Geo","text":"MaP","protocol":"mcp","after":"a","limit":1000,"more":1})"),
        problems
    );
    CHECK(some.tag == "Geo");
    CHECK(some.text == "map");
    CHECK(some.protocol == core::protocol::mcp);
    CHECK(some.after == "a");
    CHECK(some.limit == 1000);
    CHECK(problems.empty());
    for (const auto* bad :
         {R"({"tag":1})",
          R"({"text":[]})",
          R"({"after":false})",
          R"({"protocol":"A2A"})",
          R"({"protocol":2})",
          R"({"limit":0})",
          R"({"limit":-1})",
          R"({"limit":1001})",
          R"({"limit":1.5})",
          R"({"limit":"1"})"}) {
        CAPTURE(bad);
        problems.clear();
        read_filter(parsed(bad), problems);
        REQUIRE(problems.size() == 1);
        CHECK(problems.front().key == parsed(bad).begin().key());
        CHECK(problems.front().what.find("expected ") != std::string::npos);
    }
}

TEST_CASE("the words of a card are the tags of its skills, its name and its description, whatever else is in it")
{
    const auto words = words_of(parsed(
        R"({"name":"Maps & Ways","description":"FINDS","skills":[{"tags":["b","a"]},{"tags":["a",1,null]},{"tags":"c"},7]})"
    ));
    CHECK(words.tags == std::vector<std::string>{"a", "b"});
    CHECK(words.text == "maps & ways\nfinds\n");
    for (const auto* odd : {"{}", "[]", "7", R"({"skills":{},"name":7})"}) {
        CHECK(words_of(parsed(odd)).tags.empty());
        CHECK(words_of(parsed(odd)).text.empty());
    }
}

TEST_CASE("The words of a card have the ids and names of its skills, once each and within 32 KiB")
{
    const auto words = words_of(parsed(
        R"({"name":"A","skills":[{"id":"roll_dice","name":"Roll Dice"},{"id":"ECHO","name":"echo"},{"name":7},{"id":"x"}]})"
    ));
    CHECK(words.text == "a\nroll_dice\nroll dice\necho\nx\n");
    core::json many{{"name", "A"}};
    for (int i = 0; i < 10'000; ++i) {
        many["skills"].push_back({{"id", "tool-" + std::to_string(i)}});
    }
    many["skills"].push_back({{"id", std::string(300, 'y')}});
    const auto bounded = words_of(many);
    CHECK(bounded.text.size() <= 2 + 32 * 1024);
    CHECK(bounded.text.size() > 31 * 1024);
    CHECK(
        words_of({{"name", "A"}, {"skills", {{{"id", std::string(300, 'y')}}}}}).text ==
        "a\n" + std::string(256, 'y') + '\n'
    );
}

TEST_CASE("an agent is shown if every part of the filter fits")
{
    core::agent agent;
    agent.id = "Maps-1";
    agent.metadata = R"({"tags":["inner",3],"team":"Blue"})";
    const card_words card{{"geo", "way"}, "a finder\n"};
    const auto shown = [&](std::string_view params) {
        std::vector<config::problem> problems;
        const auto filter = read_filter(parsed(params), problems);
        REQUIRE(problems.empty());
        return shows(filter, agent, gateway::model::metadata_tags(agent.metadata), card);
    };
    for (const auto* fits :
         {"{}",
          R"({"tag":"geo"})",
          R"({"tag":"inner"})",
          R"({"text":"maps"})",
          R"({"text":"FIND"})",
          R"({"text":"blue"})",
          R"({"protocol":"a2a","tag":"way","text":"1"})"}) {
        CAPTURE(fits);
        CHECK(shown(fits));
    }
    for (const auto* misses :
         {R"({"tag":"ge"})",
          R"({"tag":"Geo"})",
          R"({"tag":"team"})",
          R"({"text":"green"})",
          R"({"protocol":"mcp"})",
          R"({"protocol":"mcp","tag":"geo"})",
          R"({"tag":"geo","text":"green"})"}) {
        CAPTURE(misses);
        CHECK_FALSE(shown(misses));
    }
}

TEST_CASE("The tags of an agent are those of its metadata and of its card, sorted, as many and as long as a list takes")
{
    const auto own = gateway::model::metadata_tags(R"({"tags":["m","c","m",3,""]})");
    CHECK(own == std::vector<std::string>{"", "c", "m"});
    CHECK(gateway::model::metadata_tags(R"({"team":"tags"})").empty());
    CHECK(gateway::model::metadata_tags("no JSON but \"tags\"").empty());
    const card_words card{{"", "a", "bb", "ccc", "m", "z"}, {}};
    using tags = std::vector<std::string>;
    CHECK(tags_of(own, card, {10, 2}) == tags{"a", "bb", "c", "m", "z"});
    CHECK(tags_of(own, card, {5, 3}) == tags{"a", "bb", "c", "ccc", "m"});
    CHECK(tags_of(own, card, {2, 1}) == tags{"a", "c"});
}

TEST_CASE("Metadata over the size of a card has tags too")
{
    const auto padding = std::string(2 * 1024 * 1024, 'x');
    CHECK(
        gateway::model::metadata_tags(R"({"tags":["a"],"more":")" + padding + "\"}") == std::vector<std::string>{"a"}
    );
}

TEST_SUITE_END();
