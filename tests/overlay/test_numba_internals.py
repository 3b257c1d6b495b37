"""What Groundling takes from numba beyond its documented interface is still there."""

from typing import NamedTuple

import llvmlite
import numba
import numpy as np
import pytest

from groundling import numba_internals
from groundling.compiler import announced, inner, njit, with_methods

NEEDED = {
    "CacheLocator": "the cache of compiled kernels (groundling.compiler)",
    "keep_compiled": "the cache of compiled kernels (groundling.compiler)",
    "Listener": "the notice that kernels are being compiled (groundling.compiler.announced)",
    "install_listener": "the notice that kernels are being compiled",
    "InlinedCompiler": "compiling inner kernels sooner (groundling.compiler.inner)",
    "KernelCompiler": "optimising kernels once (groundling.compiler.compiled)",
    "AttributeTemplate": "fields of held named tuples (groundling.array_views)",
    "array_with": "parts of arrays (groundling.array_views)",
    "stored": "held named tuples (groundling.array_views)",
    "read_field": "fields of held named tuples (groundling.array_views)",
    "ConcreteTemplate": "+ and * of eights (groundling.overlay.simd)",
    "infer_global": "+ and * of eights (groundling.overlay.simd)",
    "array_data": "load, store and fetch (groundling.overlay.simd)",
    "signature": "all functions on eights (groundling.overlay.simd)",
    "named_tuple": "methods of semirings and tiles (groundling.overlay.batch.with_methods)",
    "NO_REFERENCE_COUNTS": "kernels without reference counts (groundling.overlay.batch)",
}


def broken(part):
    return (
        f"numba {numba.__version__} (llvmlite {llvmlite.__version__}) has another {part!r}, on "
        f"which depends {NEEDED[part]}. Change groundling/numba_internals.py, or cap numba."
    )


def test_internals_are_all_listed():
    assert set(numba_internals.__all__) == set(NEEDED)


@pytest.mark.parametrize("part", NEEDED)
def test_internals_exist(part):
    assert getattr(numba_internals, part, None) is not None, broken(part)


def test_internals_keep_what_is_compiled(tmp_path):
    class Here(numba_internals.CacheLocator):
        get_cache_path = lambda self: str(tmp_path)  # noqa: E731
        get_source_stamp = lambda self: "stamp"  # noqa: E731
        get_disambiguator = lambda self: "one"  # noqa: E731
        from_function = classmethod(lambda cls, function, file: cls())

    def double(number):
        return 2 * number

    for hits in (0, 1):
        dispatcher = numba.njit(double)
        numba_internals.keep_compiled(dispatcher, Here)
        assert dispatcher(4) == 8
        assert sum(dispatcher.stats.cache_hits.values()) == hits, broken("keep_compiled")
    assert list(tmp_path.glob("*.nbi")), broken("CacheLocator")


def test_internals_tell_when_something_is_compiled():
    told = []
    with announced(told.append):
        njit(lambda number: number + 1, cache=False)(1)
    assert len(told) == 1, broken("install_listener")


def test_internals_inline_what_has_no_code_of_its_own():
    @inner
    def half(array):
        return array[0] / 2

    @inner
    def quarter(array):
        return half(array) / 2

    @numba.njit(**numba_internals.NO_REFERENCE_COUNTS)
    def outer(array):
        return quarter(array) + half(array)

    assert outer(np.array([8.0])) == 6.0, broken("InlinedCompiler")
    assert "NRT_incref" not in next(iter(outer.inspect_llvm().values())), broken(
        "NO_REFERENCE_COUNTS"
    )


def test_internals_let_kernels_call_methods_of_named_tuples():
    @with_methods
    class Adds(NamedTuple):
        amount: float

        def changed_number(self, number):
            return number + self.amount

    @with_methods
    class Multiplies(NamedTuple):
        amount: float

        def changed_number(self, number):
            return number * self.amount

    @numba.njit
    def change(way, number):
        return way.changed_number(number)

    assert (change(Adds(3.0), 4.0), change(Multiplies(3.0), 4.0)) == (7.0, 12.0), broken(
        "named_tuple"
    )
