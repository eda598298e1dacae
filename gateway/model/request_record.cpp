#include "gateway/model/request_record.hpp"

namespace gateway::model {

std::string_view name(route r) noexcept
{
    switch (r) {
        case route::card:
            return "card";
        case route::call:
            return "call";
        case route::relay:
            return "relay";
        case route::management:
            return "management";
        case route::key_set:
            return "key_set";
        case route::directory:
            return "directory";
        case route::none:
            return "none";
    }
    return "none";
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
        case stream_end::drain:
            return "drain";
    }
    return "upstream";
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

}  // namespace gateway::model
