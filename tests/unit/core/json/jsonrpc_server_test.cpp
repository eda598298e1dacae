#include "core/json/jsonrpc_server.hpp"

#include "core/error.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

using core::errc;
using core::parse_rpc;

TEST_SUITE_BEGIN("core/json/jsonrpc_server");

namespace {

// What a server with one method, `echo`, sends back for `body`: the whole of it through the public functions.
std::string serve(std::string_view body, core::rpc_limits limits = {})
{
    const auto parsed = parse_rpc(body, limits);
    core::batch_answer batch;
    std::string single;
    const auto answer = [&](const std::string& text) {
        if (parsed.batch) {
            batch.begin(text);
        } else {
            single = text;
        }
    };
    for (const auto& item : parsed.items) {
        if (const auto* refusal = std::get_if<core::rpc_refusal>(&item)) {
            answer(refusal->answer);
            continue;
        }
        const auto& request = std::get<core::rpc_request>(item);
        if (!request.notification()) {
            answer(
                request.method == "echo" ? core::make_result(request.id, request.params)
                                         : core::make_error(request.id, errc::method_not_found)
            );
        }
    }
    return parsed.batch ? batch.take() : single;
}

std::string error_text(std::string_view id, std::string_view code, std::string_view message, std::string_view name)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string(id) + R"(,"error":{"code":)" + std::string(code) +
           R"(,"message":")" + std::string(message) + R"(","data":{"code":")" + std::string(name) + R"("}}})";
}

std::string not_a_request(std::string_view id = "null")
{
    return error_text(id, "-32600", "The body is not a JSON-RPC 2.0 request.", "invalid_request");
}

std::string not_json()
{
    return error_text("null", "-32700", "The body is not valid JSON.", "parse_error");
}

std::string no_such_method(std::string_view id)
{
    return error_text(id, "-32601", "There is no such method.", "method_not_found");
}

std::string bad_params(std::string_view id)
{
    return error_text(id, "-32602", "The parameters do not fit the method.", "invalid_params");
}

std::string request(std::string_view id, std::string_view params = "[]")
{
    return R"({"jsonrpc":"2.0","method":"echo","id":)" + std::string(id) + R"(,"params":)" + std::string(params) + "}";
}

std::string batch_of(std::size_t size)
{
    std::string out = "[";
    for (std::size_t i = 0; i < size; ++i) {
        out += (i == 0 ? "" : ",") + request(std::to_string(i));
    }
    return out + "]";
}

}  // namespace

TEST_CASE("a request is read with its parameters, by name or by position")
{
    const auto parsed = parse_rpc(R"({"jsonrpc":"2.0","id":"x","method":"agents\/list","params":{"b":1,"a":[1.5]}})");
    CHECK(!parsed.batch);
    REQUIRE(parsed.items.size() == 1);
    const auto& named = std::get<core::rpc_request>(parsed.items[0]);
    CHECK(named.method == "agents/list");
    CHECK(named.id == R"("x")");
    CHECK(!named.notification());
    CHECK(core::to_text(named.params) == R"({"b":1,"a":[1.5]})");

    CHECK(serve(request("1", R"([1,"two"])")) == R"({"jsonrpc":"2.0","id":1,"result":[1,"two"]})");
    CHECK(serve(R"({"jsonrpc":"2.0","method":"echo","id":1})") == R"({"jsonrpc":"2.0","id":1,"result":null})");
}

TEST_CASE("an id comes back as it was written")
{
    for (const std::string id :
         {R"("")",
          R"("a\u0062\n")",
          "0",
          "-0",
          "-1",
          "1.5",
          "1.50",
          "1e2",
          "1E+999",
          "9007199254740993",
          "18446744073709551616",
          "123456789012345678901234567890",
          "null"}) {
        CAPTURE(id);
        CHECK(serve(request(id)) == R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":[]})");
        CHECK(serve("[" + request(id) + "]") == R"([{"jsonrpc":"2.0","id":)" + id + R"(,"result":[]}])");
        CHECK(serve(R"({"jsonrpc":"2.0","method":"none","id":)" + id + "}") == no_such_method(id));
    }
    const auto long_id = '"' + std::string(10240, 'i') + '"';
    CHECK(serve(request(long_id)) == R"({"jsonrpc":"2.0","id":)" + long_id + R"(,"result":[]})");
}

