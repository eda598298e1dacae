#include "a2a/protobuf/methods.hpp"

#include <algorithm>

namespace a2a::protobuf {
namespace {

const service_method* found(auto at) noexcept
{
    return at == service_methods().end() ? nullptr : &*at;
}

}  // namespace

const service_method* find_service_method(std::string_view path) noexcept
{
    return found(std::ranges::find(service_methods(), path, &service_method::path));
}

const service_method* service_method_for(operation what, generation of) noexcept
{
    return found(std::ranges::find_if(service_methods(), [what, of](const service_method& each) {
        return each.what == what && each.version == of;
    }));
}

}  // namespace a2a::protobuf
