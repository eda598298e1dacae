// Why a conversion fails, and where. The path is put together on the way out, so that one that succeeds pays nothing for it.
// Internal to a2a/protobuf/.
#pragma once

#include "a2a/dialect/dialect.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

namespace a2a::protobuf {

class trouble {
public:
    explicit trouble(bool from_agent) noexcept
        : from_agent_{from_agent}
    {
    }

    // All four return false, for `return trouble.refuse(…)`. Only the first refusal counts.
    bool refuse(std::string_view why, int code = rpc_code::invalid_params);
    bool within(std::string_view member);
    bool within(std::string_view member, std::size_t position);
    bool within_key(std::string_view key);  // of a map: the caller's text, valid UTF-8

    bool any() const noexcept { return any_; }
    refusal take();

private:
    static constexpr std::size_t longest_key = 32;
    static constexpr std::size_t longest_path = 256;

    bool from_agent_;
    bool any_ = false;
    refusal found_;
};

}  // namespace a2a::protobuf
