// SPDX-License-Identifier: GPL-3.0-or-later
#include "cuda_backend.h"

#include "cuda_calls.h"
#include "cuda_check.h"
#include "cuda_probe.h"
#include "device_buffer.h"
#include "kept_rows.h"
#include "kernels/launch.h"

#include <cassert>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

namespace ropewalk {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Queries × keys from which the GPU wins over two cores: copying and launching cost what 1024² cells cost
/// there.
constexpr std::int64_t kWorthwhileCells = std::int64_t{1024} * 1024;
/// Rows that are brought over and turned at a time.
constexpr std::int64_t kRowsAtATime = 8192;
/// Distances of a launch: some milliseconds on a small GPU, whose doubles are slow.
constexpr std::int64_t kDistancesAtATime = std::int64_t{1} << 17;
/// Cells of a strip: a few milliseconds. Its rows are whole tiles.
constexpr std::int64_t kStripCells = std::int64_t{1} << 28;
constexpr std::int64_t kMostStripRows = 4096;
/// Numbers that the rows of a strip may gather: 64 MiB of them.
constexpr std::int64_t kPooledNumbers = std::int64_t{1} << 22;

struct Stopped
{
};

std::size_t at(std::int64_t index)
{
    return static_cast<std::size_t>(index);
}

bool isFloat(ScorePrecision precision)
{
    return precision != ScorePrecision::Double;
}

kernels::Rounding roundingOf(ScorePrecision precision)
{
    switch (precision) {
    case ScorePrecision::Tf32:
        return kernels::Rounding::Tf32;
    case ScorePrecision::Bf16:
        return kernels::Rounding::Bf16;
    default:
        return kernels::Rounding::None;
    }
}

/// Only tiles may be in less than double (score_map.h).
ScorePrecision precisionOfMap(const ScoreMapOp& op)
{
    return op.path == ScorePath::Tiles ? op.precision : ScorePrecision::Double;
}

/// Damping is taken apart within a tile, and neither factor may leave the range of its type.
bool isDampingInRange(const ScoreMapOp& op)
{
    const double limit = isFloat(precisionOfMap(op)) ? 80.0 : 700.0;
    double steepest = 0.0;
    for (const ScoreTerm& term : op.terms)
        for (const double rate : term.dampingRate)
            steepest = std::max(steepest, std::fabs(rate));
    return steepest * static_cast<double>(op.stride) * (kernels::kScoreTile / 2) <= limit;
}

/// The kernels of one run, on the buffers and the rows of all.
class CudaRun
{
public:
    /// `mayKeep`: rows that are brought over stay for later runs.
    CudaRun(const CudaCalls& calls, DeviceBuffers& buffers, KeptRows& keptRows, bool mayKeep,
            std::stop_token stop)
        : m_calls(calls)
        , m_buffers(buffers)
        , m_keptRows(keptRows)
        , m_stop(std::move(stop))
    {
        check(m_calls, m_calls.useDevice());
        m_buffers.restart();
        m_keptRows.restart(mayKeep);
    }

    void run(const RotateOp& op)
    {
        assert(op.input.size() == op.output.size() && op.pairs.size() == op.invFreq.size());
        std::vector<double> thetas;
        std::vector<std::pair<int, int>> turning;
        for (std::size_t i = 0; i < op.pairs.size(); ++i)
            if (op.invFreq[i] != 0.0) {
                thetas.push_back(op.invFreq[i]);
                turning.push_back(op.pairs[i]);
            }
        const auto width = static_cast<int>(op.input.size());
        const kernels::RowLayout layout = layoutOf(width, width, turning);
        const double* const theta = m_buffers.copyOf(thetas);
        double* const cosine = m_buffers.take<double>(thetas.size());
        double* const sine = m_buffers.take<double>(thetas.size());
        kernels::launchTurnTable(theta, layout.pairCount, op.position, 1.0, 1, op.attentionFactor, cosine,
                                 sine);
        const double* const input = m_buffers.copyOf(op.input);
        double* const output = m_buffers.take<double>(op.output.size());
        kernels::launchRotateRows(input, output, 1, 1, layout, cosine, sine, kernels::Rounding::None);
        finish(op.output, output);
    }

    void run(const PairContributionOp& op)
    {
        std::vector<int> pairs;
        for (const auto& [a, b] : op.pairs)
            pairs.insert(pairs.end(), {a, b});
        double* const contribution = m_buffers.take<double>(op.contribution.size());
        kernels::launchPairContributions(m_buffers.copyOf(pairs), static_cast<int>(op.pairs.size()),
                                         m_buffers.copyOf(op.query), m_buffers.copyOf(op.key), contribution);
        finish(op.contribution, contribution);
    }

