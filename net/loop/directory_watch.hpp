// Says that something has changed in one of several directories (inotify(7)), not what: whoever hears it looks. Network
// file systems do not say what other machines change. One loop.
#pragma once

#include "core/error.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include <functional>
#include <map>
#include <set>
#include <string>

namespace net {

class directory_watch {
public:
    // `changed` is called on the executor's loop, once for what happened together: a file that was written and closed,
    // appeared, vanished, was renamed or got other permissions; or a directory that is gone. It may call set().
    directory_watch(executor where, std::function<void()> changed);
    directory_watch(const directory_watch&) = delete;
    directory_watch& operator=(const directory_watch&) = delete;

    // Watches these, and no others; none costs nothing. True: one of them is new, and may have changed before it was watched. One that is
    // not there is left out. Fails with internal: the system has no watches left; the detail says so.
    core::result<bool> set(const std::set<std::string>& directories);

    // Nothing is called any more.
    void close();

private:
    core::result<> open();
    void wait();
    bool take_events();

    asio::posix::basic_stream_descriptor<executor> events_;
    std::function<void()> changed_;
    std::map<std::string, int> watched_;
};

}  // namespace net
