// An answer of an agent to a caller that has activated the gateway's own extension. One thread, that of the caller's loop.
#pragma once

#include "a2a/gateway_facts.hpp"
#include "gateway/relay/answer_edit.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gateway::a2a {

struct call_facts {
    ::a2a::metadata_place place = ::a2a::metadata_place::none;
    std::string text;        // a JSON object; empty: the caller wants none
    std::string_view field;  // the name of the field in which the caller hears of extensions; static
};

// The answer or event with the facts in it; as it is if it has no place for them, or is too long to be read on a loop.
std::string with_facts(const call_facts& facts, std::string answer);

class facts_edit final : public relay::answer_edit {
public:
    // Longer answers and events pass without facts: reading them would hold the loop up.
    static constexpr std::size_t longest = 1024 * 1024;

    // `facts` is a JSON object; `field` the name of the field in which the caller hears of extensions, which is static. `limit`:
    // of an answer, or of an event, in bytes.
    facts_edit(::a2a::metadata_place place, std::string facts, std::string_view field, std::uint64_t limit);

    void add_fields(std::string& fields) const override;
    net::routine<core::result<model::edited_answer>> edit(std::string text) override;

private:
    ::a2a::metadata_place place_;
    std::string facts_;
    std::string_view field_;
};

}  // namespace gateway::a2a
