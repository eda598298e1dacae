#include "bench/mcp_answers.hpp"

#include "bench/answers.hpp"

namespace bench {
namespace {

constexpr std::string_view before_id = R"({"jsonrpc":"2.0","id":)";

std::string_view id_of(std::string_view message)
{
    constexpr std::string_view name = "\"id\":";
    const auto at = message.find(name);
    if (at == std::string_view::npos) {
        return {};
    }
    message.remove_prefix(at + name.size());
    return message.substr(0, message.find_first_of(",}"));
}

bool asks(std::string_view message, std::string_view method)
{
    return message.find(method) != std::string_view::npos;
}

}  // namespace

mcp_answers::mcp_answers(std::size_t body)
    : call_{padded(R"(,"result":{"content":[{"type":"text","text":")", R"("}]}})", body - before_id.size() - 1)}
{
}

std::string_view mcp_answers::of(std::string_view message)
{
    const auto id = id_of(message);
    if (id.empty()) {
        return {};
    }
    if (asks(message, R"("method":"tools/call")")) {
        return put(id, call_);
    }
    if (asks(message, R"("method":"initialize")")) {
        return put(
            id,
            R"(,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
            R"("serverInfo":{"name":"bench","version":"1"}}})"
        );
    }
    if (asks(message, R"("method":"tools/list")")) {
        return put(id, R"(,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}})");
    }
    if (asks(message, R"("method":"ping")")) {
        return put(id, R"(,"result":{}})");
    }
    return put(id, R"(,"error":{"code":-32601,"message":"Method not found"}})");
}

std::string_view mcp_answers::put(std::string_view id, std::string_view rest)
{
    answer_ = before_id;
    answer_ += id;
    answer_ += rest;
    return answer_;
}

}  // namespace bench
