"""An address of every kind of page, on the releases of `conftest.py`."""

JOBS, SURVEY = "/employment~jobs", "/ors~employment"
PAGES = {
    "home": "/",
    "table": f"{JOBS}?rows=state&cols=sex&noise=on",
    "two rows": f"{JOBS}?rows=state&rows=age&cols=sex&error=interval95",
    "wrapped": f"{JOBS}?rows=age&cols=sex&wrap=state&share=row",
    "sorted": f"{JOBS}?rows=age&cols=sex&sort=total&error=cv",
    "survey": f"{SURVEY}?rows=education&cols=strength",
    "detail": f"{JOBS}?rows=state&cols=sex&cell=west|female",
    "compared": f"{SURVEY}?rows=education&cols=strength&cell=none|light&hold=bachelor|heavy",
    "dots": f"{JOBS}?rows=state&cols=sex&view=chart",
    "bars": f"{JOBS}?rows=age&view=chart&chart=bar",
    "lines": f"{JOBS}?rows=age&view=chart&chart=line",
    "map": f"{JOBS}?rows=state&codelist[state]=leaves&view=map&own=IL,5",
    "shaded map": f"{JOBS}?rows=state&cols=sex&share=row&of=female&view=map",
    "own area": f"{JOBS}?rows=state&codelist[state]=leaves&cols=sex&view=map&drawn[state]=M0 0 1100 0 1100 900 0 900Z",
    "pick": f"{JOBS}/pick?rows=occupation&pick=valueCodes[occupation]&find=nurs",
    "pick a universe": f"{JOBS}/pick?rows=state&pick=sum[occupation]",
    "privacy card": "/privacy/ors",
    "budget": "/budget",
    "found": "/find?q=nurse",
    "help": f"/help?table={SURVEY[1:]}",
    "api": "/api",
    "series": "/series/employment",
    "periods": f"{JOBS}?rows=state&cols=period&cell=west|2026-Q1",
    "changes": f"{JOBS}?rows=state&cols=sex&change=last&cell=west|female",
    "changes drawn": f"{JOBS}?rows=state&change=last&view=chart",
    "german": f"{JOBS}?rows=state&cols=sex&cell=west|female&lang=de",
    "withdrawn": "/employment.2025-Q4~jobs?rows=age&cols=sex&view=chart",
}
REFUSED = {
    "no such page": ("/nowhere", 404),
    "no such code": (f"{JOBS}?rows=state&valueCodes[state]=Atlantis", 400),
    "no such picture": (f"{JOBS}/picture.svg?rows=state", 400),
}
