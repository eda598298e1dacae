#include "gateway/wiring/span_export.hpp"

#include "core/json/json.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace gateway::wiring {
namespace {

constexpr std::string_view traces_path = "/v1/traces";

constexpr auto statuses_to_repeat = std::to_array<unsigned>({429, 502, 503, 504});

// 64-bit numbers are texts in the JSON of protobuf; some write numbers.
std::uint64_t count_of(const core::json& value)
{
    if (value.is_number_unsigned()) {
        return value.get<std::uint64_t>();
    }
    std::uint64_t count = 0;
    if (const auto* text = value.get_ptr<const std::string*>()) {
        std::from_chars(text->data(), text->data() + text->size(), count);
    }
    return count;
}

// An answer that cannot be read says nothing.
void read_partial_success(std::string_view body, export_verdict& verdict)
{
    const auto answer = core::parse_json(body);
    const auto* partial = answer ? core::member(*answer, "partialSuccess") : nullptr;
    const auto* refused = partial != nullptr ? core::member(*partial, "rejectedSpans") : nullptr;
    if (refused == nullptr) {
        return;
    }
    verdict.refused = count_of(*refused);
    if (verdict.refused > 0) {
        verdict.why = "the collector refused a part: " + core::text_member(*partial, "errorMessage");
    }
}

}  // namespace

std::string_view name(span_end e) noexcept
{
    switch (e) {
        case span_end::exported:
            return "exported";
        case span_end::dropped:
            return "dropped";
        case span_end::refused:
            return "refused";
        case span_end::failed:
            return "failed";
    }
    return "failed";
}

export_verdict judge_export(const core::result<net::fetch_response>& answer)
{
    export_verdict verdict;
    if (!answer) {
        verdict.why = std::string{core::name(answer.error().code)};
        if (answer.error().code == core::errc::internal) {
            verdict.end = span_end::failed;  // it cannot be sent at all
        }
        return verdict;
    }
    const auto status = answer->status;
    if (status >= 200 && status < 300) {
        verdict.end = span_end::exported;
        read_partial_success(answer->body, verdict);
        return verdict;
    }
    verdict.why = "status " + std::to_string(status);
    if (std::ranges::find(statuses_to_repeat, status) != statuses_to_repeat.end()) {
        verdict.patience = answer->retry_after();
    } else {
        verdict.end = span_end::refused;
    }
    return verdict;
}

core::duration export_pause(unsigned attempts, core::duration patience, double random) noexcept
{
    constexpr unsigned most_doublings = 8;
    const auto doublings = std::min(attempts > 0 ? attempts - 1 : 0, most_doublings);
    const core::duration longest = longest_export_pause;
    const auto whole = std::min<core::duration>(core::duration{first_export_pause} * (1U << doublings), longest);
    const auto less = core::duration{static_cast<core::duration::rep>(static_cast<double>(whole.count()) * random / 2)};
    return std::min(std::max(whole - less, patience), longest);
}

std::string export_url(std::string_view endpoint)
{
    std::string url{endpoint};
    if (!endpoint.ends_with(traces_path)) {
        url += traces_path;
    }
    return url;
}

}  // namespace gateway::wiring
