#include "gateway/forwarding.hpp"

#include "net/http1/head_writer.hpp"

namespace gateway {
namespace {

using net::http1::field_name;

bool stays_with_request(field_name id)
{
    switch (id) {
        case field_name::host:
        case field_name::authorization:
        case field_name::cookie:
        case field_name::expect:
        case field_name::forwarded:
        case field_name::x_forwarded:
        case field_name::cardea:
        case field_name::via:
            return true;
        default:
            return net::http1::hop_by_hop(id);
    }
}

// A cookie of one agent would be sent to all agents of the gateway, if it sent any.
bool stays_with_answer(field_name id)
{
    return id == field_name::cardea || id == field_name::set_cookie || net::http1::hop_by_hop(id);
}

}  // namespace

void write_request_fields(
    std::string& text,
    const net::http1::request_head& head,
    net::http1::framing body,
    std::uint64_t body_size,
    const forwarding_hop& hop
)
{
    net::http1::head_writer out{text};
    const bool nominates = net::http1::find(head.fields, field_name::connection) != nullptr;
    for (const auto& field : head.fields) {
        if (stays_with_request(field.id) || field.name.find('_') != std::string_view::npos ||
            (nominates && net::http1::named_by_connection(head.fields, field.name))) {
            continue;
        }
        out.field(field.name, field.value);
    }
    write_forwarding_fields(text, head.fields, hop);
    if (body == net::http1::framing::length) {
        out.field("Content-Length", body_size);
    } else if (body == net::http1::framing::chunked) {
        out.field("Transfer-Encoding", "chunked");
    }
    out.end();
}

void write_answer_fields(std::string& text, const net::http1::response_head& head)
{
    text.clear();
    net::http1::head_writer out{text};
    out.status_line(head.status);
    const bool nominates = net::http1::find(head.fields, field_name::connection) != nullptr;
    for (const auto& field : head.fields) {
        if (stays_with_answer(field.id) || (nominates && net::http1::named_by_connection(head.fields, field.name))) {
            continue;
        }
        out.field(field.name, field.value);
    }
}

}  // namespace gateway
