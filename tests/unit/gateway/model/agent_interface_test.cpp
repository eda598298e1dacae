#include "gateway/model/agent_interface.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <span>
#include <string>
#include <utility>
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

TEST_CASE("gRPC is nearer to HTTP+JSON of its generation than to JSON-RPC, and the farthest from callers of JSON")
{
    CHECK(nearest({v03_jsonrpc, v03_rest, v1_jsonrpc, v1_rest, v03_grpc, v1_grpc}, v1_grpc) == "1.0/grpc");
    CHECK(nearest({v03_jsonrpc, v03_rest, v1_jsonrpc, v1_rest}, v03_grpc) == "0.3/rest");
    CHECK(nearest({v1_jsonrpc, v03_grpc}, v1_grpc) == "1.0/jsonrpc");
    CHECK(nearest({v03_jsonrpc, v03_grpc}, v1_grpc) == "0.3/grpc");
    for (const auto caller : {v1_jsonrpc, v1_rest}) {
        CHECK(nearest({v1_grpc, v1_rest, v1_jsonrpc}, caller) == core::name(caller));
        CHECK(nearest({v1_grpc, v03_jsonrpc, v03_rest}, caller) == "1.0/grpc");
    }
    CHECK(nearest({v1_grpc, v1_rest}, v1_jsonrpc) == "1.0/rest");
    CHECK(nearest({v1_grpc, v1_jsonrpc}, v1_rest) == "1.0/jsonrpc");
}

TEST_CASE("gRPC at another port is another way to the same tasks")
{
    using gateway::model::home_at;
    std::vector<gateway::model::agent_interface> all;
    for (const auto& [speaks, url] : {std::pair{v1_grpc, "http://h:50051"}, {v1_jsonrpc, "http://h/rpc"}}) {
        all.push_back({{speaks, url, {}}, gateway::model::dialect_of(speaks), {}, {}});
    }
    CHECK_FALSE(gateway::model::has_several_addresses(all));
    for (const auto caller : {v1_grpc, v1_jsonrpc}) {
        for (const auto& home : all) {
            const auto* to = gateway::model::interface_for_task(all, gateway::model::dialect_of(caller), home_at(home));
            CHECK(to->at.speaks == caller);
        }
    }
    CHECK_FALSE(gateway::model::has_several_addresses(std::span{all}.first(1)));
    all.push_back({{v1_rest, "http://h/api", {}}, gateway::model::dialect_of(v1_rest), {}, {}});
    CHECK(gateway::model::has_several_addresses(all));
}

TEST_CASE("a call for a task gets the interface where the task lives, unless the nearest one has its address")
{
    using gateway::model::home_at;
    std::vector<gateway::model::agent_interface> all;
    for (const auto& [speaks, url] :
         {std::pair{v03_jsonrpc, "http://h/rpc"}, {v1_jsonrpc, "http://h/rpc"}, {v1_rest, "http://h/api"}}) {
        all.push_back({{speaks, url, {}}, gateway::model::dialect_of(speaks), {}, {}});
    }
    const auto found = [&all](core::a2a_dialect caller, gateway::model::task_home home) {
        const auto* to = gateway::model::interface_for_task(all, gateway::model::dialect_of(caller), home);
        return to == nullptr ? std::string{"none"} : std::string{core::name(to->at.speaks)};
    };
    CHECK(found(v1_jsonrpc, 0) == "1.0/jsonrpc");
    CHECK(found(v1_jsonrpc, home_at(all[2])) == "1.0/rest");
    CHECK(found(v1_jsonrpc, home_at(all[0])) == "1.0/jsonrpc");  // the same address
    CHECK(found(v1_rest, home_at(all[0])) == "0.3/jsonrpc");
    CHECK(gateway::model::has_several_addresses(all));
    const auto gone = home_at(all[2]);
    all.pop_back();
    CHECK(found(v1_rest, gone) == "1.0/jsonrpc");
    CHECK_FALSE(gateway::model::has_several_addresses(all));
    all.clear();
    CHECK(found(v1_rest, gone) == "none");
    CHECK_FALSE(gateway::model::has_several_addresses(all));
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
