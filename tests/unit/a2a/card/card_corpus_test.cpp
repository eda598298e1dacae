// Properties over real cards (tests/data/cards, collected from public repositories; INDEX.tsv says from where). The
// expectations are spelled out here once more instead of calling the code under test.
#include "a2a/card/card.hpp"
#include "a2a/card/card_lint.hpp"
#include "a2a/card/card_shape.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using core::json;

TEST_SUITE_BEGIN("a2a/card corpus");

namespace {

const a2a::public_address gateway{"https://gw.example/agents/x"};

const std::set<std::string> traffic_members{
    "url",
    "preferredTransport",
    "additionalInterfaces",
    "supportedInterfaces",
    "agentCard",
    "signatures"
};

std::string text_of(const std::filesystem::path& file)
{
    std::ifstream in{file, std::ios::binary};
    REQUIRE(in.good());
    return {std::istreambuf_iterator<char>{in}, {}};
}

// Name and text of every card of the corpus, in the order of their names.
std::map<std::string, std::string> corpus()
{
    std::map<std::string, std::string> cards;
    for (const auto& entry : std::filesystem::directory_iterator{CARDEA_TEST_DATA "/cards"}) {
        if (entry.path().extension() == ".json") {
            cards.emplace(entry.path().filename().string(), text_of(entry.path()));
        }
    }
    return cards;
}

struct index_entry {
    std::string shape;
    std::string notes;
};

// What INDEX.tsv says of each card: file, repository, path there, shape, notes.
std::map<std::string, index_entry> index()
{
    std::ifstream in{CARDEA_TEST_DATA "/cards/INDEX.tsv"};
    std::map<std::string, index_entry> entries;
    std::string line;
    std::getline(in, line);
    while (std::getline(in, line)) {
        std::istringstream columns{line};
        std::array<std::string, 5> column;
        for (auto& each : column) {
            std::getline(columns, each, '\t');
        }
        entries.emplace(column[0], index_entry{column[3], column[4]});
    }
    return entries;
}

// The address that an operator would have registered: what the card says of itself.
a2a::upstream_address registered(const json& document)
{
    if (const auto* url = core::string_member(document, "url")) {
        return {*url, ""};
    }
    const auto* interfaces = core::member(document, "supportedInterfaces");
    if (interfaces != nullptr && !interfaces->empty() && interfaces->at(0).contains("url")) {
        return {interfaces->at(0).at("url").get<std::string>(), ""};
    }
    return {"http://agent.internal:9000/a2a", ""};
}

json without_traffic(json card)
{
    for (const auto& member : traffic_members) {
        card.erase(member);
    }
    return card;
}

json without_address(json interface)
{
    for (const auto* member : {"url", "transport", "protocolBinding"}) {
        interface.erase(member);
    }
    return interface;
}

// Cards whose only bindings are gRPC and one of their own, which is a URI.
const std::set<std::string> out_of_reach{"162", "171"};

// Calls `visit(text, made, served)` for every card that can be served.
template <class Visit>
void for_each_served(Visit visit, const a2a::public_address& at = gateway)
{
    std::size_t count = 0;
    for (const auto& [name, text] : corpus()) {
        CAPTURE(name);
        const auto made = a2a::parse_card(text);
        if (made.has_error()) {
            continue;
        }
        const auto served = a2a::rewrite_card(*made, at, registered(made->document));
        if (out_of_reach.contains(name.substr(0, 3))) {
            REQUIRE(served.has_error());
            CHECK(served.error().detail.ends_with(", which the gateway cannot reach"));
            continue;
        }
        REQUIRE_MESSAGE(served.has_value(), served.error().detail);
        visit(text, *made, *served);
        ++count;
    }
    CHECK(count == 170);
}

// Every URL in `value` that is not a traffic URL, with its path.
void collect_identities(const json& value, const std::string& path, std::map<std::string, std::string>& found)
{
    if (const auto* text = value.get_ptr<const std::string*>(); text != nullptr && text->find("://") != text->npos) {
        found.emplace(path, *text);
    }
    if (!value.is_object() && !value.is_array()) {
        return;
    }
    for (const auto& [key, item] : value.items()) {
        if (!path.empty() || !traffic_members.contains(key)) {
            collect_identities(item, path + "/" + key, found);
        }
    }
}

// The members that 1.0.1 has (a2a.proto, in JSON), by object.
const std::map<std::string, std::set<std::string>> members_of_1_0{
    {"card",
     {"name",
      "description",
      "supportedInterfaces",
      "provider",
      "version",
      "documentationUrl",
      "capabilities",
      "securitySchemes",
      "securityRequirements",
      "defaultInputModes",
      "defaultOutputModes",
      "skills",
      "signatures",
      "iconUrl"}},
    {"supportedInterfaces", {"url", "protocolBinding", "tenant", "protocolVersion"}},
    {"provider", {"url", "organization"}},
    {"capabilities", {"streaming", "pushNotifications", "extensions", "extendedAgentCard"}},
    {"extensions", {"uri", "description", "required", "params"}},
    {"skills", {"id", "name", "description", "tags", "examples", "inputModes", "outputModes", "securityRequirements"}},
    {"securityRequirements", {"schemes"}},
    {"scheme",
     {"apiKeySecurityScheme",
      "httpAuthSecurityScheme",
      "oauth2SecurityScheme",
      "openIdConnectSecurityScheme",
      "mtlsSecurityScheme"}},
    {"apiKeySecurityScheme", {"description", "location", "name"}},
    {"httpAuthSecurityScheme", {"description", "scheme", "bearerFormat"}},
    {"oauth2SecurityScheme", {"description", "flows", "oauth2MetadataUrl"}},
    {"openIdConnectSecurityScheme", {"description", "openIdConnectUrl"}},
    {"mtlsSecurityScheme", {"description"}},
    {"flows", {"authorizationCode", "clientCredentials", "implicit", "password", "deviceCode"}},
};

// Whether every member of `value`, which stands at `name`, is one of 1.0, and so on below it.
void check_members(const json& value, const std::string& name)
{
    if (value.is_array()) {
        for (const auto& item : value) {
            check_members(item, name);
        }
        return;
    }
    const auto known = members_of_1_0.find(name);
    if (!value.is_object() || known == members_of_1_0.end()) {
        return;
    }
    for (const auto& [key, item] : value.items()) {
        CAPTURE(name);
        CAPTURE(key);
        CHECK(known->second.contains(key));
        if (key == "securitySchemes") {
            for (const auto& scheme : item) {
                check_members(scheme, "scheme");
            }
        } else {
            check_members(item, key);
        }
    }
}

std::string root_of(const std::string& path)
{
    return path.substr(0, path.find_first_of(".["));
}

}  // namespace

