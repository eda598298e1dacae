#pragma once

#include "core/ascii.hpp"