TEST_CASE("what is not JSON is a parse error with id null")
{
    for (const std::string_view body :
         {"",
          " ",
          "\xEF\xBB\xBF{}",
          "{",
          "{\"jsonrpc\": \"2.0\", \"method\": \"foobar, \"params\": \"bar\", \"baz]",
          "[{\"jsonrpc\":\"2.0\",\"method\":\"echo\",\"id\":1},{\"jsonrpc\":\"2.0\",\"method\"]",
          "[",
          "[1,]",
          "[]x",
          "{}{}"}) {
        CAPTURE(body);
        CHECK(serve(body) == not_json());
    }
    CHECK(serve(std::string("\xFF\xFE{\0}\0", 6)) == not_json());
    CHECK(serve(std::string(1024 * 1024, '[')) == not_json());
    CHECK(serve(request("1", std::string(64, '[') + std::string(64, ']'))) == not_json());
    CHECK(serve(request("1", std::string(63, '[') + std::string(63, ']'))) != not_json());
}

TEST_CASE("what is JSON but no request is an invalid request, with its id if that is known")
{
    struct row {
        std::string_view body;
        std::string_view id;
    };
    for (const auto& [body, id] : std::vector<row>{
             {R"({"jsonrpc":"2.0","method":1,"params":"bar"})", "null"},
             {R"({"jsonrpc":"2.0","method":1,"id":5})", "5"},
             {R"({"jsonrpc":"2.0","id":true,"method":"echo"})", "null"},
             {R"({"jsonrpc":"2.0","id":[],"method":"echo"})", "null"},
             {R"({"jsonrpc":"2.0","id":{},"method":"echo"})", "null"},
             {R"({"id":1,"method":"echo"})", "1"},
             {R"({"jsonrpc":"1.0","id":1,"method":"echo"})", "1"},
             {R"({"jsonrpc":2.0,"id":1,"method":"echo"})", "1"},
             {R"({"jsonrpc":"2.00","id":1,"method":"echo"})", "1"},
             {R"({"jsonrpc":"2.0","id":1})", "1"},
             {R"({"jsonrpc":"2.0","id":1,"method":null})", "1"},
             {R"({"jsonrpc":"2.0","id":1,"method":""})", "1"},
             {R"({"jsonrpc":"2.0","id":"s","method":"echo","params":"p"})", R"("s")"},
             {R"({"jsonrpc":"2.0","id":"s","method":"echo","params":null})", R"("s")"},
             {R"({"jsonrpc":"2.0","id":1,"result":{}})", "1"},
             {R"({"jsonrpc":"2.0","id":1,"method":"echo","id":2})", "null"},
             {R"({"jsonrpc":"2.0","id":1,"method":"echo","meth\u006fd":"x"})", "1"},
             {R"({"jsonrpc":"2.0","id":1,"method":"echo","params":{"name":"a","name":"b"}})", "1"},
             {R"({"jsonrpc":"2.0","id":1,"method":"echo","params":[{"x":{"n\u0061me":"a","name":"b"}}]})", "1"},
             {R"({"jsonrpc":"2.0","method":"echo","params":{"name":"a","name":"b"}})", "null"},
             {"1", "null"},
             {R"("echo")", "null"},
             {"null", "null"},
             {"{}", "null"}
         }) {
        CAPTURE(body);
        CHECK(serve(body) == not_a_request(id));
    }
}

TEST_CASE("members that the standard does not know are ignored, also in other case")
{
    CHECK(
        serve(R"({"jsonrpc":"2.0","id":1,"method":"echo","Method":"x","ID":2,"Params":[1],"auth":{},"__proto__":{}})"
        ) == R"({"jsonrpc":"2.0","id":1,"result":null})"
    );
    CHECK(serve(R"({"jsonrpc":"2.0","id":1,"Method":"echo"})") == not_a_request("1"));
}

