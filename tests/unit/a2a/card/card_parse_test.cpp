#include "a2a/card/card.hpp"
#include "a2a/card/card_interfaces.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

using a2a::card_generation;
using a2a::parse_card;
using core::json;

TEST_SUITE_BEGIN("a2a/card/card");

namespace {

json parsed(std::string_view text)
{
    auto value = core::parse_json(text, {.bytes = 8 * 1024 * 1024});
    REQUIRE(value.has_value());
    return *value;
}

a2a::card read(std::string_view text)
{
    auto made = parse_card(text);
    REQUIRE_MESSAGE(made.has_value(), made.error().detail);
    return std::move(*made);
}

bool has_problem(const a2a::card& card, std::string_view path, std::string_view what)
{
    return std::ranges::any_of(card.problems, [&](const a2a::card_problem& p) {
        return p.path == path && p.what == what;
    });
}

// Nothing to repair in it.
constexpr std::string_view sound_v03 = R"({
    "protocolVersion":"0.3.0","name":"n","description":"d","url":"http://agent:9000/a2a","preferredTransport":"JSONRPC",
    "version":"1.2.3","capabilities":{"streaming":true},"defaultInputModes":["text/plain"],
    "defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"does","tags":["t"]}]})";

constexpr std::string_view sound_v1 = R"({
    "name":"n","description":"d","version":"1.2.3","capabilities":{"extendedAgentCard":true},
    "supportedInterfaces":[{"url":"http://agent:9000/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
    "defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
    "skills":[{"id":"s","name":"S","description":"does","tags":["t"]}]})";

// The sound 0.3 card with one member set to `value` (JSON text), or taken out when `value` is empty.
std::string with(std::string_view member, std::string_view value)
{
    auto card = parsed(sound_v03);
    if (value.empty()) {
        card.erase(std::string{member});
    } else {
        card[std::string{member}] = parsed(value);
    }
    return core::to_text(card);
}

}  // namespace

TEST_CASE("a card that is as the specification wants it is taken as it is")
{
    for (const auto text : {sound_v03, sound_v1}) {
        const auto card = read(text);
        CHECK(card.document == parsed(text));
        CHECK(core::to_text(card.document) == core::to_text(parsed(text)));
        CHECK(card.problems.empty());
    }
}

TEST_CASE("what cannot be a card is refused with the reason")
{
    const std::pair<std::string, core::errc> rows[]{
        {"", core::errc::card_not_json},
        {"<html>", core::errc::card_not_json},
        {R"({"name":"n")", core::errc::card_not_json},
        {"\xEF\xBB\xBF{\"name\":\"n\"}", core::errc::card_not_json},
        {"{\"name\":\"\xFF\"}", core::errc::card_not_json},
        {"[]", core::errc::card_invalid},
        {"null", core::errc::card_invalid},
        {"\"card\"", core::errc::card_invalid},
        {"7", core::errc::card_invalid},
        {"{}", core::errc::card_invalid},
        {R"({"name":""})", core::errc::card_invalid},
        {R"({"name":" \t\n"})", core::errc::card_invalid},
        {R"({"name":null})", core::errc::card_invalid},
        {R"({"name":7})", core::errc::card_invalid},
        {R"({"name":["n"]})", core::errc::card_invalid},
        {R"({"agentCard":{"name":"n"}})", core::errc::card_invalid},
    };
    for (const auto& [text, code] : rows) {
        CAPTURE(text);
        const auto made = parse_card(text);
        REQUIRE(made.has_error());
        CHECK(made.error().code == code);
        CHECK(made.error().from == core::side::upstream);
    }
}

