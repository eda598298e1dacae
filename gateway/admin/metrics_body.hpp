// The metrics page as it is sent: as it is, or as one member of gzip. On the control loop's thread.
#pragma once

#include "gateway/admin/metrics_feed.hpp"
#include "gateway/telemetry/gzip_stream.hpp"
#include "gateway/threads/turns.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace gateway::admin {

class metrics_body {
public:
    // Text that is compressed between two looks at the time: less than a millisecond's work.
    static constexpr std::size_t step = 16 * 1024;

    // Null `gzip`: as it is. `by` outlives the body.
    metrics_body(std::unique_ptr<metrics_feed> page, std::unique_ptr<telemetry::gzip_stream> gzip, threads::turns& by);

    bool compressed() const noexcept { return gzip_ != nullptr; }

    // The next piece; empty: that was all.
    net::task<std::string> next();

private:
    std::unique_ptr<metrics_feed> page_;
    std::unique_ptr<telemetry::gzip_stream> gzip_;
    threads::turns& turns_;
    std::string text_;       // of the page
    std::size_t taken_ = 0;  // of that, compressed
    bool ended_ = false;
};

}  // namespace gateway::admin
