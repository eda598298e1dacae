#include "gateway/reload/configuration.hpp"

#include "tests/support/scratch.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

using gateway::reload::directories_of;
using gateway::reload::read_configuration;
using gateway::reload::reading;
using test_support::scratch_directory;
using test_support::write_whole;
namespace fs = std::filesystem;

TEST_SUITE_BEGIN("gateway/reload/configuration");

namespace {

using strings = std::set<std::string>;
using texts = std::vector<std::string>;

texts texts_of(const std::vector<gateway::reload::config_warning>& warnings)
{
    texts out;
    for (const auto& each : warnings) {
        out.push_back(gateway::reload::shown(each));
    }
    return out;
}

strings directories_of_file(const std::string& path)
{
    return directories_of({{path, gateway::reload::stamp_of(path)}});
}

gateway::cli::command_line asked_for(const std::string& file)
{
    return gateway::cli::parse_command_line({"run", "-c", file});
}

}  // namespace

TEST_CASE("a file shows its changes in its own directory")
{
    const scratch_directory here;
    write_whole(here.file("c.yml"), "{}");
    CHECK(directories_of_file(here.file("c.yml")) == strings{here.path()});
    CHECK(directories_of_file(here.file("../" + here.path().filename().string() + "/./c.yml")) == strings{here.path()});
}

TEST_CASE("a file behind links shows its changes in the directory of each of them, as Kubernetes lays it out")
{
    const scratch_directory here;
    fs::create_directories(here.path() / "..2026_01");
    write_whole(here.file("..2026_01/c.yml"), "{}");
    fs::create_directory_symlink("..2026_01", here.path() / "..data");
    fs::create_symlink("..data/c.yml", here.path() / "c.yml");
    CHECK(directories_of_file(here.file("c.yml")) == strings{here.path(), here.path() / "..2026_01"});
    fs::create_symlink(here.path() / "c.yml", here.path() / "absolute");
    CHECK(directories_of_file(here.file("absolute")) == strings{here.path(), here.path() / "..2026_01"});
}

TEST_CASE("what is missing would show in the directory where it is missing, and links in a circle end")
{
    const scratch_directory here;
    CHECK(directories_of_file(here.file("no/such/c.yml")) == strings{here.path()});
    fs::create_symlink("b", here.path() / "a");
    fs::create_symlink("a", here.path() / "b");
    CHECK(directories_of_file(here.file("a")) == strings{here.path()});
}

TEST_CASE("what was read is outdated when one of its files is another one, and not before")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    const auto token = here.file("token");
    write_whole(token, "t0ken");
    write_whole(file, "agents: {a: {url: \"http://h/\", bearer_file: \"" + token + "\"}}");
    const auto read = read_configuration(asked_for(file), nullptr, reading::first);
    REQUIRE(read.problems.empty());
    CHECK(read.files.size() == 2);
    CHECK_FALSE(gateway::reload::outdated(read.files));
    write_whole(here.file("other"), "");
    CHECK_FALSE(gateway::reload::outdated(read.files));
    write_whole(here.file("new"), "t0ken");
    fs::rename(here.file("new"), token);
    CHECK(gateway::reload::outdated(read.files));
    CHECK_FALSE(gateway::reload::outdated(read_configuration(asked_for(file), nullptr, reading::again).files));
    fs::remove(file);
    CHECK(read_configuration(asked_for(file), nullptr, reading::again).problems.size() == 1);
}

TEST_CASE("a pipe is read once, at the start")
{
    const scratch_directory here;
    const auto pipe = here.file("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    const auto read = read_configuration(asked_for(pipe), nullptr, reading::again);
    REQUIRE(read.problems.size() == 1);
    CHECK(read.problems.front() == pipe + ": is no file that can be read twice");
}

TEST_CASE("the command line replaces the file, each time it is read")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    write_whole(file, "listen: 127.0.0.1:1\nagents: {a: {url: \"http://h/\"}}");
    const auto asked =
        gateway::cli::parse_command_line({"run", "-c", file, "--listen", "127.0.0.1:2", "--agent", "b=http://b/"});
    const auto read = read_configuration(asked, nullptr, reading::again);
    CHECK(read.problems.empty());
    CHECK(read.settings.listen.port == 2);
    CHECK(read.settings.agents.size() == 2);
    write_whole(file, "agents: {b: {url: \"http://h/\"}}");
    const auto twice = read_configuration(asked, nullptr, reading::again);
    REQUIRE(twice.problems.size() == 1);
    CHECK(twice.problems.front() == "--agent: there is an agent with the id 'b' already");
}

