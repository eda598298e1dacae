// Reads what a server sends, message by message, and rejects what is malformed. On the control loop's thread.
#pragma once

#include "mcp/protocol/read_text.hpp"
#include "mcp/protocol/refused_message.hpp"
#include "mcp/session/connection.hpp"
#include "mcp/session/operator_notes.hpp"
#include "mcp/session/requests.hpp"
#include "mcp/session/runner.hpp"
#include "mcp/session/session_host.hpp"

#include <optional>
#include <vector>

namespace mcp {

class intake_observer {
public:
    virtual ~intake_observer() = default;

    // `page`: of a result that was read elsewhere; else null.
    virtual void heard(connection& from, const message& said, list_page* page) = 0;

    // The answer to this request is malformed. `says` as transport_observer::failed().
    virtual void unusable(connection& from, std::uint64_t request, const core::error& why, std::optional<era> says) = 0;
};

class message_intake {
public:
    // References outlive it.
    message_intake(
        session_host& host,
        const runner_settings& settings,
        const requests& open,
        const operator_notes& notes,
        intake_observer& observer
    );

    void take(connection& from, std::string_view text);

    // The same of one that was read elsewhere.
    void take(connection& from, const read_part& message) { take(from, message.text, message.read, &message); }

    // As transport_observer::refused().
    void take_too_long(connection& from, std::string_view beginning, std::size_t limit);

private:
    // A malformed message or answer.
    struct refused_text {
        std::vector<addressee> whom;  // not empty
        core::error why;
        std::size_t size;
        std::optional<std::size_t> limit;  // it was over this one
        bool first;                        // of its kind on this connection
    };

    // `known`: null: it was read here.
    void take(connection& from, std::string_view text, const core::result<message>& read, const read_part* known);
    void take_unnamed(connection& from, std::string_view text, const message& said);
    bool is_of_caller(const message& said, const read_part* known) const;
    bool is_ambiguous(const addressee& whom) const;
    std::optional<std::uint64_t> request_of(const connection& from, const addressee& whom) const;

    // False: no request of the session waits for it.
    bool refuse(connection& from, const refused_text& text);

    session_host& host_;
    const runner_settings& settings_;
    const requests& requests_;
    const operator_notes& notes_;
    intake_observer& observer_;
};

}  // namespace mcp
