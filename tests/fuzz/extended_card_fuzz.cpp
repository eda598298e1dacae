// Any text as an agent's answer with a card, whole and as a stream of events: what callers get of it is an answer with the
// same words around the card, names no address of the agent's, and has the shape of its dialect. The first byte chooses that.
#include "a2a/card/card_shape.hpp"
#include "a2a/card/extended_card.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "net/sse/sse_events.hpp"
#include "tests/fuzz/http1_properties.hpp"
#include "tests/unit/net/sse/sse_reader.hpp"

#include <algorithm>
#include <optional>

namespace {

const a2a::public_address gateway{"https://gw.example/agents/x"};
const a2a::upstream_address upstream{"http://agent.internal:9000/a2a", ""};

std::optional<std::string> edited(std::string_view text, a2a::card_dialect dialect)
{
    const auto found = a2a::find_answered_card(text);
    if (!found || found->kind != core::answer_kind::result) {
        return std::nullopt;
    }
    const auto card = a2a::parse_card(found->result);
    if (!card) {
        return std::nullopt;
    }
    const auto rewritten = a2a::rewrite_extended_card(*card, gateway, upstream, dialect);
    if (!rewritten) {
        return std::nullopt;
    }
    const auto shaped = a2a::shape_card(rewritten->document, rewritten->shape, gateway);
    tests::require(shaped.has_value(), "what is rewritten has every shape", text);
    return std::string{found->before} + a2a::render(shaped->document) + std::string{found->after};
}

void check_card(const core::json& card, a2a::card_dialect dialect, std::string_view text)
{
    const bool modern = dialect == a2a::card_dialect::v1;
    tests::require(card.contains("supportedInterfaces") == modern, "never a hybrid", text);
    tests::require(!modern || !card.contains("url"), "no member of 0.3 in a card of 1.0", text);
    tests::require(!card.contains("signatures"), "no signature of other bytes", text);
    for (const auto* list : {"additionalInterfaces", "supportedInterfaces"}) {
        if (const auto* interfaces = core::member(card, list)) {
            for (const auto& each : *interfaces) {
                tests::require(each.at("url").get<std::string>().starts_with(gateway.base), "only the gateway", text);
            }
        }
    }
    if (const auto* url = core::string_member(card, "url")) {
        tests::require(url->starts_with(gateway.base), "only the gateway", text);
    }
}

void check_whole(std::string_view text, a2a::card_dialect dialect)
{
    const auto found = a2a::find_answered_card(text);
    if (found) {
        const auto all = std::string{found->before} + std::string{found->result} + std::string{found->after};
        tests::require(all == text, "the parts of an answer are all of it", all, text);
    }
    const auto served = edited(text, dialect);
    if (!served) {
        return;
    }
    const auto again = a2a::find_answered_card(*served);
    tests::require(again.has_value() && again->kind == core::answer_kind::result, "an answer stays one", *served, text);
    tests::require(again->before == found->before && again->after == found->after, "with the same around it", *served);
    check_card(*core::parse_json(again->result, {.bytes = 64 * 1024 * 1024}), dialect, *served);
}

// What a caller gets of the stream; nothing: it is cut.
std::string read_stream(std::string_view bytes, const tests::cuts& cuts, std::uint64_t limit, a2a::card_dialect dialect)
{
    net::sse_splitter events{limit};
    std::string out;
    std::size_t from = 0;
    const auto take = [&](std::optional<std::string> event) {
        const auto data = net::sse_data(*event);
        const auto made = data ? edited(*data, dialect) : std::nullopt;
        out += made ? net::with_sse_data(*event, *made) : *event;
    };
    const auto feed = [&](std::string_view piece) {
        events.feed(piece);
        while (auto event = events.next()) {
            take(std::move(event));
        }
    };
    for (const auto cut : cuts) {
        feed(bytes.substr(from, cut - from));
        from = cut;
    }
    feed(bytes.substr(from));
    if (events.too_large()) {
        return "too large";
    }
    if (auto rest = events.take_rest()) {
        take(std::move(rest));
    }
    return out;
}

void check_stream(std::string_view bytes, a2a::card_dialect dialect)
{
    tests::numbers random{bytes};
    for (const std::uint64_t limit : {std::uint64_t{1} << 40U, std::uint64_t{1 + random.below(60)}}) {
        tests::require_same_in_pieces(bytes, [&](const tests::cuts& cuts, tests::buffer) {
            return read_stream(bytes, cuts, limit, dialect);
        });
    }
    if (bytes.find('|') != std::string_view::npos) {
        return;  // what the plain reader puts between an event's parts
    }
    // A plain reader of both streams sees the same events, but for the cards in them.
    const auto before = tests::events_of(bytes);
    const auto after = tests::events_of(read_stream(bytes, {}, std::uint64_t{1} << 40U, dialect));
    tests::require(before.size() == after.size(), "no event is lost or made", bytes);
    for (std::size_t i = 0; i < before.size(); ++i) {
        const auto data = before[i].find('|', before[i].find('|') + 1);
        if (before[i].find('|') == std::string::npos) {
            tests::require(before[i] == after[i], "what is no data stays", before[i], after[i]);
            continue;
        }
        auto text = before[i].substr(data + 1);
        text.pop_back();
        auto made = edited(text, dialect);
        if (made) {
            std::ranges::replace_if(*made, [](char c) { return c == '\n' || c == '\r'; }, ' ');  // one line of data
        }
        const auto wanted = before[i].substr(0, data + 1) + made.value_or(text) + "\n";
        tests::require(after[i] == wanted, "an event has the edited answer", after[i], wanted);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    if (bytes.empty()) {
        return 0;
    }
    const auto dialect = static_cast<a2a::card_dialect>(static_cast<unsigned char>(bytes.front()) % 3);
    check_whole(bytes.substr(1), dialect);
    check_stream(bytes.substr(1), dialect);
    return 0;
}
