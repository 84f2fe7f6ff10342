"""Clients that nobody here wrote and that know PxWebApi 2 alone: every call of pxwebpy and pxstatspy is answered."""

import inspect

import pytest

pxweb = pytest.importorskip("pxweb", reason="pip install pxwebpy")
pxstatspy = pytest.importorskip("pxstatspy", reason="pip install pxstatspy")

JOBS = "jobs-survey~jobs"
LEVEL = "jobs-survey~place~level1"
ALL = ("place", "sex", "age", "trade", "hours")


def public(client):
    return {name for name, one in inspect.getmembers(type(client)) if not name.startswith("_") and callable(one)}


@pytest.fixture(scope="module")
def address(server):
    return f"{str(server.base_url).rstrip('/')}/api/v2"


@pytest.fixture(scope="module")
def webpy(address):
    return pxweb.PxApi(address)


@pytest.fixture(scope="module")
def statspy(address):
    return pxstatspy.PxAPI(pxstatspy.PxAPIConfig(base_url=address))


WEBPY = {
    "get_config": lambda api: api.get_config()["apiVersion"] == "2.0",
    "search": lambda api: len(api.search("jobs", past_days=9, include_discontinued=True, page_size=1)["tables"]) == 1,
    "get_code_list": lambda api: api.get_code_list(LEVEL)["values"][0]["code"] == "N1",
    "get_table_metadata": lambda api: api.get_table_metadata(JOBS)["id"] == [*ALL, "period", "ContentsCode"],
    "get_table_variables": lambda api: len(api.get_table_variables(JOBS)["place"]["codelists"]) == 4,
    "get_table_data": lambda api: api.get_table_data(JOBS)[0]["Estimate and error"] == "Estimate",
    "get_table_data_iter": lambda api: len(list(api.get_table_data_iter(JOBS, {"place": "N1*"}, show="code"))) == 30,
    "get_table_data_all": lambda api: len(api.get_table_data_all(JOBS)) == 15 * 2 * 3 * 8 * 20 * 5,
    "get_table_data_all_iter": lambda api: next(iter(api.get_table_data_all_iter(JOBS)))["Place"] == "North",
    "all_tables": lambda api: [one["id"] for one in api.all_tables()] == [JOBS, "jobs-survey~pay"],
    "tables_on_path": lambda api: len(api.tables_on_path("jobs-survey")) == 2,
    "get_paths": lambda api: [one["id"] for one in api.get_paths()] == ["jobs-survey"],
}


def test_every_call_of_pxwebpy_is_tried(webpy):
    assert public(webpy) == set(WEBPY)


@pytest.mark.parametrize("call", WEBPY)
def test_pxwebpy(webpy, call):
    assert WEBPY[call](webpy)


def test_pxwebpy_reads_the_numbers_of_a_code_list(webpy, engine):
    lines = webpy.get_table_data(JOBS, {"place": ["*"], "sex": "*"}, {"place": LEVEL}, show="code")
    found = {(one["Place"], one["Sex"]): one["value"] for one in lines if one["Estimate and error"] == "estimate"}
    assert found == {key: one.value for key, one in engine.table("place", "sex", at={"place": 1}).items()}


def frame(api, **asked):
    return api.get_data_as_dataframe(JOBS, {"sex": ["*"], "age": ["*"]}, **asked)


STATSPY = {
    "get_config": lambda api, px: api.get_config()["maxDataCells"] == api.max_data_cells,
    "find_tables": lambda api, px: len(api.find_tables("jobs", 9, page_size=1, display=False)["tables"]) == 1,
    "find_tables_as_dataframe": lambda api, px: api.find_tables_as_dataframe("pay", 9).id[0] == JOBS,
    "get_table_by_id": lambda api, px: api.get_table_by_id(JOBS)["firstPeriod"] == "2026-Q1",
    "get_table_metadata": lambda api, px: api.get_table_metadata(JOBS, "json-stat2")["size"] == [15, 2, 3, 8, 20, 1, 5],
    "print_table_variables": lambda api, px: api.print_table_variables(JOBS, variable_id="sex") is None,
    "get_table_data": lambda api, px: api.get_table_data(JOBS, {"trade": ["TOP(2)"]})["size"] == [2, 1, 5],
    "get_data_as_dataframe": lambda api, px: list(frame(api).columns[:3]) == ["Sex", "Age", "Period"],
    "get_table_data_post": lambda api, px: api.get_table_data_post(JOBS, {"selection": []}, px.CSV).startswith("estim"),
}


def test_every_call_of_pxstatspy_is_tried(statspy):
    assert public(statspy) == set(STATSPY)


@pytest.mark.parametrize("call", STATSPY)
def test_pxstatspy(statspy, call):
    assert STATSPY[call](statspy, pxstatspy.OutputFormat)


def test_pxstatspy_takes_a_large_table_in_parts(statspy):
    parts = statspy.get_table_data(JOBS, {name: ["*"] for name in ALL}, output_format=pxstatspy.OutputFormat.JSON_STAT2)
    assert len(parts) > 1
    assert sum(len(one["value"]) for one in parts) == 15 * 2 * 3 * 8 * 20 * 5


def test_pxstatspy_reads_the_numbers(statspy, engine):
    read = statspy.get_data_as_dataframe(JOBS, {"sex": ["*"]}, pxstatspy.OutputFormatParam.USE_CODES)
    expected = {key[0]: (one.value, one.moe(0.90)) for key, one in engine.table("sex").items()}
    assert {one.Sex: (one.estimate, one.moe90) for one in read.itertuples()} == expected


def test_pxstatspy_takes_files_as_it_wants_them(statspy):
    form, wish = pxstatspy.OutputFormat, pxstatspy.OutputFormatParam
    wishes = [wish.USE_CODES, wish.SEPARATOR_SEMICOLON, wish.INCLUDE_TITLE]
    title, head, first, *_ = statspy.get_table_data(
        JOBS, {"sex": ["*"]}, output_format=form.CSV, output_format_params=wishes, heading=["sex"]
    ).splitlines()
    assert title == "Number of jobs by sex"
    assert head.startswith("sex;estimate;moe90;")
    assert first.startswith("female;")
    assert statspy.get_table_data(JOBS, {"sex": ["*"]}, output_format=form.PARQUET)[:4] == b"PAR1"
    assert statspy.get_table_data(JOBS, {"sex": ["*"]}, output_format=form.XLSX)[:2] == b"PK"
    with pytest.raises(pxstatspy.PxAPIError, match="outputFormat is 'px'"):
        statspy.get_table_data(JOBS, {"sex": ["*"]}, output_format=form.PX)
