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

mcp_answers::mcp_answers(std::size_t body, std::size_t tools, bool modern)
    : modern_{modern},
      call_{padded(
          R"(,"result":{"content":[{"type":"text","text":")",
          modern ? R"("}],"resultType":"complete"}})" : R"("}]}})",
          body - before_id.size() - 1
      )},
      list_{R"(,"result":{)"}
{
    list_ += modern ? R"("resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[)" : R"("tools":[)";
    for (std::size_t each = 0; each < tools; ++each) {
        const auto name = each == 0 ? std::string{"echo"} : "tool" + std::to_string(each);
        list_ += (each == 0 ? R"({"name":")" : R"(,{"name":")") + name;
        list_ += R"(","description":"What this one does","inputSchema":{"type":"object"}})";
    }
    list_ += "]}}";
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
    if (modern_ && asks(message, R"("method":"server/discover")")) {
        return put(
            id,
            R"(,"result":{"resultType":"complete","ttlMs":0,"cacheScope":"private","supportedVersions":["2026-07-28"],)"
            R"("capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"1"}}}})"
        );
    }
    if (!modern_ && asks(message, R"("method":"initialize")")) {
        return put(
            id,
            R"(,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},)"
            R"("serverInfo":{"name":"bench","version":"1"}}})"
        );
    }
    if (asks(message, R"("method":"tools/list")")) {
        return put(id, list_);
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
