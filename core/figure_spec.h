// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "provenance.h"
#include "rope_config.h"

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ropewalk {

/// Numbers that are shared between results, figure and view, and never changed again.
using Values = std::shared_ptr<const std::vector<double>>;

/// Makes shared values of a vector.
inline Values makeValues(std::vector<double> values)
{
    return std::make_shared<const std::vector<double>>(std::move(values));
}

/// What an axis counts; decides how its ticks are written.
enum class AxisKind {
    Tokens,    ///< 10, 1k, 4k, 128k, 1M; at powers of two where the axis is linear, of ten where it is
               ///< logarithmic
    Pair,      ///< pair index, whole numbers
    Plain,     ///< a number without unit
    Radians,   ///< rad/token
    Categories ///< a name at each whole number 0, 1, 2, ...
};

/// What a place on an axis picks when it is clicked, in all figures.
enum class AxisMeaning {
    None,
    Pair,          ///< pair index
    Distance,      ///< r = m - n, tokens
    QueryPosition, ///< m, tokens
    KeyPosition    ///< n, tokens
};

struct AxisSpec
{
    Message label;
    AxisKind kind = AxisKind::Plain;
    bool isLogarithmic = false;
    double lower = 0.0, upper = 1.0;      ///< lower < upper; above 0 when logarithmic
    std::vector<Message> categories = {}; ///< of AxisKind::Categories
    AxisMeaning meaning = AxisMeaning::None;
    bool isReversed = false; ///< the lower end lies right, or on top: rows of a matrix
};

/// How a series is drawn. The data of every series goes into JSON and CSV, drawn or not.
enum class SeriesStyle {
    DataOnly, ///< exported, not drawn
    Line,     ///< a curve; min/max per pixel column where it is denser than the pixels
    Markers,  ///< one marker a sample, joined by a faint line (spectrum)
    Bars,     ///< bars from zero
    Steps,    ///< a cumulated sum, as a stepped line
    Points    ///< a cloud: one small marker a sample, x in any order
};

/// Curves of one plot differ by more than colour.
enum class LinePattern { Solid, Dashed, Dotted, DashDot };

/// One curve: y over x. NaN in y is a gap.
struct Series
{
    int configuration = 0; ///< index into FigureSpec::configurations
    std::string name;      ///< contract name, e.g. "similar_mean"
    std::string unit;      ///< of y, e.g. "rad/token"
    std::string xUnit;     ///< e.g. "token", "pair"
    Values x, y;           ///< same length, x ascending
    SeriesStyle style = SeriesStyle::DataOnly;
    bool isEmphasised = false; ///< the heavy line of the first picture
    bool isDashed = false;
    bool isExported = true;      ///< false: drawn only, said already by other series of the data
    bool isOnSecondAxis = false; ///< y belongs to the plot's secondYAxis
    Message label;               ///< written beside the curve; empty: none
    std::optional<int> colour;   ///< index into the theme's curve colours; empty: the configuration's
    LinePattern pattern = LinePattern::Solid;
    Message quantity; ///< what y is, in the read-out at the pointer; empty: `label`
};

/// A filled band between two curves over the same x.
struct Band
{
    int configuration = 0; ///< coloured as this configuration; -1: grey
    Values x, lower, upper;
    Message label;
};

enum class GuideRole {
    Zero,      ///< strong, in the axis colour
    Threshold, ///< one of the rule's own lines, amber
    Training,  ///< the training length, amber
    Selection, ///< the picked pair or distance, accent
};

/// A straight line across the whole plot.
struct GuideLine
{
    bool isVertical = false; ///< at x = `at`; else horizontal at y = `at`
    double at = 0.0;
    GuideRole role = GuideRole::Threshold;
    int configuration = -1; ///< whose it is; -1: everybody's
    Message label;          ///< short text on the line
};

/// A named point. Exported always; `x` and `value` are empty where the point is not within the range.
struct Marker
{
    int configuration = 0;
    std::string name; ///< contract name, e.g. "first_negative"
    std::optional<double> x;
    std::optional<double> value;
    bool isDrawn = false; ///< a ring at (x, drawnAt)
    double drawnAt = 0.0; ///< y of the ring
    Message label;        ///< short text at the ring
};

/// One of the two arrows of a pair, as the attention computes it: A·e^{j·position·θ'}·x.
struct Phasor
{
    int configuration = 0;
    int pair = 0;        ///< rotated pairs first, then still ones
    double position = 0; ///< tokens
    std::string name;    ///< "q" or "k"
    double re = 0.0, im = 0.0;
    bool isStill = false; ///< the pair does not turn; drawn grey
};

/// The complex plane of one configuration: the picked pair large, all pairs small (their arrows are the
/// Phasors).
struct PlanePanel
{
    int configuration = 0;
    int pair = 0;                    ///< the picked pair, within this configuration's pairs
    bool isStill = false;            ///< the picked pair does not turn
    double thetaRadians = 0.0;       ///< θ' of the picked pair, rad/token
    double m = 0.0, n = 0.0;         ///< positions of query and key, tokens
    std::complex<double> query, key; ///< unit arrows of the picked pair, after rotation
    std::complex<double> sweepFrom;  ///< unit arrow that the sweep begins at: k's, or one of two that compose
    double sweepRadians = 0.0;       ///< how far it sweeps, not reduced: (m-n)θ', from k to q
    /// The unit arrow that two turns make together, where the panel is about two turns of the arrow 1.
    std::optional<std::complex<double>> composed;
    Message queryLabel, keyLabel, composedLabel; ///< beside the arrows
    /// Unit directions of q at m-1, m-2, ... (newest first), empty for a still pair.
    std::vector<std::complex<double>> trail;
    int pairCount = 0;    ///< turning and still pairs
    int rotatedPairs = 0; ///< how many of them turn; which, the phasors say
    Message title;        ///< letter and name, above the circle when there are several
    Message caption;      ///< the figure's caption where this panel is shown alone
};

/// The colour tables of maps (resources/colour_maps.json).
enum class ColourTable {
    Viridis,
    Cividis,
    Diverging, ///< about zero; the range is locked symmetric
    Cyclic     ///< angles: both ends alike, even lightness
};

/// A rectangle of cells, row by row; NaN = masked. Pooled exactly as `pooling` says, never in a view. The
/// cells are even in the space of the axes, which may be logarithmic.
struct MapSpec
{
    int configuration = 0;
    std::string name, unit;
    std::int64_t rows = 0, columns = 0, block = 1;
    std::string pooling;               ///< "none", "mean", "min", "max"
    Values values;                     ///< [rows × columns]
    double xLower = 0.0, xUpper = 1.0; ///< axis values at the outer edges of the first and last column
    double yLower = 0.0, yUpper = 1.0; ///< and of the first and last row
    ColourTable colours = ColourTable::Viridis;
    double lower = 0.0, upper = 1.0; ///< values at the ends of the colours; lower < upper
    bool isLogarithmic = false;      ///< colours over the logarithm of the value; lower > 0
    Message label = {};              ///< beside the colour bar: what the value is, with its unit
};

/// What fills a cell of a table.
enum class CellFill {
    None,
    Configuration, ///< the colour of a configuration
    Query,
    Key,
    Pair,  ///< the colour of a pair, fast to slow: `share` 0..1
    Still, ///< grey: does not turn
    Accent ///< picked
};

/// One cell of a table.
struct TableCell
{
    Message text;
    CellFill fill = CellFill::None;
    double share = 0.0;    ///< of CellFill::Pair
    int configuration = 0; ///< of CellFill::Configuration
    bool isStrong = false; ///< bold
    int pair = -1;         ///< the pair that a click on it picks
};

/// A line from one cell to another: a permutation, the two halves of a pair.
struct TableLink
{
    int fromRow = 0, fromColumn = 0, toRow = 0, toColumn = 0;
    CellFill colour = CellFill::None;
    double share = 0.0;
};

/// Texts in rows and columns: numbers of a matrix, channels of a head, published results.
struct TableSpec
{
    std::vector<Message> columnHeads, rowHeads; ///< empty, or one each
    int rows = 0, columns = 0;
    std::vector<TableCell> cells; ///< [rows × columns]
    std::vector<TableLink> links;
    bool isMatrix = false; ///< between square brackets
    int spareColumn = -1;  ///< gives way where all columns together would have to be written small; -1: none
};

/// One picture of a figure: axes with curves or a map, or complex planes, or a table.
struct PlotSpec
{
    Message plotTitle;                                    ///< above it where a figure has several
    int row = 0, column = 0, rowSpan = 1, columnSpan = 1; ///< its place on the figure's grid
    AxisSpec xAxis, yAxis;
    std::optional<AxisSpec> secondYAxis; ///< on the right
    std::vector<Series> series;
    std::vector<Band> bands;
    std::vector<GuideLine> guides;
    std::vector<Marker> markers;
    std::vector<MapSpec> maps;      ///< the first is drawn, under the curves; all are exported
    std::vector<PlanePanel> planes; ///< not empty: complex planes, and no axes
    std::optional<TableSpec> table; ///< a table, and no axes
};

/// A configuration as it appears in a figure.
struct FigureConfiguration
{
    RopeConfig config;
    std::string letter = "A"; ///< A..D
    int colour = 0;           ///< index into the theme's series colours and markers
};

/// A figure as a value, before it is a picture. Window, export, command line and tests share it. It holds the
/// data; the reduction to pixels happens when it is drawn (pooling.h), and exported data is never reduced.
/// It is a plot itself, its main one; figures that need them have more plots beside it.
struct FigureSpec : PlotSpec
{
    std::string id;  ///< "decay"
    Message title;   ///< e.g. "Expected score over distance, similar key"
    Message formula; ///< one line, e.g. "C(r) = 2/d_h · Σ cos rθ′ᵢ"
    Message caption; ///< one line with the present values, the sampling and the assumption
    Message source;  ///< paper and equation
    Message summary; ///< for screen readers and the SVG's description
    Message failure; ///< when not empty nothing is drawn but this sentence, in the place of the figure

    std::vector<FigureConfiguration> configurations;
    std::vector<PlotSpec> more; ///< further plots; where there is no room the main one is shown
    std::vector<double> rowShares, columnShares; ///< of the grid of plots; empty: all alike
    std::vector<Phasor> phasors;                 ///< the arrows of all planes
    std::vector<Issue> notes;
    Provenance provenance;
    bool isCoarse = false; ///< a preview during a drag: fewer distances, said in the caption

    /// All plots, the main one first.
    std::vector<const PlotSpec*> plots() const
    {
        std::vector<const PlotSpec*> all{this};
        for (const PlotSpec& plot : more)
            all.push_back(&plot);
        return all;
    }
};

} // namespace ropewalk