    void run(const DistanceTableOp& op)
    {
        kernels::DistanceSums sums;
        sums.re = m_buffers.copyOf(op.re);
        sums.im = m_buffers.copyOf(op.im);
        sums.invFreq = m_buffers.copyOf(op.invFreq);
        sums.dampingRate = m_buffers.copyOf(op.dampingRate);
        sums.pairs = static_cast<int>(op.invFreq.size());
        sums.attentionFactor = op.attentionFactor;
        sums.still = op.still;
        const auto count = static_cast<std::int64_t>(op.table.size());
        double* const table = m_buffers.take<double>(at(std::min(count, kDistancesAtATime)));
        for (std::int64_t first = 0; first < count; first += kDistancesAtATime) {
            pollStop();
            const std::int64_t here = std::min(kDistancesAtATime, count - first);
            kernels::launchDistanceTable(sums, op.firstDistance + first, here, table);
            finish(op.table.subspan(at(first), at(here)), table);
        }
    }

    void run(const DecayOp& op)
    {
        std::vector<double> thetas, rates;
        for (std::size_t i = 0; i < op.invFreq.size(); ++i)
            if (op.invFreq[i] != 0.0) {
                thetas.push_back(op.invFreq[i]);
                if (!op.dampingRate.empty())
                    rates.push_back(op.dampingRate[i]);
            }
        kernels::DecaySums sums;
        sums.invFreq = m_buffers.copyOf(thetas);
        sums.dampingRate = m_buffers.copyOf(rates);
        sums.pairs = static_cast<int>(thetas.size());
        sums.stillPairs = op.pairCount - sums.pairs;
        sums.attentionFactor = op.attentionFactor;
        sums.rho = op.rho;
        struct Output
        {
            std::span<double> host;
            double** device;
        };
        const Output outputs[] = {{op.similarMean, &sums.similarMean},
                                  {op.similarSd, &sums.similarSd},
                                  {op.independentSd, &sums.independentSd},
                                  {op.cosineSum, &sums.cosineSum},
                                  {op.boundFactor, &sums.boundFactor}};
        std::int64_t count = 0;
        for (const Output& output : outputs)
            count = std::max(count, static_cast<std::int64_t>(output.host.size()));
        const std::size_t most = at(std::min(count, kDistancesAtATime));
        for (const Output& output : outputs)
            if (!output.host.empty())
                *output.device = m_buffers.take<double>(most);
        double* const distances = op.distances.empty() ? nullptr : m_buffers.take<double>(most);
        sums.distances = distances;
        for (std::int64_t first = 0; first < count; first += kDistancesAtATime) {
            pollStop();
            const std::size_t here = at(std::min(kDistancesAtATime, count - first));
            sums.first = op.firstDistance + first;
            if (distances)
                m_buffers.toDevice(distances, op.distances.subspan(at(first), here));
            kernels::launchDecay(sums, static_cast<std::int64_t>(here));
            for (const Output& output : outputs)
                if (!output.host.empty())
                    finish(output.host.subspan(at(first), here), *output.device);
        }
    }

    void run(const ScoreMapOp& op)
    {
        if (isFloat(precisionOfMap(op)))
            runMap<float>(op);
        else
            runMap<double>(op);
    }

private:
    void pollStop() const
    {
        if (m_stop.stop_requested())
            throw Stopped{};
    }

    /// Brings a result back, after the launches before it were looked at.
    template<class Number>
    void finish(std::span<Number> to, const Number* from)
    {
        check(m_calls, m_calls.lastError());
        m_buffers.toHost(to, from);
    }

    kernels::RowLayout layoutOf(int width, int outWidth, std::span<const std::pair<int, int>> turning)
    {
        std::vector<bool> turns(static_cast<std::size_t>(width));
        std::vector<int> pairs, still;
        for (const auto& [a, b] : turning) {
            pairs.insert(pairs.end(), {a, b});
            turns[static_cast<std::size_t>(a)] = turns[static_cast<std::size_t>(b)] = true;
        }
        for (int channel = 0; channel < width; ++channel)
            if (!turns[static_cast<std::size_t>(channel)])
                still.push_back(channel);
        return {width,
                outWidth,
                m_buffers.copyOf(pairs),
                static_cast<int>(turning.size()),
                m_buffers.copyOf(still),
                static_cast<int>(still.size())};
    }

