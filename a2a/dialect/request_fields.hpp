// The fields of a request, apart from how its dialect writes them: read from the params of JSON-RPC or from path, query and
// body of HTTP+JSON. Internal to a2a/dialect/.
#pragma once

#include "a2a/dialect/rest_target.hpp"
#include "a2a/dialect/walk.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <string>
#include <string_view>
#include <utility>

namespace a2a {

enum class field : std::uint8_t {
    tenant,
    task_id,
    config_id,
    history_length,
    metadata,
    page_size,
    page_token,
    context_id,
    status,
    status_timestamp_after,
    include_artifacts,
    message,
    configuration,
    push_config,  // 0.3: the nested object; 1.0: the flat one, which is the request itself
    count,
};

class request_fields {
public:
    // The params of JSON-RPC, or nothing (empty). Names are those of the operation in the shape that `w` reads.
    bool read_params(walk& w, operation what, std::string_view params);

    // Path, query and body of HTTP+JSON; `body` is empty if there is none.
    bool read_rest(walk& w, const rest_target& target, std::string_view body);

    // Raw JSON; empty: absent. What is never taken is lost: lose_rest().
    std::string_view take(field f) noexcept;
    std::string_view peek(field f) const noexcept { return values_[static_cast<std::size_t>(f)]; }
    void set(field f, std::string raw) { values_[static_cast<std::size_t>(f)] = room_.emplace_front(std::move(raw)); }
    void drop(field f) noexcept { values_[static_cast<std::size_t>(f)] = {}; }

    void lose_rest(walk& w) const noexcept;

    // How the caller's dialect calls the member.
    static std::string_view name_of(field f, operation what, body_shape shape) noexcept;

private:
    bool check(walk& w, operation what);
    bool read_query(walk& w, operation what, std::string_view query);
    bool read_query_member(walk& w, operation what, std::string_view name, std::string_view value);
    bool read_proto_push(walk& w, std::string_view body);
    void set_text(field f, std::string_view text);

    std::array<std::string_view, static_cast<std::size_t>(field::count)> values_;
    std::forward_list<std::string> room_;  // of values that stand in no JSON: from path and query
};

// Writes `message`, `configuration` and `metadata` of a request to send a message (types.ts of 0.3.0 `MessageSendConfiguration`,
// a2a.proto of 0.3.0 and 1.0.1 `SendMessageConfiguration`). `no_history` becomes true if the caller asked for a history of length 0 and
// the agent cannot be asked for none. False: `w` knows why.
//
// 0.3 says `blocking`, 1.0 the opposite, `returnImmediately`. Without either the call waits. 0.3 is always told, because its servers
// disagree on the default.
bool write_send_members(walk& w, core::json_writer& to, request_fields& fields, bool& no_history);

}  // namespace a2a
