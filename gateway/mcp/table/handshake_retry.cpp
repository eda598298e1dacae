#include "gateway/mcp/table/handshake_retry.hpp"

#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <cstdint>
#include <utility>

namespace gateway::mcp::table {

std::shared_ptr<text_queue> handshake_retry::watch(std::shared_ptr<text_queue> answer, other_way other)
{
    auto reader = std::make_shared<text_queue>(on_);
    auto& added = all_.emplace_back(std::move(answer), reader, std::move(other));
    const std::weak_ptr<bool> alive{alive_};
    added.answer->set_wake([this, alive, at = &added] {
        if (!alive.expired()) {
            look(*at);
        }
    });
    // The session that begins ends with its only reader.
    reader->on_left([this, alive, at = &added](text_queue& /*queue*/) {
        if (!alive.expired()) {
            drop(*at);
        }
    });
    return reader;
}

void handshake_retry::look(opening& at)
{
    const auto reader = at.reader.lock();
    if (reader == nullptr) {
        return;
    }
    const auto answer = at.answer;
    while (auto text = answer->take()) {
        answer->arrived();
        const bool last = answer->over() && !answer->failure();
        if (!last) {
            reader->push(std::move(*text), text_kind::notification);
            continue;
        }
        reader->on_left({});
        const auto other = std::move(at.other);
        drop(at);
        const bool refused = !::mcp::members_of(*text).object("error").empty();
        if (!refused || !other(*text, reader)) {
            reader->finish(std::move(*text));
        }
        return;
    }
    if (answer->over()) {
        drop(at);
        if (const auto& why = answer->failure(); why) {
            reader->fail(*why);
        } else {
            reader->close();
        }
    }
}

void handshake_retry::drop(const opening& at)
{
    std::erase_if(all_, [&at](const opening& each) { return &each == &at; });
}

bool says_modern_only(std::string_view answer)
{
    const auto code =
        ::mcp::integer_of<std::int64_t>(::mcp::members_of(::mcp::members_of(answer).object("error")).find("code"));
    constexpr std::int64_t header_mismatch = -32020;
    constexpr std::int64_t capability_missing = -32021;
    return code == ::mcp::unsupported_version || code == ::mcp::method_not_found || code == header_mismatch ||
           code == capability_missing;
}

}  // namespace gateway::mcp::table
