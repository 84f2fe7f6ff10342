"""Census outlines: states and counties of the United States by the Census Bureau, where plotly-geo is installed.

The package is an extra (`pip install 'sfumato[maps]'`). Its files are works of the United States government, and in
the public domain.
"""

import shutil
from importlib.util import find_spec
from pathlib import Path

from sfumato.synth.qcew_codes import Level

PACKAGE, STATES, COUNTIES = "_plotly_geo", "cb_2016_us_state_500k", "cb_2016_us_county_500k"
SOURCE = "U.S. Census Bureau, cartographic boundary files, 2016, public domain"
WITHOUT = "The areas of maps are made up; `pip install 'sfumato[maps]'` brings the true states and counties"


def beside(folder: Path, name: str) -> str:
    """Copy a file of outlines below a folder, where a plan of that folder finds it by this name; '' without one."""
    found = find_spec(PACKAGE)
    places = [Path(one) / "package_data" for one in (found.submodule_search_locations or ())] if found else []
    held = next((one for one in places if (one / f"{name}.shp").is_file() and (one / f"{name}.dbf").is_file()), None)
    if held is None:
        return ""
    (folder / "shapes").mkdir(parents=True, exist_ok=True)
    for file in held.glob(f"{name}.*"):
        shutil.copyfile(file, folder / "shapes" / file.name)
    return f"shapes/{name}.shp"


def counties_of(file: Path, state: str, label: str) -> list[Level]:
    """A state, by the two digits of its code, and its counties as a file of outlines names them."""
    import shapefile

    with shapefile.Reader(str(file), encodingErrors="replace") as read:
        told = [one.as_dict() for one in read.iterRecords()]
    own = sorted((one["GEOID"], one["NAME"]) for one in told if one["STATEFP"] == state)
    counties: list[Level] = [{"code": code, "label": f"{name}, {label}", "parent": state} for code, name in own]
    return [{"code": state, "label": label, "parent": ""}, *counties]
