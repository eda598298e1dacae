#include "gateway/access/answer_object.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace {

using core::errc;
using gateway::access::answer_object;

core::result<net::fetch_response> answer(std::string body, std::string type = "application/json", unsigned status = 200)
{
    return net::fetch_response{status, {{"content-type", std::move(type)}}, std::move(body)};
}

std::string problem(const core::result<net::fetch_response>& got)
{
    const auto object = answer_object(got, "source");
    if (object) {
        return {};
    }
    CHECK(object.error().code == errc::access_unavailable);
    return object.error().detail;
}

TEST_SUITE("access answer_object")
{
    TEST_CASE("An object in an answer of a JSON media type is read")
    {
        for (const auto* type : {"application/json", "Application/JSON; charset=utf-8", "application/a+json"}) {
            CHECK(answer_object(answer(R"({"a":1})", type), "source").value()["a"] == 1);
        }
    }

    TEST_CASE("Every other answer is a source that is unavailable, and is not quoted")
    {
        CHECK(problem(answer("{}", "text/html")) == "source: the answer is not of a JSON media type");
        CHECK(problem(answer("{}", "")) == "source: the answer is not of a JSON media type");
        CHECK(problem(answer("{}", "application/jsonx")) == "source: the answer is not of a JSON media type");
        CHECK(problem(answer("{}", "application/json", 500)) == "source: status 500");
        CHECK(problem(answer("{}", "application/json", 302)) == "source: status 302");
        for (const auto* body : {"", "s3cr3t", "[]", "{\"a\":", "null"}) {
            CHECK(problem(answer(body)) == "source: the answer is not a JSON object");
        }
        CHECK(problem(answer(R"({"a":1,"a":2})")).starts_with("source: the answer has "));
        CHECK(
            problem(answer(std::string(17, '[') + std::string(17, ']'))) == "source: the answer is not a JSON object"
        );
        const core::result<net::fetch_response> late = core::gateway_error(errc::upstream_timeout, "took too long");
        CHECK(problem(late) == "source: upstream_timeout: took too long");
    }
}

}  // namespace
