#include "tests/pages/pages.hpp"

#include <array>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string_view>

namespace {

struct page {
    std::string_view name;
    std::string (*make)();
};

constexpr std::array all{
    page{"answers.md", pages::answers},
    page{"limits.md", pages::limits},
    page{"metrics.md", pages::metrics}
};

std::string read(const std::string& path)
{
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

int usage()
{
    std::cerr << "usage: reference_pages check|write FOLDER\n";
    return 2;
}

}  // namespace

int main(int count, char** arguments)
{
    if (count != 3) {
        return usage();
    }
    const std::string_view verb = arguments[1];
    if (verb != "check" && verb != "write") {
        return usage();
    }
    bool good = true;
    for (const auto& each : all) {
        const auto path = std::string{arguments[2]} + '/' + std::string{each.name};
        const auto text = each.make();
        if (verb == "write") {
            std::ofstream file{path, std::ios::binary};
            file << text << std::flush;
            good = good && file.good();
        } else if (read(path) != text) {
            std::cout << path << " is not what the code says; `reference_pages write docs` writes it\n";
            good = false;
        }
    }
    return good ? 0 : 1;
}
