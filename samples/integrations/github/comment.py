"""Write the summary of `sassan check` as the one comment of a pull request: that of the run before is replaced.

    python comment.py sassan-summary.txt    # in a run of GitHub Actions for a pull request, with TOKEN; elsewhere it does nothing
"""

import json
import os
import sys
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

MARK = "<!-- sassan check -->"
LONGEST = 65_000
"""Characters; the host takes 65,536."""


def call(method: str, path: str, body: str | None = None) -> Any:
    data = None if body is None else json.dumps({"body": body}).encode()
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}", "Accept": "application/vnd.github+json", "Content-Type": "application/json"}
    url = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/{path}"
    with urlopen(Request(url, data, headers, method=method), timeout=60) as answer:
        return json.load(answer)


def earlier(number: int) -> int | None:
    """Return the comment of an earlier run: another one with the mark may be a person's."""
    page = 1
    while comments := call("GET", f"issues/{number}/comments?per_page=100&page={page}"):
        for comment in comments:
            if comment["user"]["type"] == "Bot" and comment["body"].startswith(MARK):
                return comment["id"]
        page += 1
    return None


def main(path: Path) -> int:
    number = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8")).get("pull_request", {}).get("number")
    if number is None or not path.is_file():
        return 0
    text = path.read_text("utf-8")
    whole = text if len(text) <= LONGEST else text[:LONGEST].rpartition("\n")[0] + "\n\n… the log of the run has the rest\n"
    body = f"{MARK}\n{whole}"
    try:
        known = earlier(number)
        if known is None:
            call("POST", f"issues/{number}/comments", body)
        else:
            call("PATCH", f"issues/comments/{known}", body)
    except (OSError, HTTPException) as error:  # the token of a pull request from a fork may not write: the check itself still holds
        print(f"::warning::no comment was written: {error}")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