TEST_CASE("the index lists the cards that are there")
{
    std::set<std::string> listed;
    for (const auto& [name, entry] : index()) {
        listed.insert(name);
    }
    std::set<std::string> present;
    for (const auto& [name, text] : corpus()) {
        present.insert(name);
    }
    CHECK(present.size() == 179);
    CHECK(listed == present);
}

TEST_CASE("each card has the shape that the index says")
{
    // Says 0.3.0 in `protocol_version`, a spelling that the index did not look at.
    const std::map<std::string, std::string> read_differently{{"052-durvester-cardio-assistant-agent.json", "v0.3"}};
    const auto entries = index();
    std::map<std::string, std::size_t> seen;
    for (const auto& [name, text] : corpus()) {
        CAPTURE(name);
        const auto& shape = entries.at(name).shape;
        if (shape == "broken") {
            continue;
        }
        const auto made = a2a::parse_card(text);
        REQUIRE(made.has_value());
        const auto expected = shape == "hybrid" ? shape : shape == "1.0" ? "v1" : "v" + shape;
        const auto other = read_differently.find(name);
        CHECK(a2a::name(made->generation) == (other == read_differently.end() ? expected : other->second));
        ++seen[shape];
    }
    CHECK(
        seen == std::map<std::string, std::size_t>{{"0.1", 20}, {"0.2", 26}, {"0.3", 31}, {"1.0", 29}, {"hybrid", 31}}
    );
}

TEST_CASE("only what is not JSON or has no name is refused")
{
    std::map<std::string, core::errc> refused;
    for (const auto& [name, text] : corpus()) {
        const auto made = a2a::parse_card(text);
        if (made.has_error()) {
            refused.emplace(name.substr(0, 3), made.error().code);
        }
    }
    const std::map<std::string, core::errc> expected{
        {"241", core::errc::card_not_json},  // a control character in a string
        {"261", core::errc::card_not_json},  // a comma before a brace
        {"243", core::errc::card_invalid},
        {"258", core::errc::card_invalid},
        {"264", core::errc::card_invalid},
        {"265", core::errc::card_invalid},
        {"271", core::errc::card_invalid},
    };
    CHECK(refused == expected);
}

