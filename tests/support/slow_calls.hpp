// A second translator of whole calls over documents: requests of every operation but to send messages, and answers, results and errors.
// Written apart from a2a/dialect/, as slow_dialect.hpp is, which it asks for tasks and messages.
#pragma once

#include "a2a/dialect/request.hpp"
#include "tests/support/slow_dialect.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tests {

struct slow_request {
    a2a::operation sent = a2a::operation::none;
    bool first_config = false;
    bool without_history = false;
    std::optional<nlohmann::json> body;  // JSON-RPC: the params
    // HTTP+JSON only, all decoded.
    std::string verb;
    std::vector<std::string> path;
    std::map<std::string, std::string> query;
};

// What a caller asks of an agent. `payload`: params or body; null: there is none. `at`: HTTP+JSON. Nothing: refused.
class slow_requests : private slow_dialect {
public:
    slow_requests(a2a::dialect caller, a2a::dialect agent, a2a::operation what);

    std::optional<slow_request> translate(const nlohmann::json* payload, const a2a::rest_target* at);

private:
    using json = nlohmann::json;

    // Null: absent.
    struct fields {
        json tenant;
        json task;
        json config;
        json length;
        json metadata;
        json page_size;
        json page_token;
        json context;
        json status;
        json after;
        json artifacts;
        json push;
    };

    void read(const json& said);
    void read_created_in_proto(const json& said);
    void read_query(std::string_view query);
    void read_parameter(const std::string& name, const std::string& value);
    void check();
    void check_asked(const slow_request& made);
    json asked_length(slow_request& made) const;
    json created();
    json body_of_created(const json& config);
    void write_params(slow_request& made);
    void write_rest(slow_request& made);
    void write_path(slow_request& made);

    a2a::dialect caller_;
    a2a::dialect agent_;
    a2a::operation what_;
    fields in_;
};

// What an agent answered, for the caller: {"result":…} or {"error":…} of JSON-RPC, {"status":…,"body":…} of HTTP+JSON. Nothing: it is
// refused. A `message` that is null stands for any sentence.
class slow_answers : private slow_dialect {
public:
    slow_answers(const a2a::exchange& how, a2a::error_profile profile);

    std::optional<nlohmann::json> translate(unsigned status, const nlohmann::json& body);

private:
    using json = nlohmann::json;

    struct error {
        int code = -32603;
        json message;
        json details;
        json data;
    };

    json result(const json& value);
    json config(const json& value);
    json configs(const json& value);
    json said(const error& what) const;
    json object_of(const error& what, int code) const;
    json details_of(const error& what, int code) const;
    error rpc_error(const json& value) const;
    error rest_error(unsigned status, const json& value) const;

    a2a::exchange how_;
    a2a::error_profile profile_;
};

}  // namespace tests
