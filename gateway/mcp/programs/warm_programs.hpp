// Programs of one server that are started ahead, and not spoken to, so that they fit any client. None is used twice. On the
// thread of one loop.
#pragma once

#include "gateway/mcp/programs/program.hpp"

#include <cstddef>
#include <functional>
#include <list>
#include <memory>

namespace gateway::mcp::programs {

class warm_programs {
public:
    using retire_function = std::function<void(std::unique_ptr<program> used)>;

    // `retire` takes each that nobody needs any more; one that has ended by itself too.
    warm_programs(::mcp::start_place turns, ::mcp::transport_factory make, retire_function retire);
    ~warm_programs();
    warm_programs(const warm_programs&) = delete;
    warm_programs& operator=(const warm_programs&) = delete;

    // The one that has been started longest, else one that begins to start, or is held.
    std::unique_ptr<program> take(bool held = false);

    // As many as that wait from now on; what ends meanwhile is not replaced before the next call, so that a program that does not
    // stay up is not started again and again.
    void keep(std::size_t wanted);

    std::size_t size() const noexcept { return waiting_.size(); }

private:
    class warm final : public program_observer {
    public:
        warm(warm_programs& of, std::unique_ptr<program> held)
            : of_{of},
              held_{std::move(held)}
        {
            held_->set_observer(this);
        }

        std::unique_ptr<program> release()
        {
            held_->set_observer(nullptr);
            return std::move(held_);
        }

    private:
        // What a server says before it is spoken to is noise: a greeting, a log line.
        void said(std::string_view /*text*/) override {}
        void said_too_much(std::string_view /*beginning*/, std::size_t /*limit*/) override {}
        void failed(std::uint64_t /*call*/, core::error /*why*/) override {}
        void ended(core::error /*why*/) override { of_.drop(*this); }

        warm_programs& of_;
        std::unique_ptr<program> held_;
    };

    void drop(const warm& gone);

    ::mcp::start_place turns_;
    ::mcp::transport_factory make_;
    retire_function retire_;
    std::list<warm> waiting_;
};

}  // namespace gateway::mcp::programs
