// How the gateway takes part in traces: tells the workers, and has what they say of their requests sent to a collector. On the
// control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/model/span.hpp"
#include "gateway/threads/drain_wait.hpp"
#include "gateway/wiring/trace_exporter.hpp"
#include "gateway/worker/worker.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/loop.hpp"

#include <memory>
#include <vector>

namespace gateway::wiring {

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