TEST_CASE("admin_programs needs a loopback address of the command line's too")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    const auto problems = [&](const std::string& admin) {
        const auto asked = gateway::cli::parse_command_line({"run", "-c", file, "--admin", admin});
        return read_configuration(asked, nullptr, reading::again).problems;
    };
    write_whole(file, "admin_programs: true");
    CHECK(problems("127.0.0.1:5").empty());
    REQUIRE(problems("0.0.0.0:5").size() == 1);
    CHECK(problems("0.0.0.0:5").front() == "--admin: `admin_programs` requires a loopback address");
    write_whole(file, "admin_programs: false\nadmin_access: open");
    CHECK(problems("0.0.0.0:5").empty());
}

TEST_CASE("A provider of client certificates needs a listener with TLS")
{
    const scratch_directory here;
    const test_support::test_ca ca;
    const auto file = here.file("c.yml");
    write_whole(file, "access: {providers: [{type: mtls, name: a, ca_file: " + ca.ca_file() + "}]}\n");
    const auto asked = gateway::cli::parse_command_line({"run", "-c", file});
    const std::vector<std::string> problems{
        "--listen: 127.0.0.1:4000 has no TLS, so that no client shows a certificate to the provider of type mtls; "
        "expected `tls`"
    };
    CHECK(read_configuration(asked, nullptr, reading::again).problems == problems);
}

TEST_CASE("An address for other machines needs a provider or open access, whether the file or the command line has it")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    const auto read = [&](const std::string& text, std::vector<std::string> flags) {
        write_whole(file, text);
        std::vector<std::string> all{"run", "-c", file};
        all.insert(all.end(), flags.begin(), flags.end());
        return read_configuration(gateway::cli::parse_command_line(all), nullptr, reading::again);
    };
    const std::string open =
        "is open to other machines and no caller needs a credential; expected access.providers, `access: open`, or a "
        "loopback address";
    const std::string clear =
        "has no TLS, so that callers' credentials arrive in the clear; expected `tls`, or a proxy with TLS in front of "
        "a "
        "loopback address";
    const std::string provider = "access: {providers: [{type: static_token, name: a, token: 0123456789abcdef}]}\n";
    const auto warnings = [&](const std::string& text, std::vector<std::string> more) {
        return texts_of(read(text, std::move(more)).warnings);
    };
    const texts none;
    const texts idle{"agents.a.call: guards nothing without access.providers; expected a provider, or no policy"};
    const std::string guarded = "agents: {a: {url: \"http://127.0.0.1:9/\", call: nobody}}\n";
    CHECK(read(guarded, {}).problems == idle);
    CHECK(read("access: open\n" + guarded, {}).problems == idle);
    const std::string open_admin =
        "is open to other machines and asks nobody for a credential; expected a loopback address, `admin_access: "
        "scopes`, or `admin_access: open`";
    CHECK(read("admin: 0.0.0.0:4001", {}).problems == texts{file + ":1:8: admin: 0.0.0.0:4001 " + open_admin});
    CHECK(read("{}", {"--admin", "0.0.0.0:4001"}).problems == texts{"--admin: 0.0.0.0:4001 " + open_admin});
    CHECK(read("admin_access: open\nadmin: 0.0.0.0:4001", {}).problems == none);
    const std::string exposed =
        "warning: admin: 0.0.0.0:4001 lets everyone who reaches it change and delete agents; "
        "expected `admin_access: scopes`, or `metrics` for those who only watch";
    const auto warned = read("admin_access: open\nadmin: 0.0.0.0:4001", {}).warnings;
    CHECK(warned == std::vector<gateway::reload::config_warning>{{file + ":2:8: " + exposed, "admin_exposed"}});
    CHECK(
        warnings("admin_access: open\nadmin: 0.0.0.0:4001", {}) == texts{file + ":2:8: " + exposed + " [admin_exposed]"}
    );
    CHECK(warnings("admin_access: open", {}) == none);
    CHECK(read("admin_access: scopes\nadmin: 0.0.0.0:4001\n" + provider, {}).problems == none);
    CHECK(
        warnings("admin_access: scopes\nadmin: 0.0.0.0:4001\n" + provider, {}) ==
        texts{
            file + ":2:8: warning: admin: 0.0.0.0:4001 has no TLS, so that operators' credentials arrive in the clear; "
                   "expected `admin_tls`"
        }
    );
    CHECK(
        read("admin_access: scopes", {}).problems ==
        texts{
            file + ":1:15: admin_access: lets nobody in without a provider; expected access.providers with another "
                   "type than mtls"
        }
    );
    CHECK(read(provider + guarded, {}).problems == none);
    const texts of_file{file + ":1:9: listen: 0.0.0.0:4000 " + open};
    const texts of_flag{"--listen: 0.0.0.0:4000 " + open};
    CHECK(read("listen: 0.0.0.0:4000", {}).problems == of_file);
    CHECK(read("{}", {"--listen", "0.0.0.0:4000"}).problems == of_flag);
    CHECK(read("listen: 0.0.0.0:4000", {"--listen", "0.0.0.0:4000"}).problems == of_flag);
    CHECK(read("listen: 0.0.0.0:4000", {"--listen", "127.0.0.1:4000"}).problems == none);
    CHECK(read("access: open", {"--listen", "0.0.0.0:4000"}).problems == none);
    CHECK(read(provider, {"--listen", "0.0.0.0:4000"}).problems == none);
    CHECK(warnings(provider, {"--listen", "0.0.0.0:4000"}) == texts{"warning: --listen: 0.0.0.0:4000 " + clear});
    CHECK(
        warnings("listen: 0.0.0.0:4000\n" + provider, {}) ==
        texts{file + ":1:9: warning: listen: 0.0.0.0:4000 " + clear}
    );
    CHECK(warnings(provider, {}) == none);
    const auto without_file = gateway::cli::parse_command_line({"run", "--listen", "0.0.0.0:4000"});
    CHECK(read_configuration(without_file, nullptr, reading::first).problems == of_flag);
}

