#include "mcp/protocol/http_evidence.hpp"

#include "core/ascii.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/server_facts.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace mcp {
namespace {

constexpr std::int64_t header_mismatch = -32020;
constexpr std::int64_t capability_missing = -32021;
constexpr std::int64_t invalid_request = -32600;
constexpr std::size_t most_versions = 64;
constexpr std::size_t longest_words = 4096;  // of an error's, that are searched

struct named_versions {
    bool modern = false;
    bool legacy = false;
};

named_versions versions_in(std::string_view list)
{
    named_versions named;
    const auto elements = core::scan_elements(list, most_versions);
    if (!elements) {
        return named;
    }
    for (const auto each : elements->raw) {
        const auto speaks = era_of(text_of(each).value_or(std::string{}));
        named.modern = named.modern || speaks == era::modern;
        named.legacy = named.legacy || speaks == era::legacy;
    }
    return named;
}

bool mentions(std::string_view text, std::string_view word)
{
    return !std::ranges::search(text.substr(0, longest_words), word, {}, core::lower).empty();
}

}  // namespace

era era_of_answer(const message& answer)
{
    if (answer.kind == message_kind::result) {
        if (answer.result.size() > longest_handshake) {
            return era::modern;  // whose handshake refuses it, and says why
        }
        return versions_in(members_of(answer.result).find("supportedVersions")).modern ? era::modern : era::legacy;
    }
    const auto code = answer.failure.code;
    if (answer.kind != message_kind::failure || code > header_mismatch || code < unsupported_version) {
        return era::legacy;
    }
    const bool too_long = answer.failure.data.size() > longest_handshake;
    const auto named = too_long ? named_versions{} : versions_in(members_of(answer.failure.data).find("supported"));
    return named.legacy && !named.modern ? era::legacy : era::modern;
}

bool says_modern_only(std::string_view answer)
{
    const auto code = integer_of<std::int64_t>(members_of(members_of(answer).object("error")).find("code"));
    return code == unsupported_version || code == method_not_found || code == header_mismatch ||
           code == capability_missing;
}

std::optional<era> era_of_http_answer(unsigned status, const message* answer)
{
    const bool silent = (status >= 300 && status < 400) || status >= 500 || status == 401 || status == 403 ||
                        status == 408 || status == 425 || status == 429;
    if (silent) {
        return std::nullopt;
    }
    return answer == nullptr ? era::legacy : era_of_answer(*answer);
}

std::optional<era> other_era(const message& answer, era spoken)
{
    if (answer.kind != message_kind::failure || answer.failure.code == internal_error) {
        return std::nullopt;
    }
    const auto& failure = answer.failure;
    if (spoken == era::legacy) {
        return era_of_answer(answer) == era::modern ? std::optional{era::modern} : std::nullopt;
    }
    if (failure.code >= unsupported_version && failure.code <= header_mismatch) {
        return era_of_answer(answer) == era::legacy ? std::optional{era::legacy} : std::nullopt;
    }
    // The SDKs of the legacy era answer so, with codes that the modern one does not use for that.
    constexpr std::array words{"session", "not initialized", "initialization", "protocol version"};
    const bool code = failure.code == -32000 || failure.code == -32001 || failure.code == invalid_request;
    const bool speaks_of_it =
        std::ranges::any_of(words, [&failure](std::string_view word) { return mentions(failure.text, word); });
    return code && speaks_of_it ? std::optional{era::legacy} : std::nullopt;
}

bool says_session_lost(unsigned status, const message* answer) noexcept
{
    const bool failed = answer != nullptr && answer->kind == message_kind::failure;
    if (status != 400 || !failed) {
        const bool knows_session =
            failed && (answer->failure.code == method_not_found || answer->failure.code == invalid_params);
        return status == 404 && !knows_session;
    }
    const auto& failure = answer->failure;
    const bool private_code = failure.code == -32000 || failure.code == -32001;
    return private_code && (mentions(failure.text, "session") || mentions(failure.text, "not initialized"));
}

}  // namespace mcp
