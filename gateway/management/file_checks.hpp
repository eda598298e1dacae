// Whether the certificates, keys and key sets that a configuration names can be used.
#pragma once

#include "config/tls.hpp"

namespace gateway::management {

// Read files, so they block. Reads the authorities of many agents once: one for each configuration that is read.
config::tls_checks tls_checks();

}  // namespace gateway::management
