"""Identity: what enters a hash, and what a file may and may not make us do."""

import json
import sys

import numpy as np
import pytest
from cases import linear_setting

from saddlescope.errors import InvalidInput
from saddlescope.serialization.part import Part, array_hash, content_hash, from_json_values, to_json_values
from saddlescope.setting import Setting


class Holder(Part):
    value: object


def double(x):
    return 2 * x


def test_arrays_enter_by_their_hash_and_come_back_by_it():
    array = np.arange(6.0).reshape(2, 3)
    stored = json.loads(json.dumps(to_json_values(Holder(array))))
    assert stored["value"] == {"array": array_hash(array), "dtype": "float64", "shape": [2, 3]}
    np.testing.assert_array_equal(from_json_values(stored, {array_hash(array): array}).value, array)
    with pytest.raises(InvalidInput, match="not at hand"):
        from_json_values(stored)
    with pytest.raises(InvalidInput, match="not at hand"):
        from_json_values(stored, {array_hash(array): array + 1})
    others = [array + 1e-16 + 1e-15, array.reshape(3, 2), array.astype("float32")]
    assert len({content_hash(to_json_values(Holder(a))) for a in [array, *others]}) == 4


def test_functions_enter_by_path_and_source():
    stored = to_json_values(Holder(double))
    assert stored["value"]["function"].endswith("double")
    assert from_json_values(stored).value is double
    changed = json.loads(json.dumps(stored).replace(stored["value"]["source"], "0" * 64))
    with pytest.raises(InvalidInput, match=r"source of .* has changed"):
        from_json_values(changed)


def test_a_lambda_has_a_form_but_cannot_be_rebuilt():
    stored = to_json_values(Holder(lambda x: x))
    assert "lambda" in stored["value"]
    with pytest.raises(InvalidInput, match="run but not stored"):
        from_json_values(stored)


def test_lambdas_and_classes_of_ones_own_differ_by_what_they_do():
    power = 2
    forms = [to_json_values(Holder(f)) for f in (lambda x: x, lambda x: x**3, lambda x: x**power)]
    assert len({content_hash(f) for f in forms}) == 3
    assert to_json_values(Holder(1))["source"], "a class outside the package enters with its source"
    changed = to_json_values(Holder(1)) | {"source": "0" * 64}
    with pytest.raises(InvalidInput, match=r"source of .*Holder has changed"):
        from_json_values(changed)


@pytest.mark.parametrize("name", ["turtle.Turtle", "os.system", "saddlescope.setting.Missing", "builtins.object"])
def test_a_file_can_name_but_never_import(name):
    loaded = set(sys.modules)
    with pytest.raises(InvalidInput, match="No imported class"):
        from_json_values({"class": name})
    with pytest.raises(InvalidInput, match="No imported function"):
        from_json_values({"function": name, "source": ""})
    assert "turtle" not in set(sys.modules) - loaded


def test_unknown_fields_are_refused_with_the_nearest():
    stored = linear_setting().json_values()
    stored["net"]["unis"] = 3
    with pytest.raises(InvalidInput, match=r"no field 'unis'\. Did you mean 'units'"):
        from_json_values(stored)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1}, object()])
def test_what_has_no_form_is_refused(value):
    with pytest.raises(InvalidInput):
        to_json_values(Holder(value))


def test_the_hash_is_of_content_not_of_spelling():
    a = linear_setting()
    text = json.dumps(dict(reversed(a.json_values().items())), indent=3)
    assert Setting.from_json(text).hash == a.hash
    assert linear_setting(steps=301).hash != a.hash
    assert linear_setting(seed=0, data_seed=0, init_seed=0, batch_seed=0).hash == a.hash
    with pytest.raises(InvalidInput, match="stored as JSON"):
        Setting.from_json("{")
    with pytest.raises(InvalidInput, match="not a Setting"):
        Setting.from_json(json.dumps(a.net.json_values()))


class Sourced(Part):
    source: str


def test_a_field_with_a_name_that_the_form_needs_is_refused():
    with pytest.raises(InvalidInput, match="rename it"):
        to_json_values(Sourced("here"))
