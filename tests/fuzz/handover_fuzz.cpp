// Messages of a hand-over are the same however their bytes are cut, framed again they are the bytes that were read, and no content
// makes more of a state than it has bytes for.
#include "gateway/upgrade/upgrade_messages.hpp"
#include "gateway/upgrade/upgrade_state.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t largest = 1000;

struct outcome {
    std::vector<gateway::upgrade::handover_message> messages;
    bool refused = false;

    friend bool operator==(const outcome&, const outcome&) = default;
};

outcome read(std::string_view bytes, std::size_t size)
{
    gateway::upgrade::handover_reader reader{largest};
    outcome out;
    while (!bytes.empty() && !out.refused) {
        reader.add(bytes.substr(0, size));
        bytes.remove_prefix(std::min(size, bytes.size()));
        auto next = reader.next();
        while (next && *next) {
            out.messages.push_back(**next);
            next = reader.next();
        }
        out.refused = !next;
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    const auto whole = read(bytes, bytes.size() + 1);
    for (const std::size_t piece : {1U, 2U, 3U, 5U, 7U}) {
        tests::require(read(bytes, piece) == whole, "the pieces do not matter", bytes);
    }
    std::string again;
    gateway::upgrade::upgrade_state state;
    for (const auto& each : whole.messages) {
        const auto frame = gateway::upgrade::framed(each, largest);
        tests::require(frame.has_value(), "what was read can be framed", each.content);
        again += *frame;
        gateway::upgrade::add_to(state, each);
        static_cast<void>(gateway::upgrade::hello_in(each.content));
        static_cast<void>(gateway::upgrade::prepared_in(each.content));
        if (const auto tasks = gateway::upgrade::tasks_in(each.content)) {
            tests::require(tasks->tasks.size() * 24 + 8 == each.content.size(), "a task takes its bytes", each.content);
        }
        if (const auto lists = gateway::upgrade::lists_in(each.content)) {
            const auto same = gateway::upgrade::lists_in(gateway::upgrade::content_of(*lists));
            tests::require(same.has_value(), "lists that were read can be passed on", each.content);
            tests::require(mcp::same_content(*same->lists, *lists->lists), "the lists stay the same", each.content);
        }
    }
    tests::require(bytes.starts_with(again), "framed again it is the same", again, bytes);
    if (state.memory) {
        const auto items = state.memory->records.size() + state.memory->trail.size() + state.memory->deliveries.size();
        tests::require(items <= whole.messages.size(), "a message is one thing at most", bytes);
    }
    return 0;
}
