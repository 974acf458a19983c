"""The gallery links to the reports that its script writes, and has a picture of each."""

import importlib.util
import re

from pages import ROOT, text_of


def test_every_report_of_the_page_is_written(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("gallery", ROOT / "docs" / "gallery.py")
    gallery = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(gallery)
    text = text_of("docs/gallery.md")
    assert tuple(re.findall(r'href="\.\./reports/(\w+)\.html"', text)) == gallery.ARMS
    assert tuple(re.findall(r"images/gallery_(\w+)\.png", text)) == gallery.ARMS
    assert "docs/gallery.py site/reports" in text_of("Makefile")
    gallery.write(tmp_path / "reports", ["planar2r"])
    assert [path.name for path in (tmp_path / "reports").iterdir()] == ["planar2r.html"]
    assert "units found" in capsys.readouterr().out
