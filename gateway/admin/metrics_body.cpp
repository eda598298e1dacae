#include "gateway/admin/metrics_body.hpp"

#include <string_view>
#include <utility>

namespace gateway::admin {

metrics_body::metrics_body(
    std::unique_ptr<metrics_feed> page,
    std::unique_ptr<telemetry::gzip_stream> gzip,
    threads::turns& by
)
    : page_{std::move(page)},
      gzip_{std::move(gzip)},
      turns_{by}
{
}

net::task<std::string> metrics_body::next()
{
    if (gzip_ == nullptr) {
        co_return co_await page_->next();
    }
    std::string out;
    while (!ended_ && out.size() < metrics_feed::piece) {
        if (taken_ == text_.size()) {
            text_ = co_await page_->next();
            taken_ = 0;
        }
        if (text_.empty()) {
            gzip_->finish(out);
            ended_ = true;
            break;
        }
        if (turns_.over()) {
            co_await turns_.wait();
        }
        const auto some = std::string_view{text_}.substr(taken_, step);
        gzip_->add(some, out);
        taken_ += some.size();
    }
    co_return out;
}

}  // namespace gateway::admin
