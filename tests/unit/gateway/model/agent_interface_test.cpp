#include "gateway/model/agent_interface.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/agent_interface");

namespace {

using enum core::a2a_dialect;

// Which of these interfaces a caller of the dialect gets.
std::string nearest(std::initializer_list<core::a2a_dialect> spoken, core::a2a_dialect caller)
{
    std::vector<gateway::model::agent_interface> interfaces;
    for (const auto each : spoken) {
        interfaces.push_back({{each, "http://h", {}}, gateway::model::dialect_of(each), {}, {}});
    }
    const auto* found = gateway::model::nearest_interface(interfaces, gateway::model::dialect_of(caller));
    return found == nullptr ? "none" : std::string{core::name(found->at.speaks)};
}

}  // namespace

TEST_CASE("a caller gets its own dialect, else its generation, else its binding")
{
    CHECK(nearest({v03_jsonrpc, v03_rest, v1_jsonrpc, v1_rest}, v1_rest) == "1.0/rest");
    CHECK(nearest({v03_jsonrpc, v03_rest, v1_jsonrpc, v1_rest}, v03_jsonrpc) == "0.3/jsonrpc");
    CHECK(nearest({v03_rest, v1_jsonrpc}, v1_rest) == "1.0/jsonrpc");
    CHECK(nearest({v03_rest, v03_jsonrpc}, v1_jsonrpc) == "0.3/jsonrpc");
    CHECK(nearest({v03_rest}, v1_jsonrpc) == "0.3/rest");
    CHECK(nearest({}, v1_jsonrpc) == "none");
}

TEST_CASE("a dialect is a generation and a binding")
{
    for (const auto each : {v03_jsonrpc, v03_rest, v1_jsonrpc, v1_rest}) {
        CAPTURE(core::name(each));
        const auto made = gateway::model::dialect_of(each);
        CHECK((made.version == a2a::generation::v1) == core::name(each).starts_with("1.0"));
        CHECK((made.over == a2a::binding::rest) == core::name(each).ends_with("rest"));
    }
}

TEST_SUITE_END();
