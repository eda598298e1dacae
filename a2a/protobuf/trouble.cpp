#include "a2a/protobuf/trouble.hpp"

#include "core/utf8.hpp"

#include <string>

namespace a2a::protobuf {

bool trouble::refuse(std::string_view why, int code)
{
    if (!any_) {
        any_ = true;
        found_.code = from_agent_ ? rpc_code::invalid_agent_response : code;
        found_.why = why;
    }
    return false;
}

bool trouble::within(std::string_view member)
{
    const bool joined = found_.member.empty() || found_.member.starts_with('[');
    found_.member.insert(0, joined ? "" : ".").insert(0, member);
    return false;
}

bool trouble::within(std::string_view member, std::size_t position)
{
    const bool joined = found_.member.empty() || found_.member.starts_with('[');
    found_.member.insert(0, joined ? "]" : "].").insert(0, std::to_string(position)).insert(0, "[").insert(0, member);
    return false;
}

bool trouble::within_key(std::string_view key)
{
    return within(core::cut_utf8(key, longest_key));
}

refusal trouble::take()
{
    found_.member.resize(core::cut_utf8(found_.member, longest_path).size());
    return std::move(found_);
}

}  // namespace a2a::protobuf