TEST_CASE("lint finds errors where the index does, and where it is stricter than the index it is known why")
{
    // Clean for the index, which did not look at: types inside `authentication` and `schemes`, absent tags that are null,
    // URLs that are relative, and schemes of the form of the other generation.
    const std::set<std::string> stricter{"008", "136", "155", "180", "203", "215"};
    // Unsound for the index alone: names of members in snake_case, which ProtoJSON readers take, and words for bindings.
    const std::set<std::string> milder{"013", "051", "052", "105", "106", "120", "149", "174"};
    const auto entries = index();
    for (const auto& [name, text] : corpus()) {
        CAPTURE(name);
        const auto& [shape, notes] = entries.at(name);
        const auto report = a2a::lint_card(text);
        const bool errors = report.count(a2a::problem_severity::error) > 0;
        const auto number = name.substr(0, 3);
        if (notes.starts_with("strict-clean")) {
            CHECK(errors == stricter.contains(number));
        } else {
            CHECK(errors != milder.contains(number));
        }
        CHECK((shape == "broken" || report.generation.has_value()));
        CHECK(a2a::parse_card(text).has_error() <= errors);
        for (const auto& problem : report.problems) {
            CHECK_FALSE(problem.what.empty());
            if (report.generation) {
                CHECK(a2a::specification_section(problem.path, *report.generation).starts_with("A2A "));
            }
        }
    }
}

TEST_CASE("every traffic URL of a served card is the gateway's")
{
    for_each_served([](const std::string&, const a2a::card& card, const json& served) {
        std::size_t endpoints = 0;
        const bool old = card.generation < a2a::card_generation::v03;
        const auto* extended = core::member(served, "supportsAuthenticatedExtendedCard");
        const std::map<std::string, std::string> places{
            {"JSONRPC", gateway.base},
            {"HTTP+JSON", gateway.base + "/rest"}
        };
        const auto preferred = core::text_member(served, "preferredTransport");
        const auto main = preferred.empty() ? std::string{"JSONRPC"} : preferred;
        const bool slashed = old && extended != nullptr && *extended == true && main == "JSONRPC";
        const std::string slash = slashed ? "/" : "";
        if (served.contains("url")) {
            CHECK(served.at("url") == places.at(main) + slash);
            ++endpoints;
        }
        for (const auto& [list, binding] : std::map<std::string, std::string>{
                 {"additionalInterfaces", "transport"},
                 {"supportedInterfaces", "protocolBinding"}
             }) {
            if (!served.contains(list)) {
                continue;
            }
            for (const auto& interface : served.at(list)) {
                const auto named = interface.at(binding).get<std::string>();
                const bool shares = list == "additionalInterfaces" && named == main && served.contains("url");
                CHECK(interface.at("url") == places.at(named) + (shares ? slash : ""));
                endpoints += list == "supportedInterfaces" ? 1 : 0;
            }
        }
        CHECK(endpoints > 0);
        CHECK_FALSE(served.contains("signatures"));
        CHECK_FALSE(served.contains("supported_interfaces"));
        CHECK_FALSE(served.contains("additional_interfaces"));
    });
}

TEST_CASE("rewriting changes nothing but the traffic members, and kept interfaces are the agent's")
{
    for_each_served([](const std::string&, const a2a::card& made, const json& served) {
        CHECK(core::to_text(without_traffic(served)) == core::to_text(without_traffic(made.document)));
        for (const auto* list : {"additionalInterfaces", "supportedInterfaces"}) {
            if (!made.document.contains(list)) {
                continue;
            }
            for (const auto& interface : served.at(list)) {
                const auto kept = without_address(interface);
                const bool known = std::ranges::any_of(made.document.at(list), [&](const json& original) {
                    return without_address(original) == kept;
                });
                const bool made_up =
                    kept.size() == 1 && kept.contains("protocolVersion") && served.at(list).size() == 1;
                CHECK((known || made_up));
            }
        }
    });
}

TEST_CASE("identity URLs are served as they were written")
{
    std::size_t seen = 0;
    for_each_served([&](const std::string&, const a2a::card& made, const json& served) {
        std::map<std::string, std::string> before;
        std::map<std::string, std::string> after;
        collect_identities(made.document, "", before);
        collect_identities(served, "", after);
        CHECK(before == after);
        seen += before.size();
    });
    CHECK(seen > 500);
}

