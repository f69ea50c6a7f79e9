// SPDX-License-Identifier: GPL-3.0-or-later
#include "clusters.h"

#include <Eigen/Core>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace ropewalk {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Rows = Eigen::Map<const Matrix>;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr Eigen::Index kBlock = 128; ///< rows of distances at a time, about a millisecond

Rows asMatrix(std::span<const double> rows, int width)
{
    assert(width > 0 && rows.size() % static_cast<std::size_t>(width) == 0);
    return {rows.data(), static_cast<Eigen::Index>(rows.size()) / width, width};
}

/// The largest loading is positive, so that a picture does not turn over from one run to the next.
void fixSign(std::vector<double>& direction)
{
    const auto largest = std::max_element(direction.begin(), direction.end(),
                                          [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    if (*largest < 0.0)
        for (double& value : direction)
            value = -value;
}

} // namespace

std::pair<double, double> PrincipalPlane::project(std::span<const double> row) const
{
    assert(row.size() == mean.size());
    double x = 0.0, y = 0.0;
    for (std::size_t i = 0; i < row.size(); ++i) {
        x += (row[i] - mean[i]) * first[i];
        y += (row[i] - mean[i]) * second[i];
    }
    return {x, y};
}

PrincipalPlane principalPlane(std::span<const double> rows, int width)
{
    const Rows points = asMatrix(rows, width);
    assert(points.rows() > 0 && width >= 2);
    const Eigen::RowVectorXd mean = points.colwise().mean();
    const Matrix centred = points.rowwise() - mean;
    const double divisor = std::max<double>(1.0, static_cast<double>(points.rows() - 1));
    PrincipalPlane plane;
    plane.mean.assign(mean.data(), mean.data() + width);
    // Of fewer points than channels the product the other way round has the same eigenvalues, but for zeros;
    // its eigenvectors times the points are the directions.
    const bool isDual = points.rows() < width;
    Eigen::MatrixXd product;
    if (isDual)
        product = centred * centred.transpose() / divisor;
    else
        product = centred.transpose() * centred / divisor;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(product);
    const double whole = product.trace();
    const Eigen::Index last = product.rows() - 1; // eigenvalues ascend
    const auto share = [&](Eigen::Index column) {
        return column < 0 || !(whole > 0.0) ? 0.0 : std::max(0.0, solver.eigenvalues()[column]) / whole;
    };
    plane.firstShare = share(last);
    plane.secondShare = share(last - 1);
    const auto direction = [&](Eigen::Index column, const Eigen::VectorXd& other) {
        Eigen::VectorXd vector = Eigen::VectorXd::Zero(width);
        if (!isDual)
            vector = solver.eigenvectors().col(column);
        else if (column >= 0 && share(column) > 1e-14)
            vector = (centred.transpose() * solver.eigenvectors().col(column)).normalized();
        // Where nothing spreads any direction will do that is at right angles to the first.
        for (Eigen::Index channel = 0; vector.isZero() && channel < width; ++channel) {
            vector = Eigen::VectorXd::Unit(width, channel);
            vector -= other.dot(vector) * other;
            if (vector.norm() < 0.5)
                vector.setZero();
            else
                vector.normalize();
        }
        return vector;
    };
    const Eigen::VectorXd first = direction(last, Eigen::VectorXd::Zero(width));
    const Eigen::VectorXd second = direction(last - 1, first);
    plane.first.assign(first.data(), first.data() + width);
    plane.second.assign(second.data(), second.data() + width);
    fixSign(plane.first);
    fixSign(plane.second);
    return plane;
}

std::vector<double> silhouetteSamples(std::span<const double> first, std::span<const double> second,
                                      int width, const std::stop_token& stop)
{
    const Rows a = asMatrix(first, width);
    const Rows b = asMatrix(second, width);
    const Eigen::Index count = a.rows() + b.rows();
    if (count == 0)
        return {};
    Matrix points(count, width);
    points << a, b;
    // |x - y|² as |x|² + |y|² - 2x·y is one product of matrices. Centred, so that little is lost in the
    // difference.
    const Eigen::RowVectorXd mean = points.colwise().mean();
    points.rowwise() -= mean;
    const Eigen::VectorXd squares = points.rowwise().squaredNorm();
    std::vector<double> samples(static_cast<std::size_t>(count));
    Matrix distances;
    for (Eigen::Index row = 0; row < count; row += kBlock) {
        if (stop.stop_requested())
            return {};
        const Eigen::Index rows = std::min(kBlock, count - row);
        distances.noalias() = -2.0 * points.middleRows(row, rows) * points.transpose();
        for (Eigen::Index i = 0; i < rows; ++i) {
            double toFirst = 0.0, toSecond = 0.0;
            for (Eigen::Index j = 0; j < count; ++j) {
                const double sum = squares[row + i] + squares[j];
                double square = distances(i, j) + sum;
                if (square < 1e-5 * sum) // too near for the difference of large numbers
                    square = (points.row(row + i) - points.row(j)).squaredNorm();
                (j < a.rows() ? toFirst : toSecond) += std::sqrt(square);
            }
            const bool isFirst = row + i < a.rows();
            const Eigen::Index own = isFirst ? a.rows() : b.rows();
            const Eigen::Index other = count - own;
            const double within =
                (isFirst ? toFirst : toSecond) / static_cast<double>(std::max<Eigen::Index>(1, own - 1));
            const double between =
                (isFirst ? toSecond : toFirst) / static_cast<double>(std::max<Eigen::Index>(1, other));
            const double larger = std::max(within, between);
            samples[static_cast<std::size_t>(row + i)] =
                own == 1 || other == 0 || !(larger > 0.0) ? 0.0 : (between - within) / larger;
        }
    }
    return samples;
}

double silhouette(std::span<const double> first, std::span<const double> second, int width,
                  const std::stop_token& stop)
{
    const std::vector<double> samples = silhouetteSamples(first, second, width, stop);
    double sum = 0.0;
    for (const double sample : samples)
        sum += sample;
    return samples.empty() ? kNone : sum / static_cast<double>(samples.size());
}

std::vector<double> centroid(std::span<const double> rows, int width)
{
    const Rows points = asMatrix(rows, width);
    assert(points.rows() > 0);
    const Eigen::RowVectorXd mean = points.colwise().mean();
    return {mean.data(), mean.data() + width};
}

double distanceBetween(std::span<const double> first, std::span<const double> second)
{
    assert(first.size() == second.size());
    double square = 0.0;
    for (std::size_t i = 0; i < first.size(); ++i)
        square += (first[i] - second[i]) * (first[i] - second[i]);
    return std::sqrt(square);
}

double daviesBouldin(std::span<const double> first, std::span<const double> second, int width)
{
    if (first.empty() || second.empty())
        return kNone;
    const auto spread = [&](std::span<const double> rows, const std::vector<double>& middle) {
        const Rows points = asMatrix(rows, width);
        const Eigen::Map<const Eigen::RowVectorXd> at(middle.data(), width);
        return (points.rowwise() - at).rowwise().norm().mean();
    };
    const std::vector<double> middleFirst = centroid(first, width);
    const std::vector<double> middleSecond = centroid(second, width);
    const double between = distanceBetween(middleFirst, middleSecond);
    return between > 0.0 ? (spread(first, middleFirst) + spread(second, middleSecond)) / between : kNone;
}

double stableRank(std::span<const double> rows, int width)
{
    const Rows points = asMatrix(rows, width);
    // The same eigenvalues from the smaller of both products.
    Eigen::MatrixXd product;
    if (points.rows() < points.cols())
        product = points * points.transpose();
    else
        product = points.transpose() * points;
    const double whole = product.trace();
    if (!(whole > 0.0))
        return kNone;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(product, Eigen::EigenvaluesOnly);
    return whole / solver.eigenvalues().maxCoeff();
}

double meanCausalScore(std::span<const double> queries, std::span<const double> keys, int width)
{
    const Rows q = asMatrix(queries, width);
    const Rows k = asMatrix(keys, width);
    assert(q.rows() == k.rows() && q.rows() > 0);
    Eigen::RowVectorXd seen = Eigen::RowVectorXd::Zero(width);
    double sum = 0.0;
    for (Eigen::Index m = 0; m < q.rows(); ++m) {
        seen += k.row(m);
        sum += q.row(m).dot(seen);
    }
    const auto count = static_cast<double>(q.rows());
    return sum / (count * (count + 1.0) / 2.0);
}

double dirichletFactor(double count, double theta)
{
    if (std::fabs(theta) < 1e-9)
        return 1.0;
    return std::fabs(std::sin(count * theta / 2.0) / (count * std::sin(theta / 2.0)));
}

} // namespace ropewalk
