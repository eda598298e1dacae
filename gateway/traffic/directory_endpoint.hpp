// GET of the documents in which callers find agents. Keeps plain pages for a second.
#pragma once

#include "gateway/model/directory_page.hpp"
#include "gateway/traffic/endpoint.hpp"

#include <array>
#include <memory>

namespace gateway::traffic {

class directory_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    net::routine<> answer(request_context& request);

private:
    // The plain page of a kind, as long as nothing has changed.
    struct kept_page {
        std::shared_ptr<const model::directory_page> page;
        core::steady_time until{};
        std::uint64_t version = 0;  // of the local snapshot
    };

    std::array<kept_page, model::directory_kinds> pages_;
};

}  // namespace gateway::traffic