TEST_CASE("whatever interfaces a card adds, there is one address per binding, and 1.0 comes first")
{
    const auto added = *core::parse_json(R"([
        {"url":"http://agent.internal:9000/v03","protocolBinding":"JSONRPC","protocolVersion":"0.3"},
        {"url":"agent.internal:9001","protocolBinding":"GRPC","protocolVersion":"1.0"},
        {"url":"http://agent.internal:9000/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"},
        {"url":"http://agent.internal:9000/x","protocolBinding":"https://b.example/own","protocolVersion":"1.0"},
        {"url":"http://agent.internal:9000/v1","protocolBinding":"JSONRPC","protocolVersion":"1.0"}])");
    for_each_served([&](const std::string&, const a2a::card& made, const json&) {
        auto document = made.document;
        auto& interfaces = document["supportedInterfaces"];
        interfaces = interfaces.is_array() ? interfaces : json::array();
        interfaces.insert(interfaces.begin(), added.begin(), added.end());
        const auto more = a2a::parse_card(a2a::render(document));
        REQUIRE(more.has_value());
        const auto served = a2a::rewrite_card(*more, gateway, registered(made.document));
        REQUIRE(served.has_value());
        bool old_seen = false;
        std::map<std::string, std::string> binding_at;
        for (const auto& interface : served->at("supportedInterfaces")) {
            const bool old = interface.at("protocolVersion").get<std::string>().starts_with("0.");
            CHECK((old || !old_seen));
            old_seen = old_seen || old;
            const auto binding = interface.at("protocolBinding").get<std::string>();
            CHECK(binding_at.emplace(interface.at("url").get<std::string>(), binding).first->second == binding);
        }
        CHECK(old_seen);
        CHECK(
            binding_at ==
            std::map<std::string, std::string>{{gateway.base, "JSONRPC"}, {gateway.base + "/rest", "HTTP+JSON"}}
        );
        CHECK(a2a::render(*served).find("agent.internal") == std::string::npos);
    });
}

TEST_CASE("every card has every shape: v1 is nothing but 1.0, v0.3 nothing of it, and all are sound")
{
    for_each_served([](const std::string&, const a2a::card&, const json& served) {
        const auto v1 = a2a::shape_card(served, core::card_shape::v1, gateway);
        REQUIRE(v1.has_value());
        check_members(v1->document, "card");
        const auto v03 = a2a::shape_card(served, core::card_shape::v03, gateway);
        REQUIRE(v03.has_value());
        for (const auto* member : {"supportedInterfaces", "securityRequirements", "supportsExtendedAgentCard"}) {
            CHECK_FALSE(v03->document.contains(member));
        }
        CHECK_FALSE(v03->document.at("capabilities").contains("extendedAgentCard"));
        const auto hybrid = a2a::shape_card(served, core::card_shape::hybrid, gateway);
        REQUIRE(hybrid.has_value());
        CHECK(hybrid->document.at("supportedInterfaces") == v1->document.at("supportedInterfaces"));
        CHECK(hybrid->document.at("url") == v03->document.at("url"));
        for (const auto& each : {*v1, *v03, *hybrid}) {
            CHECK(each.document.at("name") == served.at("name"));
            CHECK(each.document.at("skills").size() == served.at("skills").size());
            const auto again = a2a::parse_card(a2a::render(each.document));
            REQUIRE(again.has_value());
            CHECK(again->problems.empty());
        }
        // A shape of a shape is that shape.
        CHECK(a2a::shape_card(v1->document, core::card_shape::v1, gateway)->document == v1->document);
        CHECK(a2a::shape_card(v03->document, core::card_shape::v03, gateway)->document == v03->document);
    });
}

TEST_CASE("with bridging every card offers both generations over both bindings, in every shape")
{
    const a2a::public_address bridged{.base = gateway.base, .bridged = true};
    const std::set<std::string> all{"1.0 JSONRPC", "1.0 HTTP+JSON", "0.3 JSONRPC", "0.3 HTTP+JSON"};
    const std::set<std::string> transports{"JSONRPC", "HTTP+JSON"};
    for_each_served(
        [&](const std::string&, const a2a::card& made, const json& served) {
            CHECK(core::to_text(without_traffic(served)) == core::to_text(without_traffic(made.document)));
            const auto v1 = a2a::shape_card(served, core::card_shape::v1, bridged);
            REQUIRE(v1.has_value());
            check_members(v1->document, "card");
            std::set<std::string> offered;
            bool old_seen = false;
            for (const auto& each : v1->document.at("supportedInterfaces")) {
                const auto version = each.at("protocolVersion").get<std::string>();
                CHECK((version == "0.3" || !old_seen));
                old_seen = old_seen || version == "0.3";
                offered.insert(version + " " + each.at("protocolBinding").get<std::string>());
            }
            CHECK(offered == all);
            const auto v03 = a2a::shape_card(served, core::card_shape::v03, bridged);
            REQUIRE(v03.has_value());
            CHECK(v03->document.at("protocolVersion").get<std::string>().starts_with("0"));
            CHECK(v03->document.contains("protocol") == served.contains("protocol"));
            std::set<std::string> old;
            for (const auto& each : v03->document.at("additionalInterfaces")) {
                old.insert(each.at("transport").get<std::string>());
            }
            CHECK(old == transports);
            const auto hybrid = a2a::shape_card(served, core::card_shape::hybrid, bridged);
            REQUIRE(hybrid.has_value());
            CHECK(hybrid->document.at("supportedInterfaces") == v1->document.at("supportedInterfaces"));
            CHECK(hybrid->document.at("additionalInterfaces") == v03->document.at("additionalInterfaces"));
            CHECK(hybrid->document.at("protocol") == served.value("protocol", json("a2a")));
            CHECK(a2a::parse_card(a2a::render(hybrid->document))->problems.empty());
        },
        bridged
    );
}