TEST_CASE("method names are compared exactly")
{
    for (const auto* method : {"Echo", "echo ", " echo", "rpc.x", "echo\\u0000", "\\uD800", "ech"}) {
        CAPTURE(method);
        CHECK(serve(R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) + R"("})") == no_such_method("1"));
    }
    CHECK(serve(R"({"jsonrpc":"2.0","id":1,"method":"\u0065cho"})") == R"({"jsonrpc":"2.0","id":1,"result":null})");
    CHECK(serve(R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(10240, 'm') + R"("})") == no_such_method("1"));
}

TEST_CASE("a notification is never answered")
{
    CHECK(serve(R"({"jsonrpc":"2.0","method":"echo","params":[1]})").empty());
    CHECK(serve(R"({"jsonrpc":"2.0","method":"none"})").empty());
    CHECK(serve(R"({"jsonrpc":"2.0","method":"echo","params":[1e999]})").empty());
    CHECK(serve(R"([{"jsonrpc":"2.0","method":"echo"},{"jsonrpc":"2.0","method":"none"}])").empty());
}

TEST_CASE("parameters that our parser cannot take are invalid parameters")
{
    CHECK(serve(request("7", "[1e999]")) == bad_params("7"));
    CHECK(serve(request("7", "[-1e400]")) == bad_params("7"));
    CHECK(serve(request("7", R"({"a":"\uD800"})")) == bad_params("7"));
    CHECK(serve(request("7", "[1e-400]")) == R"({"jsonrpc":"2.0","id":7,"result":[0.0]})");
    CHECK(serve(request("7", R"(["\u0000"])")) == R"({"jsonrpc":"2.0","id":7,"result":["\u0000"]})");
}

TEST_CASE("a batch answers each of its members in an array")
{
    CHECK(serve("[1,2,3]") == "[" + not_a_request() + "," + not_a_request() + "," + not_a_request() + "]");
    CHECK(serve("[1]") == "[" + not_a_request() + "]");
    CHECK(serve("[[]]") == "[" + not_a_request() + "]");
    CHECK(serve("[[" + request("1") + "]]") == "[" + not_a_request() + "]");
    CHECK(
        serve("[{},1," + request("2", "[8]") + "]") ==
        "[" + not_a_request() + "," + not_a_request() + R"(,{"jsonrpc":"2.0","id":2,"result":[8]}])"
    );
    CHECK(
        serve("[" + request("5") + "," + request("5") + "]") ==
        R"([{"jsonrpc":"2.0","id":5,"result":[]},{"jsonrpc":"2.0","id":5,"result":[]}])"
    );
}

TEST_CASE("the batch of the specification's examples is answered as there")
{
    CHECK(
        serve(R"( [
        {"jsonrpc": "2.0", "method": "echo", "params": [1,2,4], "id": "1"},
        {"jsonrpc": "2.0", "method": "notify_hello", "params": [7]},
        {"jsonrpc": "2.0", "method": "echo", "params": [42,23], "id": "2"},
        {"foo": "boo"},
        {"jsonrpc": "2.0", "method": "foo.get", "params": {"name": "myself"}, "id": "5"},
        {"jsonrpc": "2.0", "method": "echo", "id": "9"}
    ])") == R"([{"jsonrpc":"2.0","id":"1","result":[1,2,4]},{"jsonrpc":"2.0","id":"2","result":[42,23]},)" +
                not_a_request() + "," + no_such_method(R"("5")") + R"(,{"jsonrpc":"2.0","id":"9","result":null}])"
    );
}

TEST_CASE("an empty batch and one over the limit are one invalid request, not an array")
{
    CHECK(serve("[]") == not_a_request());
    CHECK(serve(" [ ] ") == not_a_request());
    CHECK(parse_rpc(batch_of(49)).items.size() == 49);
    CHECK(parse_rpc(batch_of(50)).items.size() == 50);
    CHECK(serve(batch_of(51)) == not_a_request());
    CHECK(serve(batch_of(2), {.batch = 1}) == not_a_request());
    CHECK(serve(batch_of(51) + "x") == not_json());
    CHECK(serve(batch_of(10000)) == not_a_request());
}