TEST_CASE("The address of an inherited socket replaces all others, and what forbids an address forbids the socket")
{
    const scratch_directory here;
    const auto file = here.file("c.yml");
    const auto read = [&](const std::string& text, const gateway::reload::inherited_addresses& inherited) {
        write_whole(file, text);
        const auto asked = gateway::cli::parse_command_line({"run", "-c", file, "--admin", "127.0.0.1:3"});
        return read_configuration(asked, nullptr, reading::again, inherited);
    };
    const config::endpoint loopback{"127.0.0.1", 80};
    const config::endpoint open{"::", 443};
    const auto replaced = read("listen: 0.0.0.0:1", {loopback, loopback, open});
    CHECK(replaced.problems == texts{});
    CHECK(replaced.settings.listen == loopback);
    CHECK(replaced.settings.admin == loopback);
    CHECK(replaced.settings.metrics == open);
    const auto kept = read("listen: 127.0.0.1:1", {});
    CHECK(kept.settings.listen.port == 1);
    CHECK(kept.settings.admin.port == 3);
    CHECK(kept.settings.metrics.host.empty());

    CHECK(
        read("listen: 127.0.0.1:1", {open, {}, {}}).problems ==
        texts{"inherited socket traffic: [::]:443 is open to other machines and no caller needs a credential; expected "
              "access.providers, `access: open`, or a loopback address"}
    );
    CHECK(read("access: open\nlisten: 127.0.0.1:1", {open, {}, {}}).problems == texts{});
    CHECK(
        read("{}", {{}, open, {}}).problems ==
        texts{"inherited socket admin: [::]:443 is open to other machines and asks nobody for a credential; expected a "
              "loopback address, `admin_access: scopes`, or `admin_access: open`"}
    );
    CHECK(
        texts_of(read("admin_access: open", {{}, open, {}}).warnings) ==
        texts{"warning: inherited socket admin: [::]:443 lets everyone who reaches it change and delete agents; "
              "expected `admin_access: scopes`, or `metrics` for those who only watch [admin_exposed]"}
    );
    CHECK(
        read("admin_access: open\nadmin_programs: true", {{}, open, {}}).problems ==
        texts{"inherited socket admin: `admin_programs` requires a loopback address"}
    );
}