TEST_CASE("reading changes nothing but what the problems name")
{
    std::size_t untouched = 0;
    for_each_served([&](const std::string& text, const a2a::card& made, const json&) {
        const auto original = *core::parse_json(text);
        std::set<std::string> repaired;
        for (const auto& problem : made.problems) {
            repaired.insert(root_of(problem.path));
        }
        for (const auto& [member, value] : original.items()) {
            if (made.document.contains(member)) {
                CHECK((repaired.contains(member) || made.document.at(member) == value));
            } else {
                std::string folded = member;
                std::erase(folded, '_');
                CHECK(std::ranges::any_of(repaired, [&](const std::string& path) {
                    return path == member || std::ranges::equal(path, folded, {}, ::tolower, ::tolower);
                }));
            }
        }
        for (const auto& [member, value] : made.document.items()) {
            CHECK((original.contains(member) || repaired.contains(member)));
        }
        if (made.problems.empty()) {
            ++untouched;
            CHECK(core::to_text(made.document) == core::to_text(original));
        }
    });
    CHECK(untouched > 30);
}

TEST_CASE("a skill without a recorded problem is served as it was written")
{
    std::size_t skills = 0;
    for_each_served([&](const std::string& text, const a2a::card& made, const json& served) {
        const auto original = *core::parse_json(text);
        if (!original.contains("skills") || !original.at("skills").is_array() ||
            original.at("skills").size() != served.at("skills").size() ||
            made.problems.size() > a2a::max_card_problems) {
            return;
        }
        std::set<std::string> repaired;
        for (const auto& problem : made.problems) {
            repaired.insert(problem.path.substr(0, problem.path.find(']') + 1));
        }
        for (std::size_t i = 0; i < served.at("skills").size(); ++i) {
            if (!repaired.contains("skills[" + std::to_string(i) + "]")) {
                CHECK(core::to_text(served.at("skills").at(i)) == core::to_text(original.at("skills").at(i)));
                ++skills;
            }
        }
    });
    CHECK(skills > 200);
}

TEST_CASE("a served card is sound, and serving it once more changes nothing")
{
    for_each_served([](const std::string&, const a2a::card& made, const json& served) {
        const auto bytes = a2a::render(served);
        const auto again = a2a::parse_card(bytes);
        REQUIRE(again.has_value());
        for (const auto& problem : again->problems) {
            // A card of a time before there was one is not given a version.
            CHECK(problem == a2a::card_problem{"protocolVersion", "missing", a2a::problem_severity::warning});
        }
        const auto twice = a2a::rewrite_card(*again, gateway, registered(made.document));
        REQUIRE(twice.has_value());
        CHECK(a2a::render(*twice) == bytes);
    });
}

TEST_CASE("the same card gives the same bytes and tag, another public address gives others")
{
    for_each_served([](const std::string& text, const a2a::card&, const json& served) {
        const auto again = a2a::parse_card(text);
        REQUIRE(again.has_value());
        const auto from = registered(again->document);
        const auto same = a2a::rewrite_card(*again, gateway, from);
        const auto other = a2a::rewrite_card(*again, {"http://localhost:4000/agents/x"}, from);
        REQUIRE(same.has_value());
        REQUIRE(other.has_value());
        CHECK(a2a::render(*same) == a2a::render(served));
        CHECK(a2a::strong_etag(a2a::render(*same)) == a2a::strong_etag(a2a::render(served)));
        CHECK(a2a::strong_etag(a2a::render(*other)) != a2a::strong_etag(a2a::render(served)));
    });
}

TEST_SUITE_END();
