#pragma once

#include "a2a/dialect/error.hpp"
