#include "mcp/session/session_report.hpp"

#include <doctest/doctest.h>

#include <string>

using mcp::session_reason;
using mcp::session_state;

TEST_SUITE_BEGIN("mcp/session/session_report");

namespace {

class kept_lines final : public core::log_sink {
public:
    void write(std::string_view lines) override { text.append(lines) += '\n'; }

    std::string text;
};

struct notebook {
    void report(session_state state, session_reason why)
    {
        mcp::session_action action;
        action.state = state;
        action.reason = why;
        notes.report(action, "2025-11-25");
    }

    kept_lines sink;
    core::logger log{sink, core::log_level::debug};
    mcp::session_report notes{log, "words", std::make_shared<core::redaction>(std::vector<std::string>{"opensesame"})};
};

}  // namespace

TEST_CASE("The words for a trouble are told with it, and are gone once the session is ready")
{
    notebook x;
    x.notes.say(session_reason::exited, "exit code 3");
    CHECK(x.notes.detail().empty());
    x.report(session_state::backoff, session_reason::exited);
    CHECK(x.notes.detail() == "exit code 3");
    x.report(session_state::starting, session_reason::exited);
    CHECK(x.notes.detail() == "exit code 3");
    x.report(session_state::ready, session_reason::none);
    CHECK(x.notes.detail().empty());
}

TEST_CASE("A trouble without words of the server's has usual ones")
{
    notebook x;
    x.report(session_state::degraded, session_reason::ping_timeout);
    CHECK(x.notes.detail() == "no answer to a ping");
    x.notes.say_late(session_reason::handshake_timeout, "; it wrote: hello");
    x.report(session_state::backoff, session_reason::handshake_timeout);
    CHECK(x.notes.detail() == "no answer to the handshake; it wrote: hello");
}

TEST_CASE("Words for the trouble of a degraded session replace those that are told; words for another do not")
{
    notebook x;
    x.report(session_state::degraded, session_reason::refresh_failed);
    x.notes.say(session_reason::stream_down, "another");
    CHECK(x.notes.detail().empty());
    x.notes.say(session_reason::refresh_failed, "prompts/list: not now");
    CHECK(x.notes.detail() == "prompts/list: not now");
    x.notes.forget(session_reason::refresh_failed);
    x.report(session_state::degraded, session_reason::refresh_failed);
    CHECK(x.notes.detail().empty());
}

TEST_CASE("What the server was given to keep is neither told nor logged")
{
    notebook x;
    CHECK(x.notes.shown("the key opensesame is wrong").find("opensesame") == std::string::npos);
    x.notes.walk_failed("no opensesame");
    x.report(session_state::degraded, session_reason::refresh_failed);
    CHECK(x.notes.detail().find("opensesame") == std::string::npos);
    CHECK(x.sink.text.find("mcp_walk_failed") != std::string::npos);
    CHECK(x.sink.text.find("opensesame") == std::string::npos);
}

TEST_CASE("Nothing is logged of items that were not left out, and all of the first of those that were")
{
    notebook x;
    x.notes.items_omitted({});
    CHECK(x.sink.text.empty());
    x.notes.items_omitted({3, {"tools: a", "tools: b"}});
    CHECK(x.sink.text.find(R"("count":3)") != std::string::npos);
    CHECK(x.sink.text.find("tools: a; tools: b") != std::string::npos);
}

TEST_SUITE_END();
