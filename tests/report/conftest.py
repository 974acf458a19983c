"""A browser for all tests of pages, and pages opened in it."""

import contextlib

import pytest
from browser import Browser


@pytest.fixture(scope="session")
def browser():
    browser = Browser()
    yield browser
    browser.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open pages, and see afterwards that they were quiet: no complaint on the console, nothing asked of a network."""
    with contextlib.ExitStack() as stack:
        pages = []

        def opening(data: bytes, **options):
            path = tmp_path / f"page{len(pages)}.html"
            path.write_bytes(data)
            pages.append(stack.enter_context(browser.page(path, **options)))
            return pages[-1]

        yield opening
        for page in pages:
            assert page.complaints() == []
            assert [each[:40] for each in page.addresses() if not each.startswith(("file:///", "data:image/png"))] == []
