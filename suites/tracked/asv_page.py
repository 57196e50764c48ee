"""Put the libraries that ASV's page takes from public servers beside it, so that it works without a network.

`python suites/tracked/asv_page.py FOLDER` changes the page that `asv publish` wrote to FOLDER. npm brings the
libraries, and nothing else. Where it cannot, the page stays as it is, which is said.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LIBRARIES = {  # by the end of ASV's address: the package with its version, and the file in it
    "jquery-3.3.1.min.js": ("jquery@3.3.1", "dist/jquery.min.js"),
    # flot's before they were made small, the oldest stupidtable that npm has; the others are the same
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
ADDRESS = re.compile(r'(src|href)="https://[^"]*/([^"/]+\.(?:js|css))"[^>]*?( onerror="[^"]*")?(?=/?>)')


def bring(folder: Path) -> None:
    """Let npm fetch the packages and put the libraries into FOLDER/libraries."""
    libraries = folder / "libraries"
    libraries.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        packages = sorted({package for package, _ in LIBRARIES.values()})
        words = ["npm", "install", "--silent", "--ignore-scripts", "--fetch-retries=0", "--prefix", place]
        subprocess.run([*words, *packages], check=True, timeout=120)
        for name, (package, file) in LIBRARIES.items():
            shutil.copy(Path(place, "node_modules", package.partition("@")[0], file), libraries / name)


def localized(page: str) -> str:
    """Return the page with the libraries' addresses beside it; ValueError where one is new to us."""
    unknown = {name for _, name, _ in ADDRESS.findall(page)} - set(LIBRARIES)
    if unknown:
        raise ValueError(f"ASV's page takes {', '.join(sorted(unknown))} too; add it to LIBRARIES")
    return ADDRESS.sub(r'\1="libraries/\2"\3', page)


def main(folder: Path) -> None:
    """Change the page in a folder."""
    index = folder / "index.html"
    try:
        page = localized(index.read_text(encoding="utf-8"))
        bring(folder)
    except (OSError, ValueError, subprocess.SubprocessError) as fault:
        print(f"the page's libraries stay where they are, it needs a network: {fault}", file=sys.stderr)
        return
    index.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    main(parser.parse_args().folder)
