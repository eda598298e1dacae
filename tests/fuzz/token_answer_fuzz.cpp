// Any text as the body of an OAuth server's answer, to a request for itself and to an exchange; its first byte says whether the
// status is 200. Reading ends; what is accepted is a token that a header field can carry, with a life within the bounds; and a
// refusal quotes nothing of the text but the known codes.
#include "gateway/tokens/token_request.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using tests::require;

constexpr std::array<std::string_view, 6> reasons{
    "the answer is not a JSON object",
    "the token is not issued as an access token",
    "the token is not a bearer token",
    "the token is missing, too long, or has a character that no token has",
    "expires_in is not a number of seconds",
    "status 400",
};

constexpr std::array<std::string_view, 9> codes{
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
    "invalid_target",
    "invalid_token",
    "access_denied",
};

bool is_known(std::string_view detail)
{
    constexpr std::string_view begin = "token endpoint: ";
    if (!detail.starts_with(begin)) {
        return false;
    }
    detail.remove_prefix(begin.size());
    const auto comma = std::min(detail.find(", "), detail.size());
    const bool is_reason = std::ranges::find(reasons, detail) != reasons.end();
    const bool has_code = comma < detail.size() && detail.substr(0, comma) == "status 400" &&
                          std::ranges::find(codes, detail.substr(comma + 2)) != codes.end();
    return is_reason || has_code;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    if (text.empty()) {
        return 0;
    }
    const unsigned status = text.front() == 'x' ? 400 : 200;
    const net::fetch_response answer{.status = status, .headers = {}, .body = std::string{text.substr(1)}};
    const auto read = gateway::tokens::read_token(answer);
    const auto exchanged = gateway::tokens::read_exchanged_token(answer);
    require(!exchanged || read, "what is no token is none for a caller either", text);
    require(exchanged || is_known(exchanged.error().detail), "a refusal of a caller quotes nothing", text);
    if (!read) {
        require(is_known(read.error().detail), "a refusal quotes nothing", text);
        return 0;
    }
    const auto& token = read->text.reveal();
    require(status == 200, "only 200 gives a token", text);
    require(!token.empty() && token.size() <= gateway::tokens::max_token, "a token is bounded", text);
    require(std::ranges::all_of(token, [](char c) { return c > 0x20 && c < 0x7F; }), "a token is visible ASCII", text);
    require(
        read->life >= std::chrono::seconds{1} && read->life <= gateway::tokens::longest_life,
        "a life is bounded",
        text
    );
    const auto renewal = gateway::tokens::renewal_after(read->life);
    require(renewal >= read->life / 2 && renewal < read->life, "a token is renewed within its life", text);
    return 0;
}
