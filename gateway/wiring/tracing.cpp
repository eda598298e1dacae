#include "gateway/wiring/tracing.hpp"

#include "core/json/json.hpp"
#include "core/utf8.hpp"
#include "gateway/model/version.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "gateway/telemetry/span_text.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <utility>

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

constexpr core::duration longest_export{10'000};
constexpr std::uint64_t longest_answer = 64 * 1024;
constexpr std::size_t longest_reason = 200;

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

namespace {

constexpr std::chrono::seconds longest_finish{1
};  // with the 3 s of a program that ignores SIGTERM less than an end may take

double random_share()
{
    thread_local std::minstd_rand numbers{std::random_device{}()};
    return std::uniform_real_distribution<double>{}(numbers);
}

}  // namespace

void tracing::apply(const config::settings& now, const model::changed_settings& changed)
{
    if (!changed.has_any_of("trace.")) {
        return;
    }
    const auto& settings = now.trace;
    const bool joins = !settings.endpoint.empty();
    if (joins && !exporter_) {
        fetcher_ = std::make_unique<net::curl_fetcher>(control_, "cardea/" + std::string{model::version()});
        exporter_ = std::make_unique<trace_exporter>(
            control_.timers(),
            export_services{*fetcher_, control_.get_executor(), log_, std::chrono::steady_clock::now, random_share}
        );
    }
    if (joins) {
        exporter_->set_endpoint(settings.endpoint);
    }
    for (const auto& each : workers_) {
        each->post([plan = request::trace_plan{joins, settings.sample}](worker::worker& on) {
            on.handler().set_trace_plan(plan);
        });
    }
}

void tracing::take(model::span_batch batch)
{
    net::asio::post(control_.get_executor(), [this, taken = std::move(batch)]() mutable {
        if (exporter_) {
            exporter_->add(std::move(taken));
        }
    });
}

net::task<> tracing::finish(threads::drain_wait& waiting)
{
    if (!exporter_) {
        co_return;
    }
    const auto until = std::chrono::steady_clock::now() + longest_finish;
    asked_ = workers_.size();
    for (const auto& each : workers_) {
        // What a worker posts before this comes here before it.
        each->post([this](worker::worker& on) {
            on.hand_over();
            net::asio::post(control_.get_executor(), [this] { --asked_; });
        });
    }
    const std::function<bool()> all_there = [this] { return asked_ == 0; };
    co_await waiting.wait(all_there, until);
    exporter_->finish();
    const std::function<bool()> sent = [this] { return exporter_->idle(); };
    co_await waiting.wait(sent, until);
    exporter_->stop();
    fetcher_.reset();
}

void tracing::collect(telemetry::metrics& into) const
{
    telemetry::family ended{telemetry::metric("cardea_trace_spans_total")};
    if (exporter_) {
        const auto counts = exporter_->counts();
        for (std::size_t i = 0; i < counts.size(); ++i) {
            ended.add({{"outcome", name(static_cast<span_end>(i))}}, counts[i]);
        }
    }
    into.add(std::move(ended));
}

}  // namespace gateway::wiring
