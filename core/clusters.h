// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <stop_token>
#include <utility>
#include <vector>

namespace ropewalk {

// Measures of two clouds of points, each given as rows, [count × width], row by row. All are pure and
// thread-safe.

/// The plane in which a cloud spreads most.
struct PrincipalPlane
{
    std::vector<double> mean; ///< [width]
    std::vector<double> first,
        second; ///< directions of length 1, [width]; the loading of largest |value| is positive
    double firstShare = 0.0, secondShare = 0.0; ///< of the variance, 0..1; 0 where there is none

    /// The two coordinates of a row.
    std::pair<double, double> project(std::span<const double> row) const;
};

/// Principal components of the rows: centred on their mean, covariance over count - 1, eigenvalues
/// descending. At least one row; width at least 2.
PrincipalPlane principalPlane(std::span<const double> rows, int width);

/// For each point (b - a)/max(a, b): a is the mean distance to the other points of its cloud, b to those of
/// the other cloud; 0 in a cloud of one, and where both are 0. Euclidean, first cloud first (Rousseeuw 1987).
/// Empty where a stop was asked for.
std::vector<double> silhouetteSamples(std::span<const double> first, std::span<const double> second,
                                      int width, const std::stop_token& stop = {});

/// The mean over all points, -1..1, higher is better separated; NaN where there are none.
double silhouette(std::span<const double> first, std::span<const double> second, int width,
                  const std::stop_token& stop = {});

/// (S_1 + S_2)/M: S the mean distance of a cloud's points to their centroid, M the distance of the centroids;
/// ≥ 0, lower is better separated (Davies and Bouldin 1979). NaN where the centroids are the same or a cloud
/// is empty.
double daviesBouldin(std::span<const double> first, std::span<const double> second, int width);

/// ‖X‖_F²/‖X‖_2², 1 (rank one) to min(count, width); not centred. NaN where every number is 0.
double stableRank(std::span<const double> rows, int width);

/// The mean of the rows, [width]. At least one row.
std::vector<double> centroid(std::span<const double> rows, int width);

/// The distance between two rows.
double distanceBetween(std::span<const double> first, std::span<const double> second);

/// The mean of q_m·k_n over all n ≤ m. As many keys as queries, at least one.
double meanCausalScore(std::span<const double> queries, std::span<const double> keys, int width);

/// The factor on a pair of a cloud's mean after rotation by θ·position over positions 0..count-1:
/// |sin(count·θ/2)/(count·sin(θ/2))|, 1 for |θ| < 1e-9.
double dirichletFactor(double count, double theta);

} // namespace ropewalk
