"""Results in other shapes."""

import pickle

import gyrator
import numpy as np
import pytest


@pytest.fixture(scope="module")
def result(ball):
    return ball.simulate(stop=1)


def test_pandas(result):
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert frame.index.name == "time" and np.array_equal(frame["h"].to_numpy(), result["h"])
    assert frame.attrs["units"]["h"] == "m"


def test_polars(result):
    pytest.importorskip("polars")
    frame = result.to_polars()
    assert frame.columns[0] == "time" and frame["v"].to_list()[-1] == result.last("v")
    pyarrow = pytest.importorskip("pyarrow")
    table = pytest.importorskip("polars").DataFrame(pyarrow.table(result))
    assert table.columns[0] == "time" and table["v"].to_list()[-1] == result.last("v")


def test_xarray(result):
    pytest.importorskip("xarray")
    data = result.to_xarray()
    assert data["h"].attrs == {"units": "m", "long_name": "Height"}
    assert np.array_equal(data["h"].values, result["h"])


def test_arrow(result):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(result)
    assert table.column_names[0] == "time" and table["h"].to_numpy()[-1] == result.last("h")
    assert table.schema.field("h").metadata[b"unit"] == b"m"


def test_types_of_columns():
    model = gyrator.loads("model M Integer n = integer(3*time); Boolean b = time > 0.5; end M;")
    result = model.simulate()
    pytest.importorskip("polars")
    frame = result.to_polars()
    assert frame["n"].to_list()[-1] == 3 and frame["b"].to_list()[-1] is True


def test_pictures(result, tmp_path):
    assert result.svg("h").lstrip().startswith("<svg")
    page = result._repr_html_()
    assert page.startswith("<iframe srcdoc=") and "&lt;svg" in page and "http://" not in page.replace("http://www.w3.org", "")
    with pytest.raises(gyrator.UnknownName):
        result.svg("H_")
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    axes = result.plot("h", "v")
    assert len(axes.lines) == 2 and axes.get_xlabel() == "time [s]"


def test_ranges_of_subscripts():
    result = gyrator.loads(
        "model M record R Real v = 1; Real w[2] = {1, 2}; end R; R b[2]; Real T[3] = {1, 2, 3}*time;"
        " Real x[2, 2] = [1, 2; 3, 4]*time; end M;"
    ).simulate(intervals=2)
    for given, names in {
        "T[1]": ["T[1]"],
        "T[1:2]": ["T[1]", "T[2]"],
        "T[1:2:3]": ["T[1]", "T[3]"],
        "T[:]": ["T[1]", "T[2]", "T[3]"],
        "x[:,2]": ["x[1,2]", "x[2,2]"],
        "x[:, 1:2]": ["x[1,1]", "x[1,2]", "x[2,1]", "x[2,2]"],
        "b[:].v": ["b[1].v", "b[2].v"],
        "b[1:2].w[1:2]": ["b[1].w[1]", "b[2].w[2]"],
    }.items():
        assert result._chosen((given,)) == names
        assert result.svg(given) == result.svg(*names)
    for wrong, said in {
        "T[a:b]": "write a range",
        "T[1:0:3]": "write a range",
        "T[2:1]": "no variable",
        "y[:]": "no variable",
        "T[1:999999999]": "more than 100000",
        "b[1:2].w[1:1]": "different lengths",
    }.items():
        with pytest.raises(gyrator.CallError, match=said):
            result.svg(wrong)
    with pytest.raises(gyrator.UnknownName, match=r"no variable `T\[4\]`"):
        result.svg("T[3:4]")


def test_results_are_pickled(result):
    copy = pickle.loads(pickle.dumps(result))
    assert copy.names == result.names and copy.units == result.units
    assert np.array_equal(copy["v"], result["v"])
    assert copy.svg("h") == result.svg("h")


def test_mapping(result):
    assert set(result) >= {"h", "v"} and len(result) == len(result.names)
    assert result.statistics["state_events"] >= 1
    assert "Ball" in repr(result)
