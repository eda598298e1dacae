// Calls that do not send messages, of the golden files, whole and broken in one place, from each dialect to each: a slow translator that
// shares no code agrees on the request, on the answer and on the error. The seeds are fixed.
#include "a2a/dialect/answer.hpp"
#include "a2a/dialect/request.hpp"
#include "tests/support/call_differential.hpp"
#include "tests/support/generated_dialect.hpp"
#include "tests/support/mutated_json.hpp"
#include "tests/unit/a2a/dialect/wire_text.hpp"

#include <doctest/doctest.h>

#include <array>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

using nlohmann::json;

TEST_SUITE_BEGIN("a2a/dialect calls");

namespace {

const std::array<std::string, 4> names{"0.3/jsonrpc", "0.3/rest", "1.0/jsonrpc", "1.0/rest"};

const std::array<std::pair<std::string, a2a::operation>, 9> operations{{
    {"get", a2a::operation::get},
    {"list", a2a::operation::list},
    {"cancel", a2a::operation::cancel},
    {"subscribe", a2a::operation::subscribe},
    {"create_push", a2a::operation::create_push},
    {"get_push", a2a::operation::get_push},
    {"list_push", a2a::operation::list_push},
    {"delete_push", a2a::operation::delete_push},
    {"extended_card", a2a::operation::extended_card},
}};

struct seed {
    a2a::dialect from;
    a2a::operation what = a2a::operation::none;
    bool request = false;
    json said;  // as the rows say it
};

std::vector<seed> all_seeds()
{
    std::vector<seed> seeds;
    for (const std::string file : {"requests", "answers", "errors", "tasks"}) {
        std::ifstream in{CARDEA_TEST_DATA "/dialect/" + file + ".json"};
        std::string text{std::istreambuf_iterator<char>{in}, {}};
        // No document holds it.
        for (auto at = text.find("1e400"); at != std::string::npos; at = text.find("1e400")) {
            text.replace(at, 5, "1e40");
        }
        for (const auto& row : json::parse(text)) {
            for (const auto& [name, what] : operations) {
                for (const std::string side : {"a", "b"}) {
                    if (row.at("op") == name && row.contains("in_" + side) && row.at("what") != "event") {
                        seeds.push_back(
                            {tests::dialect_called(row.at(side).get<std::string>()),
                             what,
                             row.at("what") == "request",
                             row.at("in_" + side)}
                        );
                    }
                }
            }
        }
    }
    return seeds;
}

std::string some_query(tests::generated_dialect& random)
{
    static const std::array<std::string, 12> pairs{
        "historyLength=0",
        "history_length=7",
        "pageSize=5",
        "page_size=%225%22",
        "pageToken=a%2Fb",
        "pageToken=",
        "tenant=x",
        "id=other",
        "metadata=%7B%7D",
        "includeArtifacts=true",
        "contextId=%22",
        "A2A-Version=1.0"
    };
    std::string query;
    while (random.sometimes()) {
        query += (query.empty() ? "" : "&") + pairs.at(random.below(pairs.size()));
    }
    return query;
}

std::string request_disagreement(const seed& of, a2a::dialect to, tests::generated_dialect& random)
{
    a2a::incoming_request in;
    in.from = of.from;
    in.what = of.what;
    const bool rest = of.from.over == a2a::binding::rest;
    const auto payload = of.said.contains(rest ? "body" : "params") ? of.said.at(rest ? "body" : "params").dump() : "";
    in.payload = payload;
    if (!rest) {
        return tests::disagreement_on_request(in, to);
    }
    const auto path = of.said.at("target").get<std::string>();
    const auto query = some_query(random);
    const auto target = path + (query.empty() ? "" : path.find('?') == std::string::npos ? "?" : "&") + query;
    const auto read = a2a::read_rest_target(of.said.at("verb").get<std::string>(), target, of.from.version);
    REQUIRE(read.has_value());
    in.target = &*read;
    return tests::disagreement_on_request(in, to);
}

std::string answer_disagreement(const seed& of, a2a::dialect to, tests::generated_dialect& random)
{
    a2a::exchange how{.caller = to, .agent = of.from, .asked = of.what, .sent = of.what};
    how.first_config = of.what == a2a::operation::get_push && random.sometimes();
    how.without_history = random.below(4) == 0;
    static const std::array<unsigned, 14>
        statuses{200, 201, 400, 401, 403, 404, 405, 409, 415, 422, 429, 500, 501, 502};
    const bool rest = of.from.over == a2a::binding::rest;
    const bool other = random.below(3) == 0;
    const auto status = other  ? statuses.at(random.below(statuses.size()))
                        : rest ? of.said.at("status").get<unsigned>()
                               : 200;
    if (rest) {
        return tests::disagreement_on_answer(how, status, of.said.value("body", json{}).dump());
    }
    auto response = of.said;
    response["id"] = 3;
    response["jsonrpc"] = "2.0";
    return tests::disagreement_on_answer(how, status, response.dump());
}

}  // namespace

TEST_CASE(
    "A slow translator agrees on every request, answer and error of the golden files, whole and broken, in every "
    "direction"
)
{
    const auto seeds = all_seeds();
    CHECK(seeds.size() > 300);
    std::size_t requests = 0;
    std::uint32_t number = 0;
    for (const auto& each : seeds) {
        CAPTURE(each.said.dump());
        requests += each.request ? 1 : 0;
        for (const auto& name : names) {
            CAPTURE(name);
            tests::generated_dialect random{++number};
            auto made = each;
            for (int i = 0; i < 12; ++i) {
                CAPTURE(made.said.dump());
                const auto to = tests::dialect_called(name);
                const auto difference =
                    made.request ? request_disagreement(made, to, random) : answer_disagreement(made, to, random);
                REQUIRE(difference == "");
                made = random.below(3) == 0 ? each : made;
                auto& place = made.said;
                for (const char* inner : {"params", "body"}) {
                    if (place.contains(inner) && place.at(inner).is_object()) {
                        tests::mutate(place.at(inner), [&random](std::size_t bound) { return random.below(bound); });
                    }
                }
                if (place.contains("result") || place.contains("error")) {
                    tests::mutate(place, [&random](std::size_t bound) { return random.below(bound); });
                }
            }
        }
    }
    CHECK(requests > 100);
}

TEST_SUITE_END();
