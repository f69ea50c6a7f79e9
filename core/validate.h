// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "rope_config.h"

#include <vector>

namespace ropewalk {

/// What is impossible (Severity::Error: nothing is drawn) or dubious (Severity::Warning: drawn, with the
/// warning) about a configuration, each beside its field. Thread-safe, pure.
std::vector<Issue> validate(const RopeConfig& config);

bool hasError(const std::vector<Issue>& issues);

/// The first error of `issues`, or null.
const Issue* firstError(const std::vector<Issue>& issues);

} // namespace ropewalk
