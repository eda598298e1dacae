// Addresses that a peer may name so that the gateway connects where the peer cannot: to this machine, to networks behind it, to
// the services of a cloud, or to a name that another reader takes for a different one.
#pragma once

#include <string>
#include <vector>

namespace test_support {

// None of them is at the origin https://agent.example.
inline std::vector<std::string> hostile_addresses()
{
    std::vector<std::string> all;
    for (const auto* host :
         {"127.0.0.1",
          "127.1",
          "0",
          "0.0.0.0",
          "2130706433",
          "0x7f000001",
          "0177.0.0.1",
          "127.000.000.001",
          "0x7f.1",
          "127.0.0.1.",
          "localhost",
          "LOCALHOST.",
          "a.localhost",
          "[::1]",
          "[::]",
          "[0:0:0:0:0:ffff:7f00:1]",
          "[::ffff:127.0.0.1]",
          "[::ffff:a9fe:a9fe]",
          "[64:ff9b::7f00:1]",
          "[2002:7f00:1::]",
          "[fe80::1%25lo]",
          "[fc00::1]",
          "[fd00:ec2::254]",
          "169.254.169.254",
          "169.254.169.254.nip.example",
          "100.100.100.200",
          "100.64.0.1",
          "10.0.0.1",
          "172.16.0.1",
          "172.31.255.255",
          "192.168.0.1",
          "192.0.0.192",
          "198.18.0.1",
          "192.0.2.1",
          "224.0.0.1",
          "240.0.0.1",
          "255.255.255.255",
          "metadata.google.internal",
          "rebinds.example",
          "agent.example@127.0.0.1",
          "agent.example:443@127.0.0.1",
          "127.0.0.1#@agent.example",
          "127.0.0.1?@agent.example",
          "127.0.0.1\\@agent.example",
          "agent.example\\@127.0.0.1",
          "agent.example%00.127.0.0.1",
          "agent.example%2e127.0.0.1",
          "agent%2eexample",
          "agent.example.",
          "agent.example.evil.example",
          "\xE2\x91\xA0\xE2\x91\xA1\xE2\x91\xA6.\xE2\x93\xAA.\xE2\x93\xAA.\xE2\x91\xA0",
          "agent\u3002example",
          "127.0.0.1:22",
          "127.0.0.1:25",
          "127.0.0.1:6379",
          "agent.example:22",
          "agent.example:4001",
          "agent.example:0",
          "agent.example:99999",
          ""}) {
        all.push_back("http://" + std::string{host} + "/x");
        all.push_back("https://" + std::string{host} + "/x");
    }
    for (const auto* whole :
         {"http://agent.example/x",
          "//127.0.0.1/x",
          "///127.0.0.1/x",
          "\\\\127.0.0.1\\x",
          "https:\\\\127.0.0.1\\x",
          "file:///etc/passwd",
          "gopher://127.0.0.1:6379/_x",
          "unix:/var/run/docker.sock",
          "ftp://127.0.0.1/x",
          "data:application/json,{}",
          "javascript:x",
          "https://127.0.0.1/\r\nHost: agent.example",
          "https://agent.example\r\n.127.0.0.1/x",
          " https://127.0.0.1/x",
          "https://127.0.0.1/x ",
          "HTTPS://127.0.0.1/x"}) {
        all.emplace_back(whole);
    }
    all.push_back("https://127.0.0.1/" + std::string(64 * 1024, 'x'));
    all.push_back("https://" + std::string(64 * 1024, 'x') + ".example/");
    return all;
}

}  // namespace test_support
