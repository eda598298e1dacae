// A network of a thread's own, with 127.0.0.1 and nothing else, and a file for /etc/resolv.conf that only that thread sees. What the
// thread starts is in it too. Taking one needs rights that not everybody has.
#pragma once

#include "core/descriptor.hpp"
#include "tests/support/scratch.hpp"

#include <linux/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <string>
#include <system_error>
#include <thread>

namespace test_support {

class own_network {
public:
    // Which ports connections may come from, such as "40000 40007". False: that cannot be set here.
    static bool limit_ports(const std::string& range)
    {
        std::ofstream file{"/proc/sys/net/ipv4/ip_local_port_range"};
        file << range << std::endl;
        return file.good();
    }

    // Runs it in a thread with a network of its own. False: that is not permitted, and nothing was run. What it throws is thrown.
    static bool run(const std::function<void()>& what, const std::string& resolver = {})
    {
        int refused = 0;
        std::exception_ptr thrown;
        std::thread inside{[&] {
            refused = enter(resolver);
            try {
                if (refused == 0) {
                    what();
                }
            } catch (...) {
                thrown = std::current_exception();
            }
        }};
        inside.join();
        if (thrown) {
            std::rethrow_exception(thrown);
        }
        if (refused != 0 && refused != EPERM && refused != EACCES) {
            throw std::system_error{refused, std::generic_category(), "a network of its own"};
        }
        return refused == 0;
    }

private:
    static int enter(const std::string& resolver)
    {
        if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0 ||
            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
            return errno;
        }
        if (!resolver.empty() && ::mount(resolver.c_str(), "/etc/resolv.conf", nullptr, MS_BIND, nullptr) != 0) {
            return errno;
        }
        const core::descriptor any{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
        ::ifreq loopback{};
        std::strcpy(loopback.ifr_name, "lo");
        loopback.ifr_flags = IFF_UP;
        return ::ioctl(any.number(), SIOCSIFFLAGS, &loopback) == 0 ? 0 : errno;
    }
};

}  // namespace test_support
