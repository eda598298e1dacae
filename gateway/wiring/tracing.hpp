// How the gateway takes part in traces: tells the workers, and has what they say of their requests sent to a collector. On the
// control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/span.hpp"
#include "gateway/telemetry/span_text.hpp"
#include "gateway/threads/drain_wait.hpp"
#include "gateway/worker/worker.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/types.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::wiring {

// The end of a batch, or of a part of it; also a metric label.
enum class span_end : std::uint8_t {
    exported,
    dropped,  // before it was sent: there were too many
    refused,  // the collector does not want it
    failed,   // the collector could not be reached, or took nothing, as often as that was tried
};
inline constexpr std::size_t span_ends = 4;

std::string_view name(span_end e) noexcept;

struct export_verdict {
    std::optional<span_end> end;  // nullopt: it may be sent again
    std::uint64_t refused = 0;    // of an exported batch, the spans that the collector did not take
    core::duration patience{};    // before it is sent again; 0: the collector does not say
    std::string why{};            // it did not end well; empty: it did
};

// The meaning of a collector's answer to a batch of spans (OTLP/HTTP, https://opentelemetry.io/docs/specs/otlp/). Pure.
export_verdict judge_export(const core::result<net::fetch_response>& answer);

inline constexpr unsigned most_exports = 5;  // of one batch
inline constexpr std::chrono::seconds first_export_pause{1};
inline constexpr std::chrono::seconds longest_export_pause{30};

// Before attempt `attempts` + 1: twice the pause before, less up to half at random (`random` from [0, 1)), and no less than the
// collector asks for; never over longest_export_pause.
core::duration export_pause(unsigned attempts, core::duration patience, double random) noexcept;

// The URL where a collector at this address takes spans.
std::string export_url(std::string_view endpoint);

// The references outlive the exporter, the fetcher only until stop().
struct export_services {
    net::fetcher& fetcher;
    net::executor where;
    const core::logger& log;
    std::function<core::steady_time()> now;
    std::function<double()> random;  // from [0, 1)
};

// Sends spans to a collector over OTLP/HTTP in JSON, one batch after the other: again if the collector is there later, and the spans that
// it does not take are counted. On the control loop's thread.
class trace_exporter final : public net::timed {
public:
    // How each span has ended, by span_end.
    using end_counts = std::array<std::uint64_t, span_ends>;

    // `by` calls on_sweep(), until the exporter is destroyed.
    trace_exporter(net::deadlines& by, export_services services);

    // Where batches go from now on, also those that are tried again.
    void set_endpoint(std::string_view endpoint) { url_ = export_url(endpoint); }

    void add(model::span_batch came);

    // From now on each batch goes out at once, and only once.
    void finish();

    // Nothing is left.
    bool idle() const noexcept { return !sending_ && batch_.empty() && queue_.size() == 0; }

    // Nothing is sent any more; what is left has failed.
    void stop();

    // Something is under way that ends soon after stop() and the end of the fetcher.
    bool busy() const noexcept { return sending_; }

    end_counts counts() const noexcept;

    void on_due() override {}
    void on_sweep(core::steady_time now) override { go_on(now); }

private:
    void go_on(core::steady_time now);
    net::task<> send();
    void end_batch(span_end end, std::uint64_t refused);
    void note(const export_verdict& verdict);

    export_services services_;
    std::string url_;
    telemetry::span_queue queue_;
    std::vector<model::span> batch_;  // that is being sent, or sent again later
    std::string text_;                // of batch_
    unsigned attempts_ = 0;           // that it has had
    core::steady_time again_at_{};
    end_counts ended_{};
    bool sending_ = false;
    bool failing_ = false;  // which is in the log
    bool finishing_ = false;
    bool stopped_ = false;
};

class tracing final : public model::plane {
public:
    // References outlive the object.
    tracing(net::loop& control, const std::vector<std::unique_ptr<worker::worker>>& workers, const core::logger& log)
        : control_{control},
          workers_{workers},
          log_{log}
    {
    }

    // Without an endpoint nothing is recorded any more; recorded spans go where they were to go.
    void apply(const config::settings& now, const model::changed_settings& changed) override;

    // Any thread; the loop lives until no thread calls this any more.
    void take(model::span_batch batch);

    // Sends what there is, with what the workers still have, and ends: within two seconds.
    net::task<> finish(threads::drain_wait& waiting);

    // Something is under way that ends soon after finish().
    bool busy() const noexcept override { return exporter_ && exporter_->busy(); }

    void collect(telemetry::metrics& into) const override;

private:
    net::loop& control_;
    const std::vector<std::unique_ptr<worker::worker>>& workers_;
    const core::logger& log_;
    std::unique_ptr<net::curl_fetcher> fetcher_;  // with exporter_: what ends the fetcher of cards comes too early
    std::unique_ptr<trace_exporter> exporter_;    // null: nothing was ever recorded
    std::size_t asked_ = 0;                       // workers that have not handed over yet
};

}  // namespace gateway::wiring
