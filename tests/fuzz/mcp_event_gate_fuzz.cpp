// A server's stream of events to a client that has declared nothing, behind a byte that says whose stream it is: what goes on is the
// same however the stream is cut, holds no question, and holds at most one answer, which is that to the request. A second reader,
// who reads what has gone on as documents, says so.
#include "mcp/calls/event_gate.hpp"
#include "net/sse/sse_events.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t longest_event = 16 * 1024;

mcp::event_gate::terms terms_of(unsigned char kind)
{
    mcp::event_gate::terms terms;
    terms.call = (kind & 1U) != 0 ? "1" : "\"a\"";
    terms.answers_only = (kind & 2U) != 0;
    terms.declared = mcp::client_capabilities{};
    terms.limit = longest_event;
    return terms;
}

// How many events do not go on, and what the server is told, on a line; then what goes on of the stream, which comes in pieces, each of
// them gone when the next one comes.
std::string passed(std::string_view stream, const mcp::event_gate::terms& terms, const tests::cuts& cuts)
{
    mcp::event_gate gate{terms};
    std::string all;
    std::string room;
    std::size_t from = 0;
    const auto feed = [&](std::size_t to) {
        const std::string piece{stream.substr(from, to - from)};
        from = to;
        all += gate.pass(piece, room);
    };
    for (const auto cut : cuts) {
        feed(cut);
    }
    feed(stream.size());
    auto told = std::to_string(gate.dropped());
    for (const auto& answer : gate.take_refused()) {
        tests::require(nlohmann::json::accept(answer), "the server is told a JSON text", answer);
        told += answer;
    }
    return told + '\n' + all;
}

class client {
public:
    explicit client(const mcp::event_gate::terms& terms)
        : terms_{terms}
    {
    }

    void read(const nlohmann::json& message, std::string_view stream)
    {
        if (message.is_array()) {
            for (const auto& each : message) {
                read(each, stream);
            }
            return;
        }
        const auto version = message.is_object() ? message.find("jsonrpc") : message.end();
        if (!message.is_object() || version == message.end() || *version != "2.0") {
            return;
        }
        if (const auto method = message.find("method"); method != message.end()) {
            tests::require(!terms_.answers_only, "who gets answers only is told nothing else", stream);
            const auto name = method->is_string() ? method->get<std::string>() : std::string{};
            for (const auto* asks : {"sampling/", "elicitation/", "roots/", "tasks/"}) {
                tests::require(!name.starts_with(asks), "nobody is asked what it has not declared", stream);
            }
        } else if (message.contains("result")) {
            tests::require(!answered_, "there is one answer", stream);
            answered_ = true;
            const auto id = message.value("id", nlohmann::json{});
            tests::require(may_be(id), "the answer is that to the request", stream, terms_.call);
        }
    }

private:
    // The id of the request, its number as a text, or none.
    bool may_be(const nlohmann::json& id) const
    {
        const auto asked = nlohmann::json::parse(terms_.call);
        const auto value = id.is_string() && asked.is_number()
                               ? nlohmann::json::parse(id.get<std::string>(), nullptr, /*allow_exceptions=*/false)
                               : id;
        return id.is_null() || id == "" || value == asked;
    }

    const mcp::event_gate::terms& terms_;
    bool answered_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 1 || size > longest_event) {
        return 0;
    }
    const auto terms = terms_of(data[0]);
    const std::string_view stream{reinterpret_cast<const char*>(data) + 1, size - 1};
    const auto all = tests::require_same_in_pieces(stream, [&](const tests::cuts& cuts, tests::buffer) {
        return passed(stream, terms, cuts);
    });
    client reader{terms};
    net::sse_splitter splitter{longest_event};
    splitter.feed(std::string_view{all}.substr(all.find('\n') + 1));
    while (const auto event = splitter.next()) {
        if (const auto text = net::sse_data(*event)) {
            reader.read(nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false), *text);
        }
    }
    return 0;
}
