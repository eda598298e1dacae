#include "mcp/protocol/stderr_log.hpp"

#include <algorithm>
#include <utility>

namespace mcp {
namespace {

constexpr std::size_t most_remembered = 16;  // a stack trace of Node.js stands between its error and its last line
constexpr std::size_t longest_remembered = 200;

bool speaks_of_error(std::string_view line)
{
    return line.find("rror") != std::string_view::npos || line.find("xception") != std::string_view::npos;
}

}  // namespace

void stderr_lines::add(std::string line)
{
    lines_.push_back(std::move(line));
    if (lines_.size() > most) {
        lines_.pop_front();
    }
}

stderr_log::stderr_log(
    std::string agent,
    core::redaction secrets,
    const core::logger& log,
    std::shared_ptr<stderr_lines> kept
)
    : agent_{std::move(agent)},
      secrets_{std::move(secrets)},
      log_{&log},
      kept_{std::move(kept)},
      longest_{longest_complaint + secrets_.reach()}
{
}

void stderr_log::add(std::string_view bytes, core::steady_time now)
{
    while (!bytes.empty()) {
        const auto end = std::min(bytes.find('\n'), bytes.size());
        const auto room = longest_ - std::min(line_.size(), longest_);
        line_.append(bytes.substr(0, std::min(end, room)));
        if (end == bytes.size()) {
            return;
        }
        write(now);
        bytes.remove_prefix(end + 1);
    }
}

void stderr_log::end(core::steady_time now)
{
    write(now);
    tell_lost();
}

std::string stderr_log::last_words() const
{
    if (latest_.empty()) {
        return {};
    }
    const auto error = std::find_if(latest_.rbegin(), latest_.rend(), speaks_of_error);
    const bool telling = error != latest_.rend() && error != latest_.rbegin();
    return telling ? *error + " … " + latest_.back() : latest_.back();
}

void stderr_log::write(core::steady_time now)
{
    if (now >= window_end_) {
        tell_lost();
        window_end_ = now + complaint_window;
        written_ = 0;
    }
    while (line_.ends_with('\r')) {
        line_.pop_back();
    }
    if (line_.find_first_not_of(" \t") == std::string::npos) {
        line_.clear();
        return;
    }
    auto short_text = secrets_.apply(line_, longest_remembered);
    if (kept_ != nullptr) {
        kept_->add(short_text);
    }
    remember(std::move(short_text));
    if (++written_ <= most_complaints) {
        const auto text = secrets_.apply(line_, longest_complaint);
        log_->write(level_, "mcp_stderr", {{"agent", agent_}, {"text", text}});
    } else {
        ++lost_;
    }
    line_.clear();
}

void stderr_log::remember(std::string text)
{
    text.erase(0, text.find_first_not_of(" \t"));
    latest_.push_back(std::move(text));
    if (latest_.size() > most_remembered) {
        latest_.pop_front();
    }
}

void stderr_log::tell_lost()
{
    if (lost_ > 0) {
        log_->write(level_, "mcp_stderr_dropped", {{"agent", agent_}, {"lines", lost_}});
        lost_ = 0;
    }
}

}  // namespace mcp