    /// What rows are turned with, and where those pass through that are not kept.
    template<class Real>
    struct RowTurner
    {
        kernels::RowLayout layout;
        const double* theta;
        double* staged;
        Real *cosine, *sine;
    };

    /// Rows firstRow, firstRow+1, … of `source`, turned as the positions of `cells` ask; `identity` is that
    /// of the first row of `source`.
    template<class Real>
    const Real* turnedRows(const ScoreMapOp& op, const ScoreTerm& term, const RowTurner<Real>& turner,
                           std::span<const double> source, RowsIdentity identity, std::int64_t firstRow,
                           CellRange cells)
    {
        const std::int64_t count = cells.end - cells.first;
        assert(at((firstRow + count) * term.width) <= source.size());
        source = source.subspan(at(firstRow * term.width));
        identity.first += firstRow;
        Real* const rows = m_buffers.take<Real>(at(count * turner.layout.outWidth));
        const double* const kept = m_keptRows.find(identity, count, term.width);
        std::unique_ptr<KeptRows::Rows> room;
        if (!kept)
            room = m_keptRows.roomFor(identity, count, term.width);
        for (std::int64_t first = 0; first < count; first += kRowsAtATime) {
            pollStop();
            const std::int64_t here = std::min(kRowsAtATime, count - first);
            const double* unturned = nullptr;
            if (kept) {
                unturned = kept + first * term.width;
            } else {
                double* const brought = room ? room->numbers + first * term.width : turner.staged;
                m_buffers.toDevice(brought, source.subspan(at(first * term.width), at(here * term.width)));
                unturned = brought;
            }
            const auto position = static_cast<double>((cells.first + first) * op.stride + op.offset);
            kernels::launchTurnTable(turner.theta, turner.layout.pairCount, position,
                                     static_cast<double>(op.stride), here, term.attentionFactor,
                                     turner.cosine, turner.sine);
            kernels::launchRotateRows(unturned, rows + first * turner.layout.outWidth, here, 1, turner.layout,
                                      turner.cosine, turner.sine, roundingOf(op.precision));
            check(m_calls, m_calls.lastError());
        }
        if (room)
            m_keptRows.keep(std::move(room)); // they are all there
        return rows;
    }

    template<class Real>
    kernels::TermView<Real> viewOf(const ScoreMapOp& op, const ScoreTerm& term, CellRange rows,
                                   CellRange keys)
    {
        kernels::TermView<Real> view;
        view.weight = static_cast<Real>(term.weight);
        std::vector<Real> factors(at(rows.end - rows.first), static_cast<Real>(term.scale));
        for (std::size_t i = 0; i < term.rowScale.size(); ++i)
            factors[i] = static_cast<Real>(term.scale * term.rowScale[i]);
        view.rowFactor = m_buffers.copyOf(factors);
        if (!term.table.empty()) {
            view.table = m_buffers.copyOf(term.table);
            view.firstDistance = term.firstDistance;
            return view;
        }
        constexpr int kDepth = kernels::kProductDepth;
        view.width = std::max(1, (term.width + kDepth - 1) / kDepth) * kDepth;
        if (!term.dampingRate.empty()) {
            std::vector<double> damping(static_cast<std::size_t>(view.width), 0.0);
            for (std::size_t i = 0; i < term.pairs.size(); ++i)
                damping[static_cast<std::size_t>(term.pairs[i].first)] =
                    damping[static_cast<std::size_t>(term.pairs[i].second)] =
                        term.dampingRate[i] * static_cast<double>(op.stride);
            view.damping = m_buffers.copyOf(damping);
        }
        const std::int64_t most =
            std::min(kRowsAtATime, std::max(rows.end - rows.first, keys.end - keys.first));
        RowTurner<Real> turner;
        turner.layout = layoutOf(term.width, view.width, term.pairs);
        turner.theta = m_buffers.copyOf(term.invFreq);
        turner.staged = m_buffers.take<double>(at(most * term.width));
        turner.cosine = m_buffers.take<Real>(at(most) * term.invFreq.size());
        turner.sine = m_buffers.take<Real>(at(most) * term.invFreq.size());
        view.queries = turnedRows(op, term, turner, term.queries, term.queriesAre, 0, rows);
        view.keys = turnedRows(op, term, turner, term.keys, term.keysAre, keys.first - op.firstKey, keys);
        return view;
    }

