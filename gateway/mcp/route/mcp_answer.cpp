#include "gateway/mcp/route/mcp_answer.hpp"

#include "core/ascii.hpp"
#include "gateway/access/server_metadata.hpp"
#include "gateway/relay/answer_body.hpp"
#include "mcp/transport/http_wire.hpp"
#include "net/http1/head_writer.hpp"

namespace gateway::mcp::route {

using core::errc;

namespace {

// RFC 9728 section 5.1; the server's own `error` and `scope` say what its caller has to ask for (MCP 2025-11-25, basic/authorization).
std::string challenge_of(const net::http1::response_head& head, const std::string& metadata)
{
    auto line = "WWW-Authenticate: Bearer resource_metadata=\"" + metadata + '"';
    for (const auto* const name : {"error", "scope"}) {
        for (const auto& field : head.fields) {
            const bool challenges = core::equal_ignoring_case(field.name, "WWW-Authenticate");
            const auto value = challenges ? access::challenge_parameter(field.value, name) : std::string_view{};
            if (!value.empty()) {
                line.append(", ").append(name).append("=\"").append(value) += '"';
                break;
            }
        }
    }
    return line + "\r\n";
}

}  // namespace

void mcp_answer::expect_begin(
    ::mcp::sealed_session begins,
    ::mcp::session_binding binding,
    std::shared_ptr<const ::mcp::session_ids> ids,
    model::client_sessions& kept,
    const ::mcp::upstream_session& from
)
{
    kept_ = &kept;
    from_ = &from;
    begins_ = std::move(begins);
    binding_ = binding;
    ids_ = std::move(ids);
}

::mcp::event_gate& mcp_answer::expect_events(::mcp::event_gate::terms of)
{
    if (ids_) {
        of.declared = begins_.declared;
    }
    return gate_.emplace(of);
}

std::string mcp_answer::begin_here(::mcp::local_handle place)
{
    place.replica = ids_->replica();
    begins_.place = place;
    sealed_ = ids_->seal(begins_, binding_).value_or("");
    return sealed_;
}

core::result<> mcp_answer::accept(const net::http1::response_head& head)
{
    // Unless callers log in, the credential is the operator's: the caller cannot do anything about it.
    const bool asks_who = head.status == 401 || head.status == 403;
    if (asks_who && !metadata_.empty()) {
        challenge_ = challenge_of(head, metadata_);
    }
    if (asks_who || (called_ && head.status >= 500)) {
        return core::upstream_error(errc::upstream_status, "status " + std::to_string(head.status));
    }
    if (head.status == 404 && in_session_) {
        return core::upstream_error(errc::session_not_found, "the server has lost the session");
    }
    const bool streams = relay::is_event_stream(head);
    const auto* caching = net::http1::find(head.fields, "Cache-Control");
    lacks_no_buffering_ = streams && net::http1::find(head.fields, "X-Accel-Buffering") == nullptr;
    lacks_no_transform_ = streams && (caching == nullptr || caching->find("no-transform") == std::string_view::npos);
    const auto* id = net::http1::find(head.fields, "Mcp-Session-Id");
    if (!ids_ || id == nullptr || head.status >= 300) {
        return {};
    }
    if (!::mcp::is_session_id(*id) || !seal(std::string{*id})) {
        return core::upstream_error(errc::upstream_protocol, "a session id that is too long or not visible ASCII");
    }
    return {};
}

// An id that is too long stays here, behind a handle that fits; so do cookies, behind a mark.
bool mcp_answer::seal(const std::string& id)
{
    bool fits = id.size() <= ::mcp::longest_upstream_id;
    if (fits) {
        begins_.place = id;
    } else {
        begins_.place = ids_->new_handle(0);
    }
    if (fits && !from_->cookies.empty()) {
        begins_.cookies = from_->cookies.to_text();
    }
    auto sealed = ids_->seal(begins_, binding_);
    if (!sealed && begins_.cookies) {
        fits = false;
        begins_.cookies = "";
        if (ids_->replica() != 0) {  // other replicas find who has them
            begins_.place = ids_->new_handle(0);
        }
        sealed = ids_->seal(begins_, binding_);
    }
    if (!sealed) {
        return false;
    }
    sealed_ = std::move(*sealed);
    if (!fits) {
        kept_->keep(std::string{binding_.agent}, ::mcp::digest_of_session(sealed_), {id, from_->cookies});
    }
    return true;
}

bool mcp_answer::replaces(const net::http1::response_head& head) const
{
    const bool has_ended = head.status >= 200 && head.status < 300;
    return ends_ && (has_ended || head.status == 404 || head.status == 405);
}

void mcp_answer::add_fields(std::string& fields) const
{
    net::http1::head_writer out{fields};
    if (!sealed_.empty()) {
        out.field("Mcp-Session-Id", sealed_);
    }
    if (lacks_no_buffering_) {
        out.field("X-Accel-Buffering", "no");
    }
    if (lacks_no_transform_) {
        out.field("Cache-Control", "no-transform");
    }
}

}  // namespace gateway::mcp::route
