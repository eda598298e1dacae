// Sends spans to a collector over OTLP/HTTP in JSON, one batch after the other: again if the collector is there later, and what it
// does not take is counted. On the control loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/log.hpp"
#include "gateway/model/span.hpp"
#include "gateway/telemetry/span_queue.hpp"
#include "gateway/wiring/span_export.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/types.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace gateway::wiring {

// What is referred to outlives the exporter, the fetcher only until stop().
struct export_services {
    net::fetcher& fetcher;
    net::executor where;
    const core::logger& log;
    std::function<core::steady_time()> now;
    std::function<double()> random;  // from [0, 1)
};

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

}  // namespace gateway::wiring
