#include "mcp/calls/session_id.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("mcp/calls/session_id");

using namespace std::chrono_literals;

namespace {

constexpr core::wall_time now{std::chrono::seconds{1'800'000'000}};
constexpr mcp::session_binding binding{"files", "https://mcp.example/x", "idp", "ada"};

mcp::session_ids ids(char fill = 'k', std::uint64_t replica = 0)
{
    const std::vector<core::secret> keys{core::secret{std::string(32, fill)}};
    return mcp::session_ids{jose::text_sealer{keys}, /*alone=*/false, replica};
}

mcp::sealed_session session(std::string upstream = "f50916d2-0d5b")
{
    mcp::sealed_session sealed;
    sealed.place = std::move(upstream);
    sealed.version = "2025-06-18";
    sealed.declared.add(mcp::client_capability::sampling);
    sealed.declared.add(mcp::client_capability::tasks_elicitation);
    sealed.began = now;
    return sealed;
}

core::errc refused(const core::result<mcp::sealed_session>& opened)
{
    REQUIRE(opened.has_error());
    return opened.error().code;
}

}  // namespace

TEST_CASE("a session id holds what it was sealed with")
{
    const auto seals = ids();
    const auto id = seals.seal(session(), binding);
    REQUIRE(id);
    CHECK(*seals.open(*id, binding, now) == session());
    auto local = session();
    local.place = seals.new_handle(7);
    local.version = "2024-11-05";
    const auto other = seals.seal(local, binding);
    REQUIRE(other);
    const auto opened = seals.open(*other, binding, now);
    REQUIRE(opened.has_value());
    CHECK(*opened == local);
    CHECK(std::get<mcp::local_handle>(opened->place).worker == 7);
}

TEST_CASE("A session id holds what else a client has declared, for as long as there is room for it")
{
    const auto seals = ids();
    constexpr std::size_t room = 355 - 17;  // of the capabilities and the server's id
    for (const bool here : {false, true}) {
        for (const int over : {-1, 0, 1}) {
            CAPTURE(over);
            auto declares = session(std::string(36, 'u'));
            if (here) {
                declares.place = seals.new_handle(7);
            }
            declares.further.assign(static_cast<std::size_t>(static_cast<int>(room - (here ? 18 : 36)) + over), 'f');
            const auto id = seals.seal(declares, binding);
            REQUIRE(id);
            CHECK(id->size() <= 512);
            const auto opened = seals.open(*id, binding, now);
            REQUIRE(opened.has_value());
            CHECK(opened->further == (over > 0 ? std::string{} : declares.further));
            CHECK(opened->place == declares.place);
            CHECK(opened->declared == declares.declared);
        }
    }
}

TEST_CASE("A session id holds cookies of its server, for as long as there is room for them")
{
    const auto seals = ids();
    constexpr std::size_t room = 355 - 17 - 36;  // of cookies, beside a server's id of 36 bytes
    for (const int over : {-1, 0, 1}) {
        CAPTURE(over);
        auto pinned = session(std::string(36, 'u'));
        pinned.cookies = std::string(static_cast<std::size_t>(static_cast<int>(room) + over), 'c');
        const auto id = seals.seal(pinned, binding);
        REQUIRE(id.has_value() == (over <= 0));
        if (id) {
            CHECK(id->size() <= 512);
            CHECK(*seals.open(*id, binding, now) == pinned);
        }
    }
    auto both = session();
    both.cookies = "\t\ta=b\n";
    both.further = R"({"x":1})";
    CHECK(*seals.open(*seals.seal(both, binding), binding, now) == both);
    both.cookies = "";  // they are kept elsewhere
    CHECK(*seals.open(*seals.seal(both, binding), binding, now) == both);
    both.cookies = std::string(70'000, 'c');
    CHECK_FALSE(seals.seal(both, binding));
}

TEST_CASE("an id of the longest upstream id is visible ASCII of at most 512 bytes")
{
    const auto seals = ids();
    const auto id = seals.seal(session(std::string(200, '~')), binding);
    REQUIRE(id);
    CHECK(id->size() <= 512);
    CHECK(std::ranges::all_of(*id, [](char c) { return c > ' ' && c < '\x7F'; }));
    CHECK(seals.seal(session(std::string(199, '!')), binding));
    CHECK(!seals.seal(session(std::string(201, '!')), binding));
}

TEST_CASE("an upstream id that no header field may hold is not sealed")
{
    const auto seals = ids();
    for (const std::string& upstream :
         {std::string{},
          std::string{"a b"},
          std::string{" "},
          std::string{"\x7F"},
          std::string{"a\n"},
          std::string{"\xC3\xA9"},
          std::string("a\0b", 3)}) {
        CAPTURE(upstream);
        CHECK(!seals.seal(session(upstream), binding));
    }
    auto modern = session();
    modern.version = "2026-07-28";
    CHECK(!seals.seal(modern, binding));
}

TEST_CASE("an id of another agent, address or principal is not found")
{
    const auto seals = ids();
    const auto id = *seals.seal(session(), binding);
    for (const auto& other : std::vector<mcp::session_binding>{
             {"file", "https://mcp.example/x", "idp", "ada"},
             {"files", "https://mcp.example/", "idp", "ada"},
             {"files", "https://mcp.example/x", "idp", "bob"},
             {"files", "https://mcp.example/x", "other", "ada"},
             {"files", "https://mcp.example/x", "", ""},
             {"files", "https://mcp.example/xi", "dp", "ada"},
         }) {
        CAPTURE(other.principal);
        CHECK(refused(seals.open(id, other, now)) == core::errc::session_not_found);
    }
}

TEST_CASE("an id that is forged, changed, cut or of another key is not found, all alike")
{
    const auto seals = ids();
    const auto id = *seals.seal(session(), binding);
    CHECK(refused(ids('x').open(id, binding, now)) == core::errc::session_not_found);
    const auto detail = seals.open("", binding, now).error().detail;
    for (std::size_t i = 0; i < id.size(); ++i) {
        auto changed = id;
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        for (const auto& forged : {changed, id.substr(0, i), id.substr(i + 1)}) {
            const auto opened = seals.open(forged, binding, now);
            CHECK(refused(opened) == core::errc::session_not_found);
            CHECK(opened.error().detail == detail);
        }
    }
}

TEST_CASE("an id is good for 24 h")
{
    const auto seals = ids();
    const auto id = *seals.seal(session(), binding);
    CHECK(seals.open(id, binding, now + 24h - 1ns).has_value());
    CHECK(refused(seals.open(id, binding, now + 24h)) == core::errc::session_not_found);
    CHECK(refused(seals.open(id, binding, now + 24h + 1ns)) == core::errc::session_not_found);
    CHECK(seals.open(id, binding, now - 1h).has_value());
}

TEST_CASE("logs show 8 digits of an id's hash")
{
    CHECK(mcp::tag_of(mcp::digest_of_session("abc")) == "ba7816bf");
}

TEST_CASE("A handle names the replica whose process it is of, in session ids and in states of calls")
{
    const auto one = ids('k', 0x8000'0000'0000'0001);
    const auto two = ids('k', 2);
    auto local = session();
    const auto handle = one.new_handle(7);
    CHECK(handle.replica == 0x8000'0000'0000'0001);
    local.place = handle;
    const mcp::input_binding call{"files", "idp", "ada", "x"};
    const auto id = *one.seal(local, binding);
    const auto state = one.seal_input(handle, call, now);
    for (const auto& [by, elsewhere] : {std::pair{&one, false}, {&two, true}}) {
        const auto opened = by->open(id, binding, now);
        REQUIRE(opened.has_value());
        CHECK(*opened == local);
        CHECK(by->is_elsewhere(std::get<mcp::local_handle>(opened->place)) == elsewhere);
        const auto parked = by->open_input(state, call, now);
        REQUIRE(parked.has_value());
        CHECK(*parked == handle);
        CHECK(by->is_elsewhere(*parked) == elsewhere);
    }
    CHECK(ids().is_elsewhere(handle));  // the store is not shared any more
}

TEST_CASE("A handle without a replica is sealed as short as ever, and belongs to whichever process opens it")
{
    const auto before = ids();
    const auto handle = before.new_handle(7);
    CHECK(handle.replica == 0);
    auto local = session();
    local.place = handle;
    const auto id = *before.seal(local, binding);
    const auto opened = ids('k', 2).open(id, binding, now);
    REQUIRE(opened.has_value());
    CHECK(std::get<mcp::local_handle>(opened->place) == handle);
    CHECK_FALSE(ids('k', 2).is_elsewhere(handle));
    // As the releases sealed it that knew no replicas: kind, version, capabilities, time, worker, random bytes.
    local.place = std::string(2 + 16, 'u');
    CHECK(id.size() == before.seal(local, binding)->size());
    local.place = ids('k', 2).new_handle(7);
    CHECK(id.size() < before.seal(local, binding)->size());
}

TEST_CASE("handles do not repeat")
{
    const auto seals = ids();
    CHECK(seals.new_handle(1) != seals.new_handle(1));
}

TEST_CASE("the state of a call opens for that call, agent and principal within 5 minutes")
{
    const auto seals = ids();
    const auto call = seals.new_handle(3);
    const auto digest = mcp::digest_of_call("tools/call", "read", R"({"path":"/x"})");
    const mcp::input_binding caller{"files", "idp", "ada", digest};
    const auto state = seals.seal_input(call, caller, now + 1ms);
    CHECK(*seals.open_input(state, caller, now + 1ms) == call);
    CHECK(*seals.open_input(state, caller, now + 5min) == call);
    const auto late = seals.open_input(state, caller, now + 5min + 1ms);
    REQUIRE(late.has_error());
    CHECK(late.error().code == core::errc::input_expired);
    const auto moved = mcp::digest_of_call("tools/call", "read", R"({"path":"/y"})");
    for (const auto& other : std::vector<mcp::input_binding>{
             {"file", "idp", "ada", digest},
             {"files", "idp", "bob", digest},
             {"files", "", "", digest},
             {"files", "idp", "ada", moved},
         }) {
        const auto opened = seals.open_input(state, other, now);
        REQUIRE(opened.has_error());
        CHECK(opened.error().code == core::errc::input_expired);
    }
    for (std::size_t i = 0; i < state.size(); ++i) {
        auto changed = state;
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        CHECK(seals.open_input(changed, caller, now).has_error());
    }
}

TEST_CASE("a session id is no state of a call, nor the other way round")
{
    const auto seals = ids();
    auto local = session();
    local.place = seals.new_handle(3);
    const mcp::session_binding here{"a", "b", "c", "d"};
    const mcp::input_binding same{"a", "b", "c", "d"};
    CHECK(seals.open_input(*seals.seal(local, here), same, now).has_error());
    CHECK(seals.open(seals.seal_input(seals.new_handle(3), same, now), here, now).has_error());
}

TEST_CASE("the digest of a call ignores white space in its arguments and nothing else")
{
    const auto digest = mcp::digest_of_call("tools/call", "read", R"({"a":[1,"b c"]})");
    CHECK(digest.size() == 32);
    CHECK(mcp::digest_of_call("tools/call", "read", "{ \"a\" : [ 1,\n\"b c\" ] }") == digest);
    CHECK(mcp::digest_of_call("tools/call", "read", R"({"a":[1,"bc"]})") != digest);
    CHECK(mcp::digest_of_call("tools/call", "rea", R"(d{"a":[1,"b c"]})") != digest);
    CHECK(mcp::digest_of_call("prompts/get", "read", R"({"a":[1,"b c"]})") != digest);
    CHECK(mcp::digest_of_call("tools/call", "read", "") != digest);
}

TEST_SUITE_END();
