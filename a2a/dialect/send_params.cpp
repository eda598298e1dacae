#include "a2a/dialect/send_params.hpp"

#include "a2a/dialect/message.hpp"
#include "a2a/dialect/push_config.hpp"

#include <array>
#include <cstdint>

namespace a2a {
namespace {

namespace at {
enum : std::uint8_t { modes, history_length, blocking, return_immediately, push, count };
}

constexpr std::array rows{
    member_row{"acceptedOutputModes", at::modes},
    member_row{"historyLength", at::history_length},
    member_row{"blocking", at::blocking, member_row::in_v03},
    member_row{"returnImmediately", at::return_immediately, member_row::in_v1},
    member_row{"pushNotificationConfig", at::push, member_row::in_types},
    member_row{"pushNotification", at::push, member_row::in_proto},
    member_row{"taskPushNotificationConfig", at::push, member_row::in_v1},
};

using configuration_values = std::array<std::string_view, at::count>;

std::string_view push_name(body_shape shape) noexcept
{
    switch (shape) {
        case body_shape::types:
            return "pushNotificationConfig";
        case body_shape::proto:
            return "pushNotification";
        case body_shape::v1:
            break;
    }
    return "taskPushNotificationConfig";
}

bool check(walk& w, configuration_values& values)
{
    return check_strings(w, "acceptedOutputModes", values[at::modes]) &&
           check_integer(w, "historyLength", values[at::history_length], values[at::history_length]) &&
           check_boolean(w, "blocking", values[at::blocking]) &&
           check_boolean(w, "returnImmediately", values[at::return_immediately]);
}

bool write_members(walk& w, object_writer& to, const configuration_values& values)
{
    to.optional("acceptedOutputModes", values[at::modes]);
    to.optional("historyLength", values[at::history_length]);
    const bool waits = values[at::blocking] != "false" && values[at::return_immediately] != "true";
    if (w.to != body_shape::v1) {
        to.raw("blocking", waits ? "true" : "false");
    } else if (!waits) {
        to.raw("returnImmediately", "true");
    }
    if (values[at::push].empty()) {
        return true;
    }
    to.name(push_name(w.to));
    const walk::step into{w, push_name(w.from)};
    return translate_push_config(w, values[at::push]);
}

bool write_configuration(walk& w, object_writer& to, std::string_view raw, bool& no_history)
{
    const walk::step into{w, "configuration"};
    configuration_values values;
    if (!raw.empty() && (!w.read(raw, rows, values) || !check(w, values))) {
        return false;
    }
    if (w.from == body_shape::proto && !raw.empty() && values[at::blocking].empty()) {
        values[at::blocking] = "false";  // ProtoJSON leaves out what is false
    }
    auto& length = values[at::history_length];
    no_history = asks_no_history(length, w.from) && w.to != body_shape::v1;
    if (length == "0" && (w.from == body_shape::proto || w.to == body_shape::proto)) {
        length = {};
    }
    const auto before = w.out.size();
    auto with_name = to;
    with_name.name("configuration");
    object_writer members{w.out};
    if (!write_members(w, members, values)) {
        return false;
    }
    if (members.empty()) {
        w.out.resize(before);
    } else {
        members.close();
    }
    return true;
}

}  // namespace

bool asks_no_history(std::string_view digits, body_shape shape) noexcept
{
    return digits == "0" && shape != body_shape::proto;
}

bool write_send_members(walk& w, object_writer& to, request_fields& fields, bool& no_history)
{
    const auto message = fields.take(field::message);
    if (message.empty()) {
        return w.fail("message", "is required");
    }
    to.name("message");
    if (w.same_shape()) {
        w.out += message;
        to.optional("configuration", fields.take(field::configuration));
    } else {
        {
            const walk::step into{w, "message"};
            if (!translate_message(w, message)) {
                return false;
            }
        }
        if (!write_configuration(w, to, fields.take(field::configuration), no_history)) {
            return false;
        }
    }
    to.optional("metadata", fields.take(field::metadata));
    return true;
}

}  // namespace a2a
