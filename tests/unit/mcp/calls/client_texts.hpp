// What a client sends, read as the gateway's endpoint reads it, and what a server sends.
#pragma once

#include "mcp/calls/client_message.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <cstdint>
#include <string>
#include <utility>

namespace mcp_test {

class client_text {
public:
    client_text(std::string text, std::uint64_t client = 0)  // NOLINT(google-explicit-constructor): a test reads better
        : text_{std::move(text)},
          client_{client}
    {
    }

    operator mcp::client_message() const  // NOLINT(google-explicit-constructor)
    {
        mcp::client_message message;
        message.text = text_;
        const auto members = mcp::members_of(text_);
        method_ = members.text("method");
        message.method = method_;
        message.id = members.find("id");
        message.params = members.find("params");
        const auto params = mcp::members_of(message.params);
        message.request_id = params.find("requestId");
        message.progress_token = mcp::members_of(params.object("_meta")).find("progressToken");
        message.client = client_;
        return message;
    }

private:
    std::string text_;
    mutable std::string method_;
    std::uint64_t client_;
};

// A request with this raw id and these raw params.
inline client_text call(const std::string& id, const std::string& params = "{}", std::uint64_t client = 0)
{
    return {R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"tools/call","params":)" + params + "}", client};
}

inline std::string with_token(const std::string& token)
{
    return R"({"name":"t","_meta":{"progressToken":)" + token + "}}";
}

inline client_text cancelled(const std::string& id, std::uint64_t client = 0)
{
    return {R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" + id + "}}", client};
}

inline client_text answer(const std::string& id)
{
    return {R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{}})"};
}

// The raw id in a text that a server gets.
inline std::string id_of(const std::string& text)
{
    return std::string{mcp::members_of(text).find("id")};
}

inline std::string result(const std::string& id, const std::string& value = "{}")
{
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + value + "}";
}

inline std::string question(const std::string& id, const std::string& method)
{
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":")" + method + R"(","params":{}})";
}

inline std::string notification(const std::string& method, const std::string& params = "{}")
{
    return R"({"jsonrpc":"2.0","method":"notifications/)" + method + R"(","params":)" + params + "}";
}

}  // namespace mcp_test
