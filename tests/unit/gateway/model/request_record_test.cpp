#include "gateway/model/request_record.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <set>
#include <string_view>

TEST_SUITE_BEGIN("gateway/request_record");

namespace {

template <class Enum>
std::set<std::string_view> names_of(std::initializer_list<Enum> all)
{
    std::set<std::string_view> names;
    for (const auto each : all) {
        names.insert(gateway::model::name(each));
    }
    return names;
}

using strings = std::set<std::string_view>;

}  // namespace

// The names are labels of metrics and members of log lines: dashboards depend on them.
TEST_CASE("Each route, each end of a stream and each use of a card has the name that is documented")
{
    using enum gateway::model::route;
    CHECK(
        names_of({card, call, relay, push, management, key_set, directory, index, none}) ==
        strings{"card", "call", "relay", "push", "management", "key_set", "directory", "index", "none"}
    );
    using gateway::model::stream_end;
    CHECK(name(stream_end::complete) == "complete");
    CHECK(name(stream_end::caller) == "caller");
    CHECK(name(stream_end::upstream) == "upstream");
    CHECK(name(stream_end::idle) == "idle");
    CHECK(name(stream_end::drain) == "drain");
    using gateway::model::card_use;
    CHECK(name(card_use::hit) == "hit");
    CHECK(name(card_use::stale) == "stale");
    CHECK(name(card_use::miss) == "miss");
    CHECK(name(card_use::negative) == "negative");
    CHECK(name(gateway::model::route::call) == "call");
    CHECK(name(gateway::model::route::relay) == "relay");
}

TEST_SUITE_END();