    kernels::MapView mapViewOf(const ScoreMapOp& op, CellRange rows, CellRange keys)
    {
        const ScoreGrid& grid = op.grid;
        kernels::MapView map;
        map.length = grid.length;
        map.window = grid.window;
        map.isCausal = grid.isCausal;
        map.firstRow = rows.first;
        map.firstKey = keys.first;
        map.endKey = keys.end;
        map.firstColumn = grid.columns().first;
        map.endColumn = std::min(grid.columns().end, keys.end);
        map.block = grid.block;
        map.firstRowBlock = grid.firstRowBlock;
        map.firstColumnBlock = grid.firstColumnBlock;
        map.columnBlocks = grid.columnBlocks;
        map.deadQueries = m_buffers.copyOf(op.deadQueries);
        if (!op.deadKeys.empty()) {
            const auto dead = op.deadKeys.subspan(at(keys.first - op.firstKey), at(keys.end - keys.first));
            std::vector<std::int32_t> before(dead.size() + 1, 0);
            for (std::size_t i = 0; i < dead.size(); ++i)
                before[i + 1] = before[i] + (dead[i] != 0 ? 1 : 0);
            map.deadKeys = m_buffers.copyOf(dead);
            map.deadBefore = m_buffers.copyOf(before);
        }
        return map;
    }

    template<class Real>
    void runMap(const ScoreMapOp& op)
    {
        const bool isSoftmax = op.stage == ScoreStage::Softmax;
        const ScoreGrid& grid = op.grid;
        const CellRange rows = grid.rows();
        const CellRange keys = isSoftmax ? CellRange{0, grid.keysOf(rows.end - 1).end} : grid.columns();
        const kernels::MapView map = mapViewOf(op, rows, keys);
        std::vector<kernels::TermView<Real>> views;
        for (const ScoreTerm& term : op.terms)
            views.push_back(viewOf<Real>(op, term, rows, keys));
        // Some bytes of it are no number's: they are copied, not read.
        const kernels::TermList<Real> terms{m_buffers.copyOf(views), static_cast<int>(views.size()),
                                            views.size() == 1 && views[0].width > 0 && !views[0].damping};

        std::int64_t stripRows =
            std::min({kStripCells / grid.length, kPooledNumbers / grid.columnBlocks, kMostStripRows});
        stripRows = std::max<std::int64_t>(stripRows / kernels::kScoreTile, 1) * kernels::kScoreTile;
        const std::size_t mostRows = at(std::min(stripRows, rows.end - rows.first));
        const std::size_t parts = at((keys.end - keys.first + kernels::kKeysAPart - 1) / kernels::kKeysAPart);
        const std::size_t partials = isSoftmax ? mostRows * parts * views.size() : 0;
        const std::size_t ofRows = isSoftmax ? mostRows * views.size() : 0;
        const std::size_t pooledCount = mostRows * at(grid.columnBlocks);
        const std::size_t blockCount = at(grid.rowBlocks * grid.columnBlocks);
        const kernels::RowParts<Real> rowParts{m_buffers.take<Real>(partials),
                                               m_buffers.take<double>(partials),
                                               m_buffers.take<double>(partials)};
        const kernels::RowTotals<Real> totals{m_buffers.take<Real>(ofRows), m_buffers.take<Real>(ofRows)};
        const kernels::PooledRows<Real> pooled{m_buffers.take<double>(pooledCount),
                                               m_buffers.take<Real>(pooledCount),
                                               m_buffers.take<Real>(pooledCount)};
        const kernels::Blocks<Real> blocks{m_buffers.take<double>(blockCount),
                                           m_buffers.take<Real>(blockCount), m_buffers.take<Real>(blockCount),
                                           m_buffers.take<std::int64_t>(blockCount)};
        double* const rowValue = op.rowValue.empty() ? nullptr : m_buffers.take<double>(op.rowValue.size());
        kernels::launchClearBlocks(blocks, static_cast<std::int64_t>(blockCount));

        for (std::int64_t first = rows.first; first < rows.end; first += stripRows) {
            pollStop();
            const kernels::Strip strip{first, std::min(first + stripRows, rows.end)};
            if (isSoftmax) {
                kernels::launchRowParts(map, terms, strip, rowParts);
                kernels::launchRowTotals(map, terms, strip, rowParts, totals, rowValue);
            }
            kernels::launchPooledRows(map, terms, strip, isSoftmax ? &totals : nullptr, pooled);
            kernels::launchGatherBlocks(map, strip, pooled, blocks);
            if (!isSoftmax && rowValue)
                kernels::launchRowMeans(map, strip, pooled, rowValue);
            check(m_calls, m_calls.lastError());
            check(m_calls, m_calls.synchronize());
            if (op.progress)
                op.progress(static_cast<double>(strip.end - rows.first) /
                            static_cast<double>(rows.end - rows.first));
        }
        bringBack(op, blocks, blockCount);
        m_buffers.toHost(op.rowValue, rowValue);
    }

