"""Put the libraries that ASV's page takes from public servers beside it, so that it works without a network.

`python suites/tracked/asv_page.py FOLDER` changes the page that `asv publish` wrote to FOLDER. npm brings the
libraries. Where it cannot, the page stays as it is, which is said.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

LIBRARIES = {  # by the end of ASV's address: the package with its version, and the file in it
    "jquery-3.3.1.min.js": ("jquery@3.3.1", "dist/jquery.min.js"),
    "jquery.flot.min.js": ("flot@0.8.3", "jquery.flot.js"),
    "jquery.flot.time.min.js": ("flot@0.8.3", "jquery.flot.time.js"),
    "jquery.flot.selection.min.js": ("flot@0.8.3", "jquery.flot.selection.js"),
    "jquery.flot.categories.min.js": ("flot@0.8.3", "jquery.flot.categories.js"),
    "jquery.flot.orderBars.js": ("flot-orderbars@1.0.0", "js/jquery.flot.orderBars.js"),
    "stupidtable.min.js": ("stupid-table-plugin@1.1.3", "stupidtable.min.js"),
    "md5.min.js": ("blueimp-md5@2.19.0", "js/md5.min.js"),
    "bootstrap.min.js": ("bootstrap@3.1.1", "dist/js/bootstrap.min.js"),
    "bootstrap.min.css": ("bootstrap@3.1.1", "dist/css/bootstrap.min.css"),
}
# the digests go with the addresses: flot's files are the same ones before they were made small
ADDRESS = re.compile(
    r'(src|href)="https://[^" ]*/([^"/ ]+\.(?:js|css))" integrity=[^>]*?( onerror="[^"]*")?(?=/?>)'
)


def bring(folder: Path) -> None:
    """Let npm put the libraries into FOLDER/libraries."""
    packages = sorted({package for package, _ in LIBRARIES.values()})
    words = ["npm", "install", "--silent", "--no-save", "--ignore-scripts", "--fetch-retries=0"]
    subprocess.run([*words, "--prefix", str(folder / "libraries"), *packages], check=True, timeout=300)


def localized(page: str) -> str:
    """Return the page with the libraries' addresses beside it; KeyError for one that is new to us."""

    def beside(found: re.Match[str]) -> str:
        package, file = LIBRARIES[found[2]]
        return f'{found[1]}="libraries/node_modules/{package.partition("@")[0]}/{file}"{found[3] or ""}'

    return ADDRESS.sub(beside, page)


def main(folder: Path) -> None:
    """Change the page in a folder."""
    index = folder / "index.html"
    page = localized(index.read_text(encoding="utf-8"))
    try:
        bring(folder)
    except (OSError, subprocess.SubprocessError) as fault:
        print(f"npm cannot bring the page's libraries ({fault}): it will need a network", file=sys.stderr)
        return
    index.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
