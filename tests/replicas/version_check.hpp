// Judges a history by the versions that the gateways gave: the numbers are dense, acknowledged writes are there in the order in which they
// were acknowledged, refused ones are not, of those whose outcome is unknown each at most once, what was there in the end is what the trail
// says, fresh reads are linearizable, and a replica never goes back. Exact but for writes of unknown outcome, whose lines it gives them as
// it likes.
#pragma once

#include "tests/replicas/history.hpp"

namespace replicas {

// The first few problems.
verdict check_versions(const history& all);

}  // namespace replicas
