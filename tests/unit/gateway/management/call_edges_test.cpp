#include "gateway/management/call_edges.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/call_edges");

namespace {

using namespace std::chrono_literals;
using gateway::management::call_edges;
using gateway::model::call_note;
using gateway::model::edge_numbers;

constexpr core::wall_time start{1'700'000'000s};

call_note note(const std::string& agent, const std::string& principal, edge_numbers numbers = {.calls = 1})
{
    call_note out{.agent = agent};
    out.callers.push_back({principal.empty() ? "" : "keys", principal, numbers});
    return out;
}

}  // namespace

TEST_CASE("The notes of all workers are added up for each provider, principal and agent")
{
    call_edges edges;
    edges.add({note("a", "ann", {.calls = 3, .failed = 1, .refused = 1}), note("b", "ann")}, start);
    edges.add({note("a", "ann", {.calls = 2, .failed = 1}), note("a", "")}, start + 5s);
    REQUIRE(edges.all().size() == 3);
    std::size_t found = 0;
    for (const auto& each : edges.all()) {
        if (each.agent() == "a" && each.principal() == "ann") {
            CHECK(each.provider() == "keys");
            CHECK(each.calls == 5);
            CHECK(each.failed == 2);
            CHECK(each.refused == 1);
            CHECK(each.last == start + 5s);
            ++found;
        } else if (each.agent() == "a") {
            CHECK(each.provider().empty());
            CHECK(each.principal().empty());
            ++found;
        }
    }
    CHECK(found == 2);
    CHECK(edges.all().back().agent() == "b");
}

TEST_CASE("A principal may have any bytes in its id")
{
    call_edges edges;
    edges.add({note("a", "one\ntwo\n"), note("a", "one")}, start);
    CHECK(edges.all().size() == 2);
    CHECK(edges.all().back().principal() == "one\ntwo\n");
    CHECK(edges.all().back().agent() == "a");
    CHECK(edges.all().back().provider() == "keys");
}

TEST_CASE("10,000 edges are kept, and of one more the edge that has not called for longest goes")
{
    call_edges edges;
    for (std::size_t i = 0; i < call_edges::most; ++i) {
        edges.add({note("a", std::to_string(i))}, start + std::chrono::seconds{i});
    }
    CHECK(edges.all().size() == call_edges::most);
    CHECK(edges.all().back().principal() == "0");
    edges.add({note("a", "0")}, start + 20'000s);
    CHECK(edges.all().size() == call_edges::most);
    edges.add({note("a", "new")}, start + 20'001s);
    CHECK(edges.all().size() == call_edges::most);
    CHECK(edges.all().front().principal() == "new");
    CHECK(edges.all().back().principal() == "2");
    CHECK(edges.bytes() <= call_edges::most_bytes);
}

TEST_CASE("Long ids make room for themselves, and 10,000 of 60 bytes have it")
{
    call_edges edges;
    for (std::size_t i = 0; i < call_edges::most; ++i) {
        auto id = std::to_string(i);
        id.insert(0, 60 - id.size(), 'x');
        edges.add({note("an-agent", id)}, start);
    }
    CHECK(edges.all().size() == call_edges::most);
    for (int i = 0; i < 600; ++i) {
        edges.add({note("a", std::string(8192, 'y') + std::to_string(i))}, start);
        CHECK(edges.bytes() <= call_edges::most_bytes);
    }
    CHECK(edges.all().size() < 400);
    CHECK(edges.all().front().principal().ends_with("y599"));
    edges.add({note("a", std::string(2 * call_edges::most_bytes, 'z'))}, start);
    CHECK(edges.all().size() == 1);
    edges.add({note("a", "small")}, start);
    CHECK(edges.all().size() == 1);
    CHECK(edges.bytes() < 1000);
}

TEST_SUITE_END();
