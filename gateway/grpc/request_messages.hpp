// The messages of a request, checked as its body comes, whoever keeps the bytes. Pure; one thread.
#pragma once

#include "core/error.hpp"
#include "net/grpc/messages.hpp"

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

namespace gateway::grpc {

class request_messages {
public:
    // Fails with what the caller gets.
    using reader = std::function<core::result<>(std::string_view part)>;

    // `limit`: bytes of a message. `one`: a request has exactly one.
    request_messages(std::uint64_t limit, bool one)
        : reader_{limit},
          one_{one}
    {
    }

    // Called from now on with each part of a message, without its prefix.
    void show(reader each) { each_ = std::move(each); }

    // The next bytes of the body, and whether they are the last. Fails with body_too_large, by the prefix of a message, bad_request, and as
    // the reader does.
    core::result<> add(std::string_view bytes, bool last)
    {
        using enum net::grpc::message_reader::fault;
        while (!bytes.empty()) {
            if (one_ && reader_.count() > 0) {
                return core::caller_error(core::errc::bad_request, "more than one message");
            }
            const auto part = reader_.next(bytes);
            if (reader_.problem() != none) {
                const bool large = reader_.problem() == too_large;
                const auto code = large ? core::errc::body_too_large : core::errc::bad_request;
                return core::caller_error(code, "the prefix of a message");
            }
            if (each_ && !part.data.empty()) {
                if (auto good = each_(part.data); !good) {
                    return good;
                }
            }
        }
        const bool ends = reader_.between_messages() && (!one_ || reader_.count() == 1);
        return !last || ends ? core::result<>{} : core::caller_error(core::errc::bad_request, "ends within a message");
    }

    // Both are about the message that came last.
    std::uint64_t size() const noexcept { return reader_.size(); }
    bool compressed() const noexcept { return reader_.compressed(); }

private:
    net::grpc::message_reader reader_;
    reader each_;
    bool one_;
};

}  // namespace gateway::grpc
