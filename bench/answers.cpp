#include "bench/answers.hpp"

#include <stdexcept>

namespace bench {
namespace {

constexpr std::size_t card_bytes = 4096;
constexpr std::size_t event_bytes = 200;

std::string express_head(std::string_view type, std::string_view more)
{
    std::string out = "HTTP/1.1 200 OK\r\nX-Powered-By: Express\r\nContent-Type: ";
    out += type;
    out += "\r\n";
    out += more;
    out += "Date: Fri, 20 Nov 2026 06:00:00 GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\n\r\n";
    return out;
}

}  // namespace

std::string padded(std::string_view before, std::string_view after, std::size_t size)
{
    if (before.size() + after.size() > size) {
        throw std::invalid_argument{"a body of " + std::to_string(size) + " bytes is too small"};
    }
    std::string out{before};
    out.append(size - before.size() - after.size(), '.');
    out += after;
    return out;
}

std::string whole_answer(std::string_view body)
{
    std::string more = "Content-Length: " + std::to_string(body.size()) + "\r\n";
    more += "ETag: W/\"400-Xy2mZ0fK0m4mPCgpWt9oUOAjD7Q\"\r\n";
    return express_head("application/json; charset=utf-8", more) + std::string{body};
}

std::string call_answer(std::size_t body)
{
    constexpr std::string_view before =
        R"({"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"b7c1","role":"agent","parts":[{"kind":"text","text":")";
    return whole_answer(padded(before, R"("}]}})", body));
}

std::string card_answer(std::uint16_t port)
{
    const auto before =
        R"({"name":"bench","version":"1.0.0","protocolVersion":"0.3.0","url":"http://127.0.0.1:)" +
        std::to_string(port) +
        R"(/a2a","preferredTransport":"JSONRPC","capabilities":{"streaming":true},)"
        R"("defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"echo","name":"echo",)"
        R"("description":"echoes","tags":["text"]}],"description":")";
    return whole_answer(padded(before, R"("})", card_bytes));
}

std::string event_chunk()
{
    constexpr std::string_view before =
        R"(data: {"jsonrpc":"2.0","id":1,"result":{"kind":"artifact-update","taskId":"t1","contextId":"c1",)"
        R"("artifact":{"artifactId":"a","parts":[{"kind":"text","text":")";
    std::string chunk = "c8\r\n";
    static_assert(event_bytes == 0xC8);
    chunk += padded(before, "\"}]}}}\n\n", event_bytes);
    chunk += "\r\n";
    return chunk;
}

std::string event_stream_head()
{
    return express_head("text/event-stream", "Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n");
}

}  // namespace bench
