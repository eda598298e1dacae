#include "gateway/wiring/trace_exporter.hpp"

#include "core/utf8.hpp"
#include "gateway/model/version.hpp"
#include "gateway/telemetry/span_text.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace gateway::wiring {
namespace {

constexpr core::duration longest_export{10'000};
constexpr std::uint64_t longest_answer = 64 * 1024;
constexpr std::size_t longest_reason = 200;

}  // namespace

trace_exporter::trace_exporter(net::deadlines& by, export_services services)
    : services_{std::move(services)}
{
    by.add(*this);
}

void trace_exporter::add(model::span_batch came)
{
    const auto now = services_.now();
    queue_.add(std::move(came), now);
    go_on(now);
}

void trace_exporter::go_on(core::steady_time now)
{
    if (sending_ || stopped_) {
        return;
    }
    if (batch_.empty()) {
        if (!queue_.due(now) && (!finishing_ || queue_.size() == 0)) {
            return;
        }
        batch_ = queue_.take();
        text_ = telemetry::otlp_text(batch_, model::version());
        attempts_ = 0;
    } else if (now < again_at_ && !finishing_) {
        return;
    }
    sending_ = true;
    net::asio::co_spawn(services_.where, send(), [this](const std::exception_ptr& bug) {
        sending_ = false;
        if (bug) {
            end_batch(span_end::failed, 0);
            net::log_thrown(bug, services_.log, "traces");
        }
        go_on(services_.now());
    });
}

net::task<> trace_exporter::send()
{
    net::fetch_request request;
    request.url = url_;
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = text_;
    request.max_size = longest_answer;
    request.timeout = longest_export;
    ++attempts_;
    const auto answer = co_await services_.fetcher.fetch(std::move(request));
    if (stopped_) {
        co_return;
    }
    auto verdict = judge_export(answer);
    if (!verdict.end && (attempts_ >= most_exports || finishing_)) {
        verdict.end = span_end::failed;
    }
    note(verdict);
    if (verdict.end) {
        end_batch(*verdict.end, verdict.refused);
    } else {
        again_at_ = services_.now() + export_pause(attempts_, verdict.patience, services_.random());
    }
}

void trace_exporter::end_batch(span_end end, std::uint64_t refused)
{
    const auto size = std::uint64_t{batch_.size()};
    const auto lost = std::min(refused, size);
    ended_[static_cast<std::size_t>(end)] += size - lost;
    ended_[static_cast<std::size_t>(span_end::refused)] += lost;
    batch_.clear();
    text_.clear();
}

// The first failure, and the first success after it.
void trace_exporter::note(const export_verdict& verdict)
{
    const bool fails = !verdict.why.empty();
    if (std::exchange(failing_, fails) == fails) {
        return;
    }
    if (fails) {
        const auto reason = core::cut_utf8(verdict.why, longest_reason);
        services_.log.write(core::log_level::warn, "trace_export_failed", {{"reason", reason}});
    } else {
        services_.log.write(core::log_level::info, "trace_export_recovered", {});
    }
}

void trace_exporter::finish()
{
    finishing_ = true;
    go_on(services_.now());
}

void trace_exporter::stop()
{
    if (std::exchange(stopped_, true)) {
        return;
    }
    end_batch(span_end::failed, 0);
    while (queue_.size() > 0) {
        batch_ = queue_.take();
        end_batch(span_end::failed, 0);
    }
}

trace_exporter::end_counts trace_exporter::counts() const noexcept
{
    auto all = ended_;
    all[static_cast<std::size_t>(span_end::dropped)] += queue_.dropped();
    return all;
}

}  // namespace gateway::wiring
