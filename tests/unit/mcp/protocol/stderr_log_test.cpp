#include "mcp/protocol/stderr_log.hpp"

#include "tests/unit/mcp/session/runner_rig.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

TEST_SUITE_BEGIN("mcp/protocol/stderr_log");

namespace {

using mcp::stderr_log;
using mcp_test::kept_log;

constexpr core::steady_time begin{std::chrono::hours{1}};

struct logged {
    // So many lines, as one piece.
    void write(int lines, core::steady_time now)
    {
        std::string text;
        for (int i = 0; i < lines; ++i) {
            text += "line\n";
        }
        complaints.add(text, now);
    }

    std::size_t count(const std::string& what) const
    {
        std::size_t found = 0;
        for (auto at = sink.text.find(what); at != std::string::npos; at = sink.text.find(what, at + 1)) {
            ++found;
        }
        return found;
    }

    kept_log sink;
    core::logger log{sink, core::log_level::info};
    stderr_log complaints{"a", core::redaction{{"hunter2-hunter2"}}, log};
};

}  // namespace

TEST_CASE("Twenty lines are logged in ten seconds, and each window has its own twenty and its own count of the rest")
{
    for (const int lines : {mcp::most_complaints - 1, mcp::most_complaints, mcp::most_complaints + 1}) {
        logged x;
        x.write(lines, begin);
        x.write(0, begin + mcp::complaint_window - std::chrono::nanoseconds{1});
        CHECK(x.count("mcp_stderr\"") == static_cast<std::size_t>(std::min(lines, mcp::most_complaints)));
        CHECK(x.count("mcp_stderr_dropped") == 0);
        x.write(lines, begin + mcp::complaint_window);
        CHECK(x.count("mcp_stderr\"") == 2 * static_cast<std::size_t>(std::min(lines, mcp::most_complaints)));
        CHECK(x.count("mcp_stderr_dropped") == (lines > mcp::most_complaints ? 1 : 0));
        CHECK(x.count("\"lines\":1}") == (lines > mcp::most_complaints ? 1 : 0));
        x.complaints.end(begin + 2 * mcp::complaint_window);
        CHECK(x.count("mcp_stderr_dropped") == (lines > mcp::most_complaints ? 2 : 0));
        CHECK(x.count("\"lines\":1}") == (lines > mcp::most_complaints ? 2 : 0));
    }
}

TEST_CASE("A window begins with its first line, and is over ten seconds later, however the lines in it are spread")
{
    logged x;
    for (int i = 0; i < 2 * mcp::most_complaints; ++i) {
        x.write(1, begin + i * std::chrono::milliseconds{249});
    }
    CHECK(x.count("mcp_stderr\"") == mcp::most_complaints);
    x.write(1, begin + mcp::complaint_window - std::chrono::milliseconds{1});
    CHECK(x.count("mcp_stderr\"") == mcp::most_complaints);
    x.write(1, begin + mcp::complaint_window);
    CHECK(x.count("mcp_stderr\"") == mcp::most_complaints + 1);
    CHECK(x.count("\"lines\":21}") == 1);
}

TEST_CASE("On trial its lines are at debug level, and those that follow are not")
{
    kept_log sink;
    const core::logger log{sink, core::log_level::debug};
    stderr_log complaints{"a", {}, log};
    complaints.set_level(core::log_level::debug);
    complaints.add("one\n", begin);
    complaints.set_level(core::log_level::info);
    complaints.add("two\n", begin);
    CHECK(sink.text.find(R"("level":"debug","event":"mcp_stderr","agent":"a","text":"one")") != std::string::npos);
    CHECK(sink.text.find(R"("level":"info","event":"mcp_stderr","agent":"a","text":"two")") != std::string::npos);
}

TEST_CASE("The last words are the last line, behind the latest error of the few lines before it, masked")
{
    logged x;
    CHECK(x.complaints.last_words().empty());
    x.complaints.add("one\n  two\n\n \t\n", begin);
    CHECK(x.complaints.last_words() == "two");
    x.complaints.add("key hunter2-hunter2", begin);
    CHECK(x.complaints.last_words() == "two");
    x.complaints.end(begin);
    CHECK(x.complaints.last_words() == "key ********");
    x.complaints.add("ValueError: a\n", begin);
    CHECK(x.complaints.last_words() == "ValueError: a");
    x.complaints.add("RuntimeException: b\nat c\nat d\n", begin);
    CHECK(x.complaints.last_words() == "RuntimeException: b … at d");
    x.write(15, begin);
    CHECK(x.complaints.last_words() == "line");
}

TEST_CASE("The last twenty lines are kept beyond the program that wrote them, masked and cut")
{
    kept_log sink;
    const core::logger log{sink, core::log_level::info};
    const auto kept = std::make_shared<mcp::stderr_lines>();
    {
        stderr_log first{"a", core::redaction{{"hunter2-hunter2"}}, log, kept};
        first.add("key hunter2-hunter2\n  two\n\n" + std::string(201, 'x') + "\nunfinished", begin);
        first.end(begin);
    }
    REQUIRE(kept->lines().size() == 4);
    CHECK(kept->lines()[0] == "key ********");
    CHECK(kept->lines()[1] == "  two");
    CHECK(kept->lines()[2] == std::string(200, 'x'));
    CHECK(kept->lines()[3] == "unfinished");
    stderr_log second{"a", {}, log, kept};
    std::string text;
    for (int i = 0; i < 16; ++i) {
        text += "line " + std::to_string(i) + '\n';
    }
    second.add(text, begin);
    CHECK(kept->lines().size() == mcp::stderr_lines::most);
    CHECK(kept->lines().front() == "key ********");
    second.add("one more\n", begin);
    CHECK(kept->lines().size() == mcp::stderr_lines::most);
    CHECK(kept->lines().front() == "  two");
    CHECK(kept->lines().back() == "one more");
}

TEST_SUITE_END();
