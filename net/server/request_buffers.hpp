// Memory that a caller's connection needs only while it has a request: the parser with its fields, and texts. Borrowed from a pool
// of its loop, so that an idle connection does without, and a busy one has memory that was used a moment ago. One thread.
#pragma once

#include "net/http1/chunked.hpp"
#include "net/http1/head.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace net {

struct request_buffers {
    explicit request_buffers(http1::head_limits limits)
        : parser{limits}
    {
    }

    http1::request_parser parser;
    http1::chunked_decoder decoder;
    std::string head_text;  // of a stream of HTTP/2
    std::string scratch;
    std::string request_scratch;
    std::string answer_fields;
};

// Outlives what it has lent.
class request_buffer_pool {
public:
    explicit request_buffer_pool(http1::head_limits limits)
        : limits_{limits}
    {
        spare_.reserve(kept);
    }
    request_buffer_pool(const request_buffer_pool&) = delete;
    request_buffer_pool& operator=(const request_buffer_pool&) = delete;

    struct give_back {
        request_buffer_pool* to = nullptr;
        void operator()(request_buffers* space) const noexcept
        {
            to->take_back(std::unique_ptr<request_buffers>{space});
        }
    };
    using lent = std::unique_ptr<request_buffers, give_back>;

    // The buffers are as their last user left them.
    lent lend()
    {
        if (spare_.empty()) {
            return lent{std::make_unique<request_buffers>(limits_).release(), give_back{this}};
        }
        lent last{spare_.back().release(), give_back{this}};
        spare_.pop_back();
        return last;
    }

private:
    static constexpr std::size_t kept = 256;
    static constexpr std::size_t usual_text = 4096;

    void take_back(std::unique_ptr<request_buffers> space) noexcept
    {
        if (spare_.size() == kept) {
            return;
        }
        for (auto* const text : {&space->head_text, &space->scratch, &space->request_scratch, &space->answer_fields}) {
            if (text->capacity() > usual_text) {
                std::string{}.swap(*text);
            }
        }
        spare_.push_back(std::move(space));
    }

    http1::head_limits limits_;
    std::vector<std::unique_ptr<request_buffers>> spare_;
};

}  // namespace net
