// The audit of a running gateway: its file, the trail that others write to, and what workers have noted, folded. Without a place
// for it nothing is written.
#pragma once

#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/model/audit_trail.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/telemetry/audit_file.hpp"
#include "gateway/telemetry/audit_tally.hpp"
#include "gateway/telemetry/replica_field.hpp"
#include "gateway/threads/side_thread.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/loop.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace gateway::wiring {

class auditor final : public net::timed, public model::plane {
public:
    // References outlive the auditor.
    auditor(net::loop& control, const core::logger& log);

    // `place`: the setting `audit`; `replica` is in each line. Once, before anything else. Fails as telemetry::audit_file::open().
    core::result<> open(const std::string& place, telemetry::replica_field replica = {});

    const model::audit_trail& trail() const noexcept { return trail_; }

    // Any thread.
    void add(const model::audit_notes& notes);

    // After a rotation; a failure is a line in the log, and the file before stays in use.
    void reopen();

    // Nothing is noted any more: what was folded is written.
    void end();

    void collect(telemetry::metrics& into) const override;

    // Whether the latest line was lost. Any thread.
    bool failing() const noexcept { return file_ && file_->failing(); }

    void on_due() override {}
    void on_sweep(core::steady_time now) override;

private:
    net::task<> reopen_elsewhere();

    net::loop& loop_;
    const core::logger& log_;
    std::unique_ptr<telemetry::audit_file> file_;  // null: off
    model::audit_trail trail_;
    mutable std::mutex mutex_;  // of what follows; nobody holds it for long, and workers a few times a second
    telemetry::denial_fold denials_;
    std::set<model::used_key> keys_;                // that have been used; as many as configurations had
    std::uint64_t dropped_ = 0;                     // by workers
    std::unique_ptr<threads::side_thread> thread_;  // that files are opened on; last: it uses the file
};

}  // namespace gateway::wiring
