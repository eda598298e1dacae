#include "jose/algorithms.hpp"

namespace jose {

std::string_view name(jws_algorithm algorithm) noexcept
{
    return facts_of(algorithm).name;
}

std::optional<jws_algorithm> jws_algorithm_named(std::string_view name) noexcept
{
    const auto* found = std::ranges::find(all_algorithms, name, &algorithm_facts::name);
    return found == all_algorithms.end() ? std::nullopt : std::optional{found->algorithm};
}

}  // namespace jose
