#include "gateway/model/request_record.hpp"

namespace gateway::model {

std::string_view name(route r) noexcept
{
    switch (r) {
        case route::card:
            return "card";
        case route::call:
            return "call";
        case route::mcp:
            return "mcp";
        case route::bundle:
            return "bundle";
        case route::relay:
            return "relay";
        case route::push:
            return "push";
        case route::management:
            return "management";
        case route::registration:
            return "registration";
        case route::key_set:
            return "key_set";
        case route::resource_metadata:
            return "resource_metadata";
        case route::directory:
            return "directory";
        case route::index:
            return "index";
        case route::none:
            return "none";
    }
    return "none";
}

stream_end end_of_stream(const core::error& why) noexcept
{
    if (why.code == core::errc::agent_contained || why.code == core::errc::principal_contained) {
        return stream_end::contained;
    }
    if (why.from == core::side::caller) {
        return stream_end::caller;
    }
    if (why.code == core::errc::draining) {
        return stream_end::drain;
    }
    return why.code == core::errc::upstream_timeout ? stream_end::idle : stream_end::upstream;
}

std::string_view name(stream_end e) noexcept
{
    switch (e) {
        case stream_end::complete:
            return "complete";
        case stream_end::caller:
            return "caller";
        case stream_end::upstream:
            return "upstream";
        case stream_end::idle:
            return "idle";
        case stream_end::contained:
            return "contained";
        case stream_end::drain:
            return "drain";
    }
    return "upstream";
}

std::string_view name(retry_reason r) noexcept
{
    switch (r) {
        case retry_reason::unconnected:
            return "unconnected";
        case retry_reason::unacknowledged:
            return "unacknowledged";
        case retry_reason::unanswered:
            return "unanswered";
    }
    return "unanswered";
}

std::string_view name(card_use u) noexcept
{
    switch (u) {
        case card_use::hit:
            return "hit";
        case card_use::stale:
            return "stale";
        case card_use::miss:
            return "miss";
        case card_use::negative:
            return "negative";
    }
    return "miss";
}

std::string_view name(access_outcome o) noexcept
{
    switch (o) {
        case access_outcome::accepted:
            return "accepted";
        case access_outcome::anonymous:
            return "anonymous";
        case access_outcome::refused:
            return "refused";
        case access_outcome::ambiguous:
            return "ambiguous";
        case access_outcome::limited:
            return "limited";
        case access_outcome::unavailable:
            return "unavailable";
    }
    return "refused";
}

std::string_view name(rate_limit l) noexcept
{
    switch (l) {
        case rate_limit::principal:
            return "principal";
        case rate_limit::agent:
            return "agent";
        case rate_limit::address:
            return "address";
    }
    return "address";
}

std::string_view name(forwarding f) noexcept
{
    switch (f) {
        case forwarding::answered:
            return "answered";
        case forwarding::failed:
            return "failed";
        case forwarding::unreachable:
            return "unreachable";
        case forwarding::gone:
            return "gone";
        case forwarding::no_url:
            return "no_url";
        case forwarding::certificate:
            return "certificate";
        case forwarding::again:
            return "again";
    }
    return "failed";
}

std::string_view name(denial d) noexcept
{
    switch (d) {
        case denial::unauthenticated:
            return "unauthenticated";
        case denial::refused:
            return "refused";
        case denial::ambiguous:
            return "ambiguous";
        case denial::limited:
            return "limited";
        case denial::unavailable:
            return "unavailable";
        case denial::hidden:
            return "hidden";
        case denial::forbidden:
            return "forbidden";
        case denial::task:
            return "task";
        case denial::contained:
            return "contained";
    }
    return "forbidden";
}

unsigned counted_status(const request_record& of) noexcept
{
    return of.grpc_status ? core::http_status(*of.grpc_status) : of.status;
}

}  // namespace gateway::model