TEST_CASE("size and depth are limited exactly")
{
    const std::string text = R"({"name":"n"})";
    CHECK(parse_card(text, {.bytes = text.size() + 1}).has_value());
    CHECK(parse_card(text, {.bytes = text.size()}).has_value());
    const auto large = parse_card(text, {.bytes = text.size() - 1});
    REQUIRE(large.has_error());
    CHECK(large.error().code == core::errc::card_too_large);

    const auto nested = [](std::size_t depth) {
        return R"({"name":"n","x":)" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
    };
    CHECK(parse_card(nested(63)).has_value());
    CHECK(parse_card(nested(64)).has_value());
    const auto deep = parse_card(nested(65));
    REQUIRE(deep.has_error());
    CHECK(deep.error().code == core::errc::card_not_json);
}

TEST_CASE("the generation is told by the shape")
{
    const std::pair<std::string, card_generation> rows[]{
        {R"({"name":"n","url":"http://a"})", card_generation::v02},
        {R"({"name":"n","url":"http://a","protocolVersion":"0.2.5"})", card_generation::v02},
        {R"({"name":"n","url":"http://a","protocolVersion":"0.2.9"})", card_generation::v02},
        {R"({"name":"n","url":"http://a","protocolVersion":"2024-11-05"})", card_generation::v02},
        {R"({"name":"n"})", card_generation::v02},
        {R"({"name":"n","url":"http://a","protocolVersion":"0.3.0"})", card_generation::v03},
        {R"({"name":"n","url":"http://a","protocolVersion":"0.3"})", card_generation::v03},
        {R"({"name":"n","url":"http://a","preferredTransport":"GRPC"})", card_generation::v03},
        {R"({"name":"n","url":"http://a","additionalInterfaces":[]})", card_generation::v03},
        {R"({"name":"n","url":"http://a","protocolVersion":"1.0"})", card_generation::hybrid},
        {R"({"name":"n","url":"http://a","authentication":{"schemes":["none"]}})", card_generation::v01},
        {R"({"name":"n","url":"http://a","protocolVersion":"0.1"})", card_generation::v01},
        {R"({"name":"n","url":"http://a","protocolVersion":"0.2.6","preferredTransport":"JSONRPC"})",
         card_generation::v02},
        {R"({"name":"n","url":"http://a","protocolVersion":"0.2.9","preferredTransport":"JSONRPC","signatures":[]})",
         card_generation::v03},
        {R"({"name":"n","url":"http://a","protocolVersion":"0.3.0","capabilities":{"extendedAgentCard":true}})",
         card_generation::hybrid},
        {R"({"name":"n","url":"http://a","securitySchemes":{"k":{"apiKeySecurityScheme":{}}}})", card_generation::hybrid
        },
        {R"({"name":"n","securitySchemes":{"k":{"apiKeySecurityScheme":{}}}})", card_generation::v1},
        {R"({"name":"n","supportedInterfaces":[{"url":"http://a"}],"securitySchemes":{"k":{"type":"http"}}})",
         card_generation::hybrid},
        {R"({"name":"n","supportedInterfaces":[{"url":"http://a"}],"security":[]})", card_generation::hybrid},
        {R"({"name":"n","url":"http://a","protocolVersion":"0.3.0","supportedInterfaces":[]})", card_generation::v03},
        {R"({"name":"n","supportedInterfaces":[{"url":"http://a"}]})", card_generation::v1},
        {R"({"name":"n","supportedInterfaces":[]})", card_generation::v1},
        {R"({"name":"n","supported_interfaces":[{"url":"http://a"}]})", card_generation::v1},
        {R"({"name":"n","protocolVersion":"1.0"})", card_generation::v1},
        {R"({"name":"n","securityRequirements":[]})", card_generation::v1},
        {R"({"name":"n","url":null,"supportedInterfaces":[{"url":"http://a"}]})", card_generation::v1},
        {R"({"name":"n","url":"http://a","supportedInterfaces":[{"url":"http://a"}]})", card_generation::hybrid},
    };
    for (const auto& [text, generation] : rows) {
        CAPTURE(text);
        CHECK(a2a::name(read(text).generation) == a2a::name(generation));
    }
}

TEST_CASE("each missing or misshapen member is repaired and recorded")
{
    struct row {
        std::string member, value, repaired, what;
    };
    const row rows[]{
        {"version", "", R"("0.0.0")", "missing"},
        {"version", "null", R"("0.0.0")", "not a string"},
        {"version", R"("")", R"("0.0.0")", "empty"},
        {"version", "1.5", R"("1.5")", "a number, not a string"},
        {"description", "", R"("n")", "missing"},
        {"description", R"("")", R"("n")", "empty"},
        {"description", "{}", R"("n")", "not a string"},
        {"protocolVersion", "", R"("0.3.0")", "missing"},
        {"protocolVersion", "0.3", R"("0.3")", "a number, not a string"},
        {"protocolVersion", "[]", R"("0.3.0")", "not a string"},
        {"capabilities", "", "{}", "missing"},
        {"capabilities", R"(["streaming"])", "{}", "not an object"},
        {"capabilities", "null", "{}", "not an object"},
        {"defaultInputModes", "", R"(["text/plain","application/json"])", "missing"},
        {"defaultInputModes", "[]", R"(["text/plain","application/json"])", "empty"},
        {"defaultInputModes", "7", R"(["text/plain","application/json"])", "not an array"},
        {"defaultInputModes", R"("text")", R"(["text"])", "a string, not an array"},
        {"defaultOutputModes", R"(["text",null,1])", R"(["text"])", "has items that are not strings"},
        {"defaultOutputModes", "[1]", R"(["text/plain","application/json"])", "empty"},
        {"defaultOutputModes", "null", R"(["text/plain","application/json"])", "not an array"},
        {"skills", "", "[]", "missing"},
        {"skills", "{}", "[]", "not an array"},
        {"skills", "null", "[]", "not an array"},
    };
    for (const auto& [member, value, repaired, what] : rows) {
        CAPTURE(member);
        CAPTURE(value);
        const auto text = with(member, value);
        const auto card = read(text);
        CHECK(card.document.at(member) == parsed(repaired));
        CHECK(has_problem(card, member, what));
        auto rest = card.document;
        auto original = parsed(text);
        rest.erase(member);
        original.erase(member);
        CHECK(rest == original);
    }
}

TEST_CASE("skills get what the specification requires of them")
{
    struct row {
        std::string skill, repaired, path, what;
    };
    const row rows[]{
        {R"({"name":"Do It, Now!","description":"d","tags":["t"]})",
         R"({"name":"Do It, Now!","description":"d","tags":["t"],"id":"do-it-now"})",
         "skills[0].id",
         "missing"},
        {R"({"name":"日本","description":"d","tags":["t"]})",
         R"({"name":"日本","description":"d","tags":["t"],"id":"skill-1"})",
         "skills[0].id",
         "missing"},
        {R"({"id":"s","description":"d","tags":["t"]})",
         R"({"id":"s","description":"d","tags":["t"],"name":"s"})",
         "skills[0].name",
         "missing"},
        {R"({"id":"s","name":"S","tags":["t"]})",
         R"({"id":"s","name":"S","tags":["t"],"description":"S"})",
         "skills[0].description",
         "missing"},
        {R"({"id":"s","name":"S","description":"d"})",
         R"({"id":"s","name":"S","description":"d","tags":["s"]})",
         "skills[0].tags",
         "missing"},
        {R"({"id":"s","name":"S","description":"d","tags":[]})",
         R"({"id":"s","name":"S","description":"d","tags":["s"]})",
         "skills[0].tags",
         "empty"},
        {R"({"id":7,"name":"S","description":"d","tags":["t"]})",
         R"({"id":"s","name":"S","description":"d","tags":["t"]})",
         "skills[0].id",
         "not a string"},
        {R"("search")",
         R"({"name":"search","id":"search","description":"search","tags":["search"]})",
         "skills[0]",
         "a string, not an object"},
        {R"({"x":1})",
         R"({"x":1,"id":"skill-1","name":"skill-1","description":"skill-1","tags":["skill-1"]})",
         "skills[0].name",
         "missing"},
    };
    for (const auto& [skill, repaired, path, what] : rows) {
        CAPTURE(skill);
        const auto card = read(with("skills", "[" + skill + "]"));
        REQUIRE(card.document.at("skills").size() == 1);
        CHECK(core::to_text(card.document.at("skills").at(0)) == core::to_text(parsed(repaired)));
        CHECK(has_problem(card, path, what));
    }
    const auto card = read(with("skills", R"([null,{"id":"s","name":"S","description":"d","tags":["t"]},[],""])"));
    CHECK(card.document.at("skills").size() == 1);
    CHECK(card.problems.size() == 3);
    CHECK(has_problem(card, "skills[2]", "not an object"));
}

TEST_CASE("the protocol version is supplied for cards of 0.3 only")
{
    for (const auto* text : {
             R"({"name":"n","url":"http://a"})",
             R"({"name":"n","url":"http://a","authentication":{"schemes":[]}})",
         }) {
        const auto card = read(text);
        CHECK_FALSE(card.document.contains("protocolVersion"));
        CHECK(has_problem(card, "protocolVersion", "missing"));
        CHECK(a2a::facts(card).protocol_version == "");
    }
    CHECK(
        read(R"({"name":"n","url":"http://a","preferredTransport":"JSONRPC"})").document.at("protocolVersion") ==
        "0.3.0"
    );
    CHECK_FALSE(read(sound_v1).document.contains("protocolVersion"));
    CHECK(read(R"({"name":"n","url":"http://a","protocolVersion":"0.2.1"})").document.at("protocolVersion") == "0.2.1");
}

TEST_CASE("known members in another spelling get their name, and only one of two stays")
{
    const auto card =
        read(R"({"x_y":1,"Name":"n","default_input_modes":["text"],"URL":"http://a","supported_interfaces":
        [{"Url":"http://b","protocol_binding":"jsonrpc","protocol_version":"1.0"}],
        "supportedInterfaces":[{"url":"http://c","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"url":"http://d"})"
        );
    const auto& document = card.document;
    CHECK(document.at("name") == "n");
    CHECK(document.at("x_y") == 1);
    CHECK(document.at("defaultInputModes") == json::array({"text"}));
    CHECK_FALSE(document.contains("URL"));
    CHECK_FALSE(document.contains("supported_interfaces"));
    CHECK(document.at("url") == "http://d");
    CHECK(document.at("supportedInterfaces").at(0).at("url") == "http://c");
    CHECK(has_problem(card, "name", "was spelled differently"));
    CHECK(has_problem(card, "URL", "dropped: another spelling of a member that is there"));

    const auto snake = read(R"({"name":"n","supported_interfaces":
        [{"Url":"http://b","protocol_binding":"json-rpc","protocol_version":1.0}]})");
    CHECK(
        core::to_text(snake.document.at("supportedInterfaces")) ==
        R"([{"url":"http://b","protocolBinding":"JSONRPC","protocolVersion":"1.0"}])"
    );
}

TEST_CASE("interfaces say which binding and version they mean, or are told")
{
    const std::pair<std::string, std::string> rows[]{
        {R"({"url":"http://a"})", R"({"url":"http://a","protocolBinding":"JSONRPC","protocolVersion":"1.0"})"},
        {R"({"url":"http://a","transport":"grpc"})",
         R"({"url":"http://a","transport":"grpc","protocolBinding":"GRPC","protocolVersion":"1.0"})"},
        {R"({"url":"http://a","protocolBinding":null,"protocolVersion":"0.3"})",
         R"({"url":"http://a","protocolVersion":"0.3","protocolBinding":"JSONRPC"})"},
        {R"({"url":7,"protocolBinding":"http+json","protocolVersion":""})",
         R"({"protocolBinding":"HTTP+JSON","protocolVersion":"1.0"})"},
        {R"({"url":"http://a","protocolBinding":"https://b.example/x","protocolVersion":"1.0","tenant":"t"})",
         R"({"url":"http://a","protocolBinding":"https://b.example/x","protocolVersion":"1.0","tenant":"t"})"},
    };
    for (const auto& [interface, repaired] : rows) {
        CAPTURE(interface);
        const auto card = read(R"({"name":"n","supportedInterfaces":[)" + interface + "]}");
        CHECK(core::to_text(card.document.at("supportedInterfaces").at(0)) == repaired);
    }
    const auto old =
        read(R"({"name":"n","protocolVersion":"0.3.0","url":"http://a","supportedInterfaces":[{"url":"http://a"}]})");
    CHECK(old.document.at("supportedInterfaces").at(0).at("protocolVersion") == "0.3");
}

TEST_CASE("what a hostile card can make us keep is bounded")
{
    const auto list = [](std::size_t count, const std::string& item) {
        std::string text;
        for (std::size_t i = 0; i < count; ++i) {
            text += (i == 0 ? "" : ",") + item;
        }
        return "[" + text + "]";
    };
    SUBCASE("problems")
    {
        const auto sound = R"({"id":"s","name":"S","description":"d"})";
        CHECK(
            read(with("skills", list(a2a::max_card_problems - 1, sound))).problems.size() == a2a::max_card_problems - 1
        );
        CHECK(read(with("skills", list(a2a::max_card_problems, sound))).problems.size() == a2a::max_card_problems);
        const auto many = read(with("skills", list(a2a::max_card_problems + 7, sound)));
        REQUIRE(many.problems.size() == a2a::max_card_problems + 1);
        CHECK(many.problems.back().what == "and 7 more");
    }
    SUBCASE("skills")
    {
        CHECK(
            read(with("skills", list(a2a::max_card_skills - 1, "\"a\""))).document.at("skills").size() ==
            a2a::max_card_skills - 1
        );
        CHECK(
            read(with("skills", list(a2a::max_card_skills, "\"a\""))).document.at("skills").size() ==
            a2a::max_card_skills
        );
        const auto many = read(with("skills", list(a2a::max_card_skills + 1, "\"a\"")));
        CHECK(many.document.at("skills").size() == a2a::max_card_skills);
        CHECK(has_problem(many, "skills[10000]", "dropped with what follows: too many"));
    }
    SUBCASE("interfaces")
    {
        const auto count = [&](std::size_t n) {
            return read(with("supportedInterfaces", list(n, "{}"))).document.at("supportedInterfaces").size();
        };
        CHECK(count(999) == 999);
        CHECK(count(1000) == 1000);
        CHECK(count(1001) == 1000);
    }
    SUBCASE("cards in cards")
    {
        const auto nested = [](unsigned depth) {
            std::string text = R"({"name":"n","url":"http://a"})";
            for (unsigned i = 0; i < depth; ++i) {
                text = R"({"name":"n","agentCard":)" + text + "}";
            }
            return text;
        };
        const std::string last = "agentCard.agentCard.agentCard.agentCard.agentCard";
        CHECK_FALSE(has_problem(read(nested(3)), last, "dropped: a card in a card too often"));
        CHECK_FALSE(has_problem(read(nested(4)), last, "dropped: a card in a card too often"));
        CHECK(has_problem(read(nested(5)), last, "dropped: a card in a card too often"));
    }
}

TEST_CASE("the facts of a card are read from what it says, whatever its types")
{
    const auto known = a2a::facts(read(R"({"name":"n","description":"d","version":"1","capabilities":{"streaming":true,
        "pushNotifications":"yes","extendedAgentCard":true},"securitySchemes":{"a":{},"b":7},"skills":["x","y"],
        "supportedInterfaces":[{"url":"http://a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"provider":7})")
    );
    CHECK(known.name == "n");
    CHECK(known.description == "d");
    CHECK(known.version == "1");
    CHECK(known.protocol_version == "1.0");
    CHECK(known.generation == card_generation::v1);
    CHECK(known.skills == 2);
    CHECK(known.capabilities == std::vector<std::string>{"streaming", "extendedAgentCard"});
    CHECK(known.security_schemes == std::vector<std::string>{"a", "b"});
    CHECK(known.errors > 0);
    const auto odd = a2a::facts(read(R"({"name":"n","securitySchemes":[],"supportedInterfaces":7})"));
    CHECK(odd.security_schemes.empty());
    CHECK(odd.protocol_version == "");
    CHECK(odd.warnings == 1);
}

TEST_CASE("endpoints for JSON-RPC are those of the interfaces of 1.0, then the url, then those of 0.3")
{
    using places = std::vector<std::string>;
    const std::pair<const char*, places> rows[]{
        {R"({"supportedInterfaces":[{"url":"g","protocolBinding":"GRPC"},{"url":"a","protocolBinding":"JSONRPC"}],"url":"b"})",
         {"supportedInterfaces[1].url a", "url b"}},
        {R"({"supportedInterfaces":[{"url":"a","protocolBinding":"jsonrpc"}]})", {"supportedInterfaces[0].url a"}},
        {R"({"supported_interfaces":[{"url":"a","protocol_binding":"JSONRPC"}]})", {"supportedInterfaces[0].url a"}},
        {R"({"url":"b"})", {"url b"}},
        {R"({"url":"b","preferredTransport":"JSONRPC"})", {"url b"}},
        {R"({"url":"b","preferredTransport":"GRPC","additionalInterfaces":[{"url":"c","transport":"JSONRPC"}]})",
         {"additionalInterfaces[0].url c"}},
        {R"({"url":"b","preferredTransport":"GRPC"})", {}},
        {R"({"supportedInterfaces":[1,{"url":1,"protocolBinding":"JSONRPC"}],"url":1})", {}},
        {"{}", {}},
    };
    for (const auto& [card, expected] : rows) {
        CAPTURE(card);
        places found;
        for (const auto& each : a2a::card_endpoints(*core::parse_json(card))) {
            if (each.over == a2a::binding::jsonrpc) {
                found.push_back(each.path + " " + each.url);
            }
        }
        CHECK(found == expected);
    }
}

TEST_CASE("an endpoint has its binding, and the generation and tenant that the card gives it")
{
    const auto told = [](const char* card) {
        std::string text;
        for (const auto& each : a2a::card_endpoints(*core::parse_json(card))) {
            const bool json = each.over == a2a::binding::jsonrpc;
            text += each.url + (json ? " jsonrpc" : each.over == a2a::binding::rest ? " rest" : " grpc");
            text += !each.version ? " any" : *each.version == a2a::generation::v1 ? " 1" : " 0.3";
            text += each.tenant.empty() ? ";" : ' ' + each.tenant + ';';
        }
        return text;
    };
    CHECK(
        told(R"({"protocolVersion":"0.3.0","url":"u","additionalInterfaces":[{"url":"r","transport":"HTTP+JSON"},
            {"url":"g","transport":"GRPC"}],"supportedInterfaces":[
            {"url":"a","protocolBinding":"http+json","protocolVersion":"1.0","tenant":"t"},
            {"url":"b","protocolBinding":"JSONRPC","protocolVersion":"0.3"},
            {"url":"c","protocolBinding":"JSONRPC","protocolVersion":"2.0"},
            {"url":"d","protocolBinding":"JSONRPC"}]})") ==
        "a rest 1 t;b jsonrpc 0.3;c jsonrpc any;d jsonrpc any;u jsonrpc 0.3;r rest 0.3;g grpc 0.3;"
    );
    CHECK(told(R"({"url":"u","preferredTransport":"HTTP+JSON","protocolVersion":"0.2.6"})") == "u rest 0.3;");
    CHECK(told(R"({"url":"u","preferredTransport":"HTTP+JSON"})") == "u rest any;");
}

TEST_SUITE_END();
