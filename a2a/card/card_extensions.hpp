#pragma once

#include "a2a/extension_header.hpp"
