#include "a2a/protobuf/methods.hpp"

#include "a2a/protobuf/message_type.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace a2a::protobuf;

namespace {

std::string content(const std::filesystem::path& path)
{
    std::ifstream file{path, std::ios::binary};
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

TEST_CASE("The tables are what protoc says of the pinned files")
{
    const auto folder = std::filesystem::temp_directory_path() / ("cardea-tables-" + std::to_string(std::rand()));
    std::filesystem::create_directories(folder);
    const std::string command = "python3 '" CARDEA_TABLES "/tables.py' '" + folder.string() + "'";
    REQUIRE(std::system(command.c_str()) == 0);
    for (const auto* const name :
         {"tables.hpp", "tables_google.cpp", "tables_v03.cpp", "tables_v1.cpp", "tables_methods.cpp"}) {
        CAPTURE(name);
        CHECK(content(folder / name) == content(std::filesystem::path{CARDEA_TABLES} / name));
    }
    std::filesystem::remove_all(folder);
}

TEST_CASE("Each operation has a method in both services, but for the list of tasks")
{
    CHECK(service_methods().size() == 21);
    for (std::size_t i = 0; i < a2a::operation_count; ++i) {
        const auto what = static_cast<a2a::operation>(i);
        CAPTURE(i);
        for (const auto of : {a2a::generation::v03, a2a::generation::v1}) {
            const auto* const method = service_method_for(what, of);
            REQUIRE((method != nullptr) == (what != a2a::operation::list || of == a2a::generation::v1));
            if (method != nullptr) {
                CHECK(method->streams == a2a::streaming(what));
                CHECK(method->path.starts_with(
                    of == a2a::generation::v1 ? "/lf.a2a.v1.A2AService/" : "/a2a.v1.A2AService/"
                ));
                CHECK(find_service_method(method->path) == method);
            }
        }
    }
}

TEST_CASE("Methods of 1.0 have the names of JSON-RPC")
{
    for (const auto& each : service_methods()) {
        if (each.version == a2a::generation::v1) {
            CHECK(each.path.substr(each.path.rfind('/') + 1) == a2a::name(a2a::method_for(each.what, each.version)));
        }
    }
}

TEST_CASE("A path finds its method exactly")
{
    const auto* const found = find_service_method("/a2a.v1.A2AService/TaskSubscription");
    REQUIRE(found != nullptr);
    CHECK(found->what == a2a::operation::subscribe);
    CHECK(found->request->name == "a2a.v1.TaskSubscriptionRequest");
    CHECK(found->response->name == "a2a.v1.StreamResponse");
    for (const auto* const path :
         {"",
          "/",
          "a2a.v1.A2AService/TaskSubscription",
          "/a2a.v1.A2AService/tasksubscription",
          "/a2a.v1.A2AService/ListTasks",
          "/lf.a2a.v1.A2AService/TaskSubscription",
          "/a2a.v1.A2AService/TaskSubscription/"}) {
        CAPTURE(path);
        CHECK(find_service_method(path) == nullptr);
    }
}
