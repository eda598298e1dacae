// What a caller could put into a translated request so that the agent is asked for something else.
#include "a2a/dialect/request.hpp"

#include <doctest/doctest.h>

#include <string>

using a2a::operation;

TEST_SUITE_BEGIN("a2a/dialect hostile requests");

namespace {

constexpr a2a::dialect old_rpc{a2a::generation::v03, a2a::binding::jsonrpc};
constexpr a2a::dialect old_rest{a2a::generation::v03, a2a::binding::rest};
constexpr a2a::dialect new_rpc{a2a::generation::v1, a2a::binding::jsonrpc};
constexpr a2a::dialect new_rest{a2a::generation::v1, a2a::binding::rest};

}  // namespace

TEST_CASE("a query puts no JSON of its own into a call")
{
    struct smuggled {
        a2a::dialect from;
        a2a::dialect to;
        std::string_view verb;
        std::string_view target;
        std::string_view body;
        std::string_view sent;
    };
    const std::string_view send = R"({"message":{"messageId":"m"}})";
    for (const auto& row :
         {smuggled{
              new_rest,
              old_rpc,
              "GET",
              R"(/tasks/t?metadata=%7B%7D%7D,"method":"tasks/cancel","x":%7B"y":%7B%7D)",
              "",
              R"({"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t"}})"
          },
          smuggled{
              old_rest,
              old_rpc,
              "POST",
              R"(/v1/tasks/t:cancel?metadata={},"id":"other")",
              "",
              R"({"jsonrpc":"2.0","id":1,"method":"tasks/cancel","params":{"id":"t"}})"
          },
          smuggled{
              new_rest,
              new_rpc,
              "POST",
              R"(/message:send?configuration={},"tenant":"other")",
              send,
              R"({"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m"}}})"
          }}) {
        CAPTURE(row.target);
        const auto target = a2a::read_rest_target(row.verb, row.target);
        REQUIRE(target.has_value());
        a2a::incoming_request in;
        in.from = row.from;
        in.what = target->what;
        in.payload = row.body;
        in.id = "1";
        in.target = &*target;
        a2a::outgoing_request out;
        REQUIRE(a2a::translate_request(in, row.to, {}, out).has_value());
        CHECK(out.body == row.sent);
        CHECK(out.lost == 1);
    }
}

TEST_CASE("a target up to its limit goes out, and a longer one is refused")
{
    constexpr std::size_t limit = 64;
    const std::string_view path = "/tasks/";
    a2a::request_options options;
    options.limits.target = limit;
    for (const std::size_t size : {limit - 1, limit, limit + 1}) {
        CAPTURE(size);
        const auto params = R"({"id":")" + std::string(size - path.size(), 't') + "\"}";
        a2a::incoming_request in;
        in.from = old_rpc;
        in.what = operation::get;
        in.payload = params;
        a2a::outgoing_request out;
        const auto done = a2a::translate_request(in, new_rest, options, out);
        CHECK(done.has_value() == (size <= limit));
        if (!done) {
            CHECK(done.error().code == a2a::rpc_code::invalid_params);
        }
        CHECK(a2a::translate_request(in, new_rpc, options, out).has_value());
    }
}

TEST_CASE("an id of JSON-RPC reaches no other path of an agent of HTTP+JSON")
{
    for (const std::string_view id :
         {"t/pushNotificationConfigs/p", "../../admin", "..", ".", "t\\u002fx", "t\\u0000", "..\\\\x", "t:subscribe"}) {
        CAPTURE(id);
        for (const auto to : {new_rest, old_rest}) {
            const auto params = R"({"id":")" + std::string{id} + "\"}";
            a2a::incoming_request in;
            in.from = to == new_rest ? old_rpc : new_rpc;
            in.what = operation::get;
            in.payload = params;
            a2a::outgoing_request out;
            const auto done = a2a::translate_request(in, to, {}, out);
            REQUIRE(done.has_error());
            CHECK(done.error().code == a2a::rpc_code::invalid_params);
        }
    }
}

TEST_SUITE_END();
