#include "gateway/a2a/push_hook.hpp"

#include "a2a/dialect/push_edit.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("gateway/push_mediation");

namespace {

using gateway::a2a::push_mediation;

constexpr a2a::dialect new_rpc{a2a::generation::v1, a2a::binding::jsonrpc};

struct rig {
    rig()
    {
        gateway::model::snapshot snapshot;
        snapshot.public_base = "https://gw.test";
        known.replace(snapshot);
        known.set_push_addresses(addresses);
    }

    std::string objection(const std::string& config) const
    {
        const auto found = a2a::find_requested_push(new_rpc, a2a::operation::create_push, config);
        REQUIRE(found.has_value());
        REQUIRE(found->size() == 1);
        const auto why = push_mediation{settings, known, new_rpc, {}}.objection(found->front());
        return why ? why->member + ": " + std::string{why->why} : "";
    }

    std::string objection_to_url(const std::string& url) const { return objection(R"({"url":")" + url + "\"}"); }

    config::settings settings;
    gateway::request::local_snapshot known;
    std::vector<core::secret> keys{core::secret{std::string(jose::sealing_key_bytes, 'k')}};
    std::shared_ptr<const gateway::model::push_addresses> addresses =
        std::make_shared<const gateway::model::push_addresses>(jose::text_sealer{keys});
};

}  // namespace

TEST_CASE("A host that resolvers take for an address is none that is public, unless it is spelled as one")
{
    const rig x;
    for (const std::string host : {"0x7f.1", "127.1", "2130706433", "0x7f000001", "a.0x1", "hooks.test.1"}) {
        CAPTURE(host);
        CHECK(
            x.objection_to_url("https://" + host + "/") ==
            "url: is at an address that is not public, or at this gateway"
        );
    }
    for (const std::string host : {"8.8.8.8", "hooks.test", "1.test", "0x7f.test", "7eleven"}) {
        CAPTURE(host);
        CHECK(x.objection_to_url("https://" + host + "/").empty());
    }
}

TEST_CASE("a public URL is taken, and what everybody sees to be private is not")
{
    const rig x;
    for (const std::string url :
         {"https://caller.test/hook", "http://8.8.8.8:8080/x?y=1", "https://[2606:4700::1]/", "http://caller.test"}) {
        CAPTURE(url);
        CHECK(x.objection_to_url(url) == "");
    }
    for (const std::string url :
         {"http://127.0.0.1/",
          "http://10.1.2.3/x",
          "http://192.168.0.1/",
          "http://169.254.169.254/latest",
          "http://[::1]/",
          "http://[fd00::1]/",
          "http://[::ffff:127.0.0.1]/",
          "http://localhost/",
          "http://LOCALHOST./",
          "http://a.localhost:9/"}) {
        CAPTURE(url);
        CHECK(x.objection_to_url(url) == "url: is at an address that is not public, or at this gateway");
    }
}

TEST_CASE("what is no http URL, or names a user, is not taken")
{
    const rig x;
    for (const std::string url :
         {"",
          "x",
          "ftp://h/",
          "file:///etc/passwd",
          "gopher://h/",
          "http://",
          "http://user@h/",
          "http://u:p@h/x",
          "http://h/ x"}) {
        CAPTURE(url);
        CHECK(x.objection_to_url(url) == "url: must be an http or https URL without a user");
    }
    CHECK(x.objection_to_url("http://h/?a=b@c") == "");
}

TEST_CASE("push_allow opens private addresses")
{
    rig x;
    x.settings.push_allow = {"127.0.0.0/8", "10.0.0.0/8"};
    CHECK(x.objection_to_url("http://localhost:8080/") == "");
    CHECK(x.objection_to_url("http://10.0.0.1/") == "");
    CHECK(x.objection_to_url("http://192.168.0.1/") == "url: is at an address that is not public, or at this gateway");
}

TEST_CASE("a token or a credential that no field can hold is not taken")
{
    const rig x;
    CHECK(x.objection(R"({"url":"http://h/","token":"a\r\nX: y"})") == "token: must be visible ASCII");
    CHECK(x.objection(R"({"url":"http://h/","token":" a"})") == "token: must be visible ASCII");
    CHECK(x.objection(R"({"url":"http://h/","token":"\u00e4"})") == "token: must be visible ASCII");
    CHECK(
        x.objection(R"({"url":"http://h/","authentication":{"scheme":"Bearer","credentials":"a\nb"}})") ==
        "authentication: must be visible ASCII"
    );
    CHECK(x.objection(R"({"url":"http://h/","token":"a b","authentication":{"scheme":"x","credentials":"y"}})") == "");
}

TEST_CASE("a configuration as large as the limit is taken, and one byte more is not")
{
    rig x;
    x.settings.limits.push_config = 100;
    const auto sized = [&](std::size_t size) {
        const std::string url = "http://h/";
        // Both are counted with their quotes.
        return x.objection(R"({"url":")" + url + R"(","token":")" + std::string(size - url.size() - 4, 't') + "\"}");
    };
    CHECK(sized(99) == "");
    CHECK(sized(100) == "");
    CHECK(sized(101) == ": is a push notification configuration over the limit of its size");
}

TEST_CASE("the agent gets an address of the gateway's and a proof, and nothing of the caller's")
{
    const rig x;
    const std::string body =
        R"({"id":"c","url":"https://caller.test/hook","token":"t","authentication":{"scheme":"S","credentials":"C"}})";
    const auto found = a2a::find_requested_push(new_rpc, a2a::operation::create_push, body);
    REQUIRE(found.has_value());
    const auto text = push_mediation{x.settings, x.known, new_rpc, {}}.mediated(body, "words", *found);
    CHECK(text.find("caller.test") == std::string::npos);
    CHECK(text.starts_with(R"({"id":"c","url":"https://gw.test/agents/words/push/)"));
    const auto again = a2a::find_requested_push(new_rpc, a2a::operation::create_push, text);
    REQUIRE(again.has_value());
    const auto url = again->front().url.substr(1, again->front().url.size() - 2);
    const auto opened = x.addresses->open("words", url.substr(url.rfind('/') + 1));
    REQUIRE(opened.has_value());
    CHECK(opened->url == "https://caller.test/hook");
    CHECK(opened->token == "\"t\"");
    CHECK(opened->authentication == R"({"scheme":"S","credentials":"C"})");
    CHECK(opened->version == a2a::generation::v1);
    CHECK(again->front().token == '"' + opened->proof + '"');
    CHECK(a2a::push_authorization(again->front().authentication) == "Bearer " + opened->proof);
}

TEST_CASE("a method that looks like one of push notifications is told from others")
{
    using gateway::a2a::names_push;
    CHECK(names_push("tasks/pushNotification/set"));
    CHECK(names_push("tasks/push_notification_config/set"));
    CHECK(names_push("CREATETASKPUSHNOTIFICATIONCONFIG"));
    CHECK_FALSE(names_push("message/send"));
    CHECK_FALSE(names_push(""));
}

TEST_SUITE_END();