    template<class Real>
    void bringBack(const ScoreMapOp& op, const kernels::Blocks<Real>& blocks, std::size_t count)
    {
        std::vector<std::int64_t> cells(count);
        m_buffers.toHost(std::span(cells), blocks.count);
        if (!op.mean.empty()) {
            m_buffers.toHost(op.mean, blocks.sum);
            for (std::size_t i = 0; i < count; ++i)
                op.mean[i] = cells[i] == 0 ? kNaN : op.mean[i] / static_cast<double>(cells[i]);
        }
        std::vector<Real> extremes(count);
        const auto bring = [&](std::span<double> to, const Real* from) {
            if (to.empty())
                return;
            m_buffers.toHost(std::span(extremes), from);
            for (std::size_t i = 0; i < count; ++i)
                to[i] = cells[i] == 0 ? kNaN : static_cast<double>(extremes[i]);
        };
        bring(op.least, blocks.least);
        bring(op.greatest, blocks.greatest);
        std::copy_n(cells.begin(), op.count.size(), op.count.begin());
    }

    const CudaCalls& m_calls;
    DeviceBuffers& m_buffers;
    KeptRows& m_keptRows;
    std::stop_token m_stop;
};

class CudaBackend final : public ComputeBackend
{
public:
    explicit CudaBackend(const CudaCalls& calls)
        : m_calls(calls)
        , m_buffers(m_calls)
        , m_keptRows(m_calls)
    {
    }

    Info info() const override { return {"cuda", m_probe ? m_probe->device : "not asked yet", "double"}; }

    Result<void> status() const override
    {
        if (!m_probe)
            m_probe = probeCuda(m_calls);
        return m_probe->status;
    }

    bool supports(const Operation& operation) const override
    {
        const auto* map = std::get_if<ScoreMapOp>(&operation);
        return !map || isDampingInRange(*map);
    }

    bool isWorthwhile(const Operation& operation) const override
    {
        const auto* map = std::get_if<ScoreMapOp>(&operation);
        if (!map || map->path != ScorePath::Tiles || !isFloat(map->precision))
            return false;
        const CellRange rows = map->grid.rows(), columns = map->grid.columns();
        const std::int64_t keys =
            map->stage == ScoreStage::Softmax ? map->grid.length : columns.end - columns.first;
        const auto hasRows = [](const ScoreTerm& term) { return term.table.empty(); };
        return (rows.end - rows.first) * keys >= kWorthwhileCells &&
               std::any_of(map->terms.begin(), map->terms.end(), hasRows);
    }

    std::string precisionOf(const Operation& operation) const override
    {
        const auto* map = std::get_if<ScoreMapOp>(&operation);
        return std::string(scorePrecisionName(map ? precisionOfMap(*map) : ScorePrecision::Double));
    }

    Result<void> run(const Operation& operation, std::stop_token stop) override
    {
        if (Result<void> usable = status(); !usable)
            return usable;
        try {
            if (stop.stop_requested())
                throw Stopped{};
            try {
                compute(operation, true, stop);
            } catch (const CudaFailure& failure) {
                if (failure.code != kCudaOutOfMemory)
                    throw;
                // What earlier runs left must not be what this one lacks.
                giveAllBack();
                compute(operation, false, stop);
            }
            return {};
        } catch (const Stopped&) {
            return Error{ErrorCode::Cancelled, "stopped", {}};
        } catch (const CudaFailure& failure) {
            giveAllBack();
            return failure.error;
        }
    }

private:
    void compute(const Operation& operation, bool mayKeep, const std::stop_token& stop)
    {
        CudaRun run(m_calls, m_buffers, m_keptRows, mayKeep, stop);
        std::visit([&](const auto& op) { run.run(op); }, operation);
    }

    /// After a failure.
    void giveAllBack()
    {
        m_calls.lastError(); // or the next run would meet it
        m_buffers.releaseAll();
        m_keptRows.forgetAll();
    }

    CudaCalls m_calls;
    DeviceBuffers m_buffers;
    KeptRows m_keptRows;
    mutable std::optional<CudaProbe> m_probe; ///< once asked
};

} // namespace

std::unique_ptr<ComputeBackend> makeCudaBackend(const CudaCalls& calls)
{
    return std::make_unique<CudaBackend>(calls);
}

std::unique_ptr<ComputeBackend> makeCudaBackend()
{
    return makeCudaBackend(cudaCalls());
}

} // namespace ropewalk
