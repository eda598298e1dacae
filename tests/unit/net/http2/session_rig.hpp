// A session and a record of everything that it tells, for tests that give it raw frames.
#pragma once

#include "net/http2/session.hpp"
#include "tests/support/http2_frames.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tests {

using namespace std::chrono_literals;
namespace raw = test_support::http2;

// Records events as lines; sends what it is given.
class recorded_stream final : public net::http2::stream_user {
public:
    recorded_stream(std::string& log, std::string name)
        : log_{log},
          name_{std::move(name)}
    {
    }

    void on_head(net::http2::received_head head) override { note("head " + head.text + (head.last ? "(last)" : "")); }
    void on_body(std::string_view piece) override
    {
        body += piece;
        note_once("body");
    }
    void on_trailers(std::string& text) override { note("trailers " + text); }
    void on_end() override { note("end " + std::to_string(body.size())); }
    void on_closed(net::http2::error_code code, net::http2::by whom) override
    {
        note("closed " + std::string{name(code)} + (whom == net::http2::by::us ? " by us" : " by peer"));
    }
    net::http2::outgoing next() noexcept override
    {
        return {to_send.size(), last, last ? std::string_view{trailers} : std::string_view{}};
    }
    void take(std::size_t size, std::string& out) override
    {
        out.append(to_send, 0, size);
        to_send.erase(0, size);
    }
    void on_sent_all() override { note("sent all"); }

    std::string body;
    std::string to_send;
    std::string trailers;
    bool last = false;

private:
    void note(const std::string& what)
    {
        log_ += name_ + ": " + what + "\n";
        last_noted_.clear();
    }
    // However the pieces are cut.
    void note_once(const std::string& what)
    {
        if (last_noted_ != what) {
            note(what);
            last_noted_ = what;
        }
    }

    std::string& log_;
    std::string name_;
    std::string last_noted_;
};

struct session_rig : net::http2::session_user {
    explicit session_rig(net::http2::session_settings with = {})
        : session{with, *this}
    {
    }

    net::http2::stream_user* on_request(std::int32_t id, net::http2::received_head head) override
    {
        log += std::to_string(id) + ": request " +
               (head.refused != nullptr ? std::string{code_name(*head.refused)} : head.text) + "\n";
        auto& made = streams[id];
        made = std::make_unique<recorded_stream>(log, std::to_string(id));
        return made.get();
    }
    void on_settings() override { log += "settings\n"; }
    void on_goaway(std::int32_t last, net::http2::error_code code) override
    {
        log += "goaway " + std::to_string(last) + " " + std::string{name(code)} + "\n";
    }
    void count_reset(net::http2::by, net::http2::error_code) noexcept override { ++resets; }
    void count_goaway(net::http2::by, net::http2::error_code) noexcept override { ++goaways; }
    void count_refused(net::http2::limit which) noexcept override { log += "over " + std::string{name(which)} + "\n"; }

    static std::string_view code_name(const core::error& of)
    {
        return of.code == core::errc::header_too_large ? "header_too_large" : "bad_request";
    }

    void feed(std::string_view bytes) { session.feed(bytes, now); }

    // The frames that the session has sent since the last call.
    std::vector<raw::read_frame> sent()
    {
        session.produce(0);
        if (session.output().starts_with(raw::preface)) {
            session.output().erase(0, raw::preface.size());
        }
        auto out = raw::take_frames(session.output());
        for (const auto& each : out) {
            if (each.type == raw::headers) {
                heads[each.stream] = blocks.read(each.payload);
            }
        }
        return out;
    }

    // Gives `type stream code`, such as "RST_STREAM 1 PROTOCOL", for resets and GOAWAY only.
    std::string ends()
    {
        std::string out;
        for (const auto& each : sent()) {
            if (each.type == raw::rst_stream) {
                out += "reset " + std::to_string(each.stream) + " " + code_of(each) + "\n";
            } else if (each.type == raw::goaway) {
                out += "goaway " + code_of(each) + " " + each.payload.substr(8) + "\n";
            }
        }
        return out;
    }
    static std::string code_of(const raw::read_frame& of)
    {
        return std::string{net::http2::name(static_cast<net::http2::error_code>(of.code()))};
    }

    std::string log;
    std::map<std::int32_t, std::unique_ptr<recorded_stream>> streams;
    std::map<std::uint32_t, raw::field_lines> heads;
    raw::block_reader blocks;
    core::steady_time now{1h};
    int resets = 0;
    int goaways = 0;
    net::http2::session session;
};

}  // namespace tests