TEST_CASE("MCP servers of the command line stand beside all other agents, and each problem with them is told")
{
    const auto read = [](std::vector<std::string> more) {
        std::vector<std::string> all{"run", "--agent", "a=http://h/"};
        all.insert(all.end(), more.begin(), more.end());
        return read_configuration(gateway::cli::parse_command_line(all), nullptr, reading::first);
    };
    const auto both = read({"--mcp", "b=npx -y c", "--mcp", "d=https://h/mcp"});
    CHECK(both.problems.empty());
    REQUIRE(both.settings.agents.size() == 3);
    CHECK(both.settings.agents[1].mcp->command == "npx");
    CHECK(both.settings.agents[2].url == "https://h/mcp");
    const auto wrong = read({"--mcp", "a=npx", "--mcp", "b=npx | c"});
    REQUIRE(wrong.problems.size() == 2);
    CHECK(wrong.problems[0] == "--mcp: there is an agent with the id 'a' already");
    CHECK(wrong.problems[1].starts_with("--mcp: the command of b has '|' that a shell would act on"));
    const auto flags = gateway::reload::flags_of(gateway::cli::parse_command_line({"run", "--mcp", "b=npx --c=d"}));
    CHECK(flags == std::map<std::string, std::string>{{"agents.b", "--mcp"}});
}

TEST_CASE("An agent whose address is a listener of this gateway is warned about")
{
    const scratch_directory here;
    const auto warnings = [&](const std::string& listen, const std::string& url) {
        write_whole(
            here.file("c.yml"),
            "access: open\nlisten: " + listen + "\nadmin: 127.0.0.1:4001\npublic_url: https://agents.example.com/g\n" +
                "agents: {a: {url: '" + url + "'}}\n"
        );
        const auto read = read_configuration(asked_for(here.file("c.yml")), nullptr, reading::first);
        CHECK(read.problems.empty());
        return texts_of(read.warnings);
    };
    const texts expected{
        here.file("c.yml") + ":5:19: warning: agents.a.url: leads back to this gateway; calls fail with loop_detected"
    };
    for (const std::string url :
         {"http://127.0.0.1:4000/agents/b",
          "http://localhost:4000/",
          "http://[::1]:4000/",
          "http://127.0.0.1:4001/",
          "https://agents.example.com/g/agents/b",
          "https://agents.example.com:443/g/"}) {
        CAPTURE(url);
        CHECK(warnings("127.0.0.1:4000", url) == expected);
        CHECK(warnings("0.0.0.0:4000", url) == expected);
    }
    CHECK(warnings("10.1.2.3:4000", "http://10.1.2.3:4000/") == expected);
    for (const std::string url :
         {"http://127.0.0.1:4002/",
          "http://10.0.0.1:4000/",
          "http://agents.example.com/",
          "https://agents.example.org/g/",
          "https://agents.example.com/other"}) {
        CAPTURE(url);
        CHECK(warnings("127.0.0.1:4000", url).empty());
    }
    CHECK(warnings("10.1.2.3:4000", "http://127.0.0.1:4000/").empty());
}

TEST_CASE("An address of gRPC that is a listener of this gateway is warned about by its own key")
{
    const scratch_directory here;
    const auto warnings = [&](const std::string& agent) {
        write_whole(
            here.file("c.yml"),
            "access: open\nlisten: 127.0.0.1:4000\nadmin: 127.0.0.1:4001\nagents: {a: {" + agent + "}}\n"
        );
        const auto read = read_configuration(asked_for(here.file("c.yml")), nullptr, reading::first);
        CHECK(read.problems.empty());
        return texts_of(read.warnings);
    };
    const auto warned = [&](const std::string& place, const std::string& key) {
        return texts{
            here.file("c.yml") + ":" + place + ": warning: agents.a." + key +
            ": leads back to this gateway; calls fail with loop_detected"
        };
    };
    CHECK(warnings("url: 'grpc://127.0.0.1:4000'") == warned("4:19", "url"));
    CHECK(warnings("url: 'http://127.0.0.1:4002', grpc_url: 'grpc://127.0.0.1:4000'") == warned("4:54", "grpc_url"));
    CHECK(warnings("url: 'http://127.0.0.1:4002', grpc_url: 'grpc://127.0.0.1:4002'").empty());
}

TEST_CASE("A default agent of gRPC that the file does not have is warned about")
{
    const scratch_directory here;
    const auto warnings = [&](const std::string& id) {
        write_whole(
            here.file("c.yml"),
            "access: open\ngrpc:\n  default_agent: " + id + "\nagents: {a: {url: 'http://h'}}\n"
        );
        const auto read = read_configuration(asked_for(here.file("c.yml")), nullptr, reading::first);
        CHECK(read.problems.empty());
        return texts_of(read.warnings);
    };
    CHECK(warnings("a").empty());
    CHECK(
        warnings("zz") ==
        texts{
            here.file("c.yml") +
            ":3:18: warning: grpc.default_agent: is no agent of this file; expected the id of one, "
            "unless it is created later"
        }
    );
}

TEST_SUITE_END();