TEST_CASE("depth counts from the outermost bracket of the batch")
{
    const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
    CHECK(serve("[" + request("1", nested(62)) + "]").starts_with("[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"));
    CHECK(serve("[" + request("1", nested(63)) + "]") == not_json());
    CHECK(serve(request("1", nested(3)), {.depth = 4}).starts_with("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"));
    CHECK(serve(request("1", nested(4)), {.depth = 4}) == not_json());
    CHECK(serve("[" + request("1", nested(2)) + "]", {.depth = 4})
              .starts_with("[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"));
    CHECK(serve("[" + request("1", nested(3)) + "]", {.depth = 4}) == not_json());
}

TEST_CASE("an error carries its data behind the stable code, which nothing replaces")
{
    CHECK(core::make_error("", errc::parse_error) == not_json());
    CHECK(
        core::make_error("1", errc::invalid_params, {{"member", "i\"d"}, {"code", 7}, {"at", {1, 2}}}) ==
        R"({"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"The parameters do not fit the method.",)"
        R"("data":{"code":"invalid_params","member":"i\"d","at":[1,2]}}})"
    );
}

TEST_CASE("the answer to a relayed call names the agent and whether to try again")
{
    CHECK(
        core::jsonrpc_error_body("123456789012345678901234567890", errc::upstream_refused, "x") ==
        R"({"jsonrpc":"2.0","id":123456789012345678901234567890,"error":{"code":-32603,)"
        R"("message":"The agent could not be reached.","data":{"code":"upstream_refused","agent":"x","retryable":true}}})"
    );
    CHECK(
        core::jsonrpc_error_body("", errc::parse_error, "") ==
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,)"
        R"("message":"The body is not valid JSON.","data":{"code":"parse_error","retryable":false}}})"
    );
}

TEST_CASE("the answer on other routes has the same facts without an envelope")
{
    CHECK(
        core::http_error_body(errc::upstream_timeout, "a\"b") ==
        R"({"error":{"code":"upstream_timeout","message":"The agent did not answer in time.","agent":"a\"b","retryable":true}})"
    );
    CHECK(
        core::http_error_body(errc::not_found, "") ==
        R"({"error":{"code":"not_found","message":"There is nothing at this address.","retryable":false}})"
    );
}

TEST_CASE("every error body is JSON and has the codes of its condition")
{
    for (auto i = static_cast<int>(errc::bad_request); i <= static_cast<int>(errc::internal); ++i) {
        const auto code = static_cast<errc>(i);
        CAPTURE(core::name(code));
        const auto relayed = core::parse_json(core::jsonrpc_error_body("1", code, "agent"));
        REQUIRE(relayed.has_value());
        const auto* error = core::member(*relayed, "error");
        REQUIRE(error != nullptr);
        CHECK(*core::member(*error, "code") == core::jsonrpc_code(code));
        CHECK(*core::string_member(*core::member(*error, "data"), "code") == core::name(code));
        const auto plain = core::parse_json(core::http_error_body(code, "agent"));
        REQUIRE(plain.has_value());
        CHECK(*core::member(*core::member(*plain, "error"), "retryable") == core::retryable(code));
    }
}

TEST_CASE("A batch knows beforehand how long it is with one more answer, and takes one in pieces")
{
    core::batch_answer batch;
    CHECK(batch.size_with(3) == 5);
    batch.begin("{");
    batch.go_on("1");
    batch.go_on("}");
    CHECK(batch.size_with(0) == 6);
    const auto expected = batch.size_with(1);
    batch.begin("2");
    const auto text = batch.take();
    CHECK(text == "[{1},2]");
    CHECK(text.size() == expected);
    CHECK(core::batch_answer{}.take().empty());
    core::batch_answer exact;
    for (const std::size_t size : {1000U, 1001U, 1500U}) {
        exact.reserve(size);
        CHECK(exact.capacity() == size);
    }
}

TEST_SUITE_END();
