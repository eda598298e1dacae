// Any text as a session id or an event's, and any agent, address, principal and upstream id as one that is sealed, each on a line; the rest
// says where a byte is changed. Nothing that the key has not sealed opens, what it has sealed opens as it was, and only for whom
// it was sealed.
#include "mcp/calls/event_log.hpp"
#include "mcp/calls/session_id.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using tests::require;

namespace {

constexpr core::wall_time now{std::chrono::seconds{1'800'000'000}};

const mcp::session_ids& ids()
{
    static const std::vector<core::secret> keys{core::secret{std::string(32, 'a')}, core::secret{std::string(32, 'b')}};
    // Nonces that differ and can be repeated.
    static const mcp::session_ids sealing{jose::text_sealer{keys, [state = 0U](std::span<unsigned char> bytes) mutable {
                                                                for (auto& byte : bytes) {
                                                                    state = state * 1103515245U + 12345U;
                                                                    byte = static_cast<unsigned char>(state >> 16U);
                                                                }
                                                            }}};
    return sealing;
}

std::string_view take_line(std::string_view& text)
{
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    return line;
}

void check_any(std::string_view text)
{
    const auto opened = ids().open(text, {}, now);
    require(opened.has_error(), "what nobody has sealed does not open", text);
    require(opened.error().code == core::errc::session_not_found, "a session is not found", text);
    const auto input = ids().open_input(text, {}, now);
    require(input.has_error(), "what nobody has sealed does not open", text);
    require(input.error().code == core::errc::input_expired, "an input is expired", text);
    require(mcp::tag_of(mcp::digest_of_session(text)).size() == 8, "a tag has 8 digits", text);
    if (const auto place = mcp::event_position::read(text)) {
        require(place->to_text() == text, "a place has one text", text);
    }
}

void check_key(std::string_view text)
{
    if (const auto key = jose::sealing_key(text)) {
        require(key->reveal().size() == 32, "a key has 32 bytes", text);
    }
}

void check_changed(const std::string& id, const mcp::session_binding& binding, std::string_view place)
{
    std::size_t at = 0;
    for (const char digit : place) {
        at = at * 31 + static_cast<unsigned char>(digit);
    }
    auto changed = id;
    auto& byte = changed[at % changed.size()];
    byte = byte == 'A' ? 'B' : 'A';
    require(ids().open(changed, binding, now).has_error(), "an id that was changed does not open", id, changed);
    changed.resize(at % changed.size());
    require(ids().open(changed, binding, now).has_error(), "an id that was cut does not open", id, changed);
}

void check_sealed(std::string_view text)
{
    const auto agent = take_line(text);
    const auto address = take_line(text);
    const auto provider = take_line(text);
    const auto principal = take_line(text);
    mcp::sealed_session session;
    session.place = std::string{take_line(text)};
    session.version = "2025-11-25";
    session.declared = mcp::client_capabilities{static_cast<std::uint16_t>(text.size() * 31)};
    session.began = now;
    const mcp::session_binding binding{agent, address, provider, principal};
    auto id = ids().seal(session, binding);
    if (!id) {
        session.place = ids().new_handle(static_cast<std::uint16_t>(text.size()));
        id = ids().seal(session, binding);
    }
    require(id.has_value() && id->size() <= 512, "every session has an id", text);
    const auto opened = ids().open(*id, binding, now);
    require(opened.has_value() && *opened == session, "an id holds what was sealed", *id);
    require(ids().open(*id, binding, now + mcp::session_life).has_error(), "an id ends", *id);
    check_changed(*id, binding, text);
    const std::string longer{std::string{agent} + "x"};
    require(ids().open(*id, {longer, address, provider, principal}, now).has_error(), "an id is one agent's", *id);
    require(ids().open(*id, {agent, longer, provider, principal}, now).has_error() || longer == address, "", *id);
    require(
        ids().open(*id, {agent, address, principal, provider}, now).has_value() == (provider == principal),
        "an id is one principal's",
        *id
    );
    const mcp::input_binding caller{agent, address, provider, principal};
    require(ids().open_input(*id, caller, now).has_error(), "a session id is no state", *id);
    const auto handle = ids().new_handle(1);
    const auto state = ids().seal_input(handle, caller, now);
    const auto call = ids().open_input(state, caller, now);
    require(call.has_value() && *call == handle, "a state holds its call", state);
    require(ids().open_input(state, caller, now + mcp::input_life).has_error(), "a state ends", state);
    require(ids().open(state, binding, now).has_error(), "a state is no session id", state);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    check_any(text);
    check_key(text);
    check_sealed(text);
    return 0;
}
