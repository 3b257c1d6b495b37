"""Conversion of trajectories to and from Minari datasets."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from groundling.errors import CorpusError
from groundling.gym.optional import require
from groundling.gym.recorder import Recording

_MISSION = "mission"


def to_minari(
    trajectories: Sequence[Recording],
    dataset: str,
    world: Any,
    *,
    author: str | None = None,
    description: str | None = None,
) -> Any:
    """Write trajectories to a new Minari dataset.

    `dataset` is the id of the dataset, such as `babyai/go-to-local/teacher-v0`.

    Observations are stored without loss, including the mission as text. The seed of each episode is
    stored too, so that scenes can be replayed.
    """
    minari, spaces = require("minari"), require("gymnasium").spaces
    require("h5py")
    if not trajectories:
        raise CorpusError(
            "`trajectories` must contain at least one trajectory; got none. Record one with "
            "gym.record."
        )
    buffers = []
    for number, each in enumerate(trajectories):
        size = len(each.moves)
        if not size or len(each.observations) != size + 1:
            raise CorpusError(
                f"The trajectory {each.text!r} (seed {each.seed}) must have one more "
                f"observation than moves; got {len(each.observations)} and {size}. Record it "
                "again."
            )
        flags = np.zeros(size, bool)
        flags[-1] = True
        observations = _columns(each.observations)
        observations[_MISSION] = [each.text] * (size + 1)
        buffers.append(
            minari.data_collector.EpisodeBuffer(
                id=number,
                seed=int(each.seed),
                observations=observations,
                actions=[np.asarray(move) for move in each.moves],
                rewards=list(each.rewards),
                terminations=list(flags & each.terminated),
                truncations=list(flags & each.truncated),
                infos=_infos(each.infos, size) or None,
            )
        )
    with closing(world.make()) as env, warnings.catch_warnings():
        # Minari warns about missing metadata, such as an e-mail address.
        warnings.simplefilter("ignore", UserWarning)
        return minari.create_dataset_from_buffers(
            dataset_id=dataset,
            buffer=buffers,
            env=env.spec,
            eval_env=env.spec,
            observation_space=_observation_space(spaces, env.observation_space, trajectories),
            action_space=env.action_space,
            algorithm_name="groundling",
            author=author,
            description=description,
            data_format="hdf5",
            jpeg_encoding=False,  # symbolic images must not be compressed lossily
        )


def from_minari(dataset: Any) -> list[Recording]:
    """Return the trajectories of a Minari dataset.

    `dataset` is a dataset or its id. Each episode must have a seed, and a `mission` in its
    observations.
    """
    minari = require("minari")
    loaded = minari.load_dataset(dataset) if isinstance(dataset, str) else dataset
    numbers = [int(each) for each in loaded.episode_indices]
    metadata = list(loaded.storage.get_episode_metadata(numbers))
    return [
        _trajectory(episode, details, str(getattr(loaded.spec, "dataset_id", dataset)))
        for episode, details in zip(loaded.iterate_episodes(), metadata, strict=True)
    ]


def _trajectory(episode: Any, metadata: Any, name: str) -> Recording:
    observations = episode.observations
    texts = observations.get(_MISSION) if isinstance(observations, dict) else None
    if texts is None or "seed" not in metadata:
        missing = "a seed" if texts is not None else "a mission in its observations"
        raise CorpusError(
            f"Episode {episode.id} of the Minari dataset {name} must have {missing}. Record it "
            "with groundling.gym.record and to_minari."
        )
    size = len(episode.rewards)
    rows = tuple(
        {
            key: (values[place] if key != _MISSION else str(values[place]))
            for key, values in observations.items()
        }
        for place in range(size + 1)
    )
    infos = episode.infos or {}
    return Recording(
        str(texts[0]),
        int(metadata["seed"]),
        tuple(_plain(each) for each in episode.actions),
        tuple(float(each) for each in episode.rewards),
        bool(episode.terminations[-1]),
        bool(episode.truncations[-1]),
        rows,
        tuple(
            {key: _plain(values[place + 1]) for key, values in infos.items()}
            for place in range(size)
        ),
    )


def _plain(value: Any) -> Any:
    """Return a value with NumPy numbers as Python numbers, and arrays as tuples."""
    array = np.asarray(value)
    return array.item() if array.ndim == 0 else tuple(map(_plain, array))


def _columns(observations: Sequence[Any]) -> dict[str, Any]:
    if isinstance(observations[0], dict):
        return {
            key: [each[key] for each in observations] for key in observations[0] if key != _MISSION
        }
    return {"observation": list(observations)}


def _infos(infos: Iterable[Any], size: int) -> dict[str, Any]:
    """Return infos as columns, as stored by Minari.

    Minari also expects an info for the reset, so the first info is repeated. Only numbers and
    strings are kept.
    """
    rows = [dict(each) for each in infos]
    kept = {
        key
        for key in (rows[0] if rows else {})
        if all(isinstance(row.get(key), (int, float, bool, str, np.number)) for row in rows)
    }
    return {key: [rows[0][key], *(row[key] for row in rows)] for key in sorted(kept) if size}


def _observation_space(spaces: Any, given: Any, trajectories: Sequence[Recording]) -> Any:
    """Return the observation space, extended with a text space for missions."""
    texts = [each.text for each in trajectories]
    text = spaces.Text(
        max_length=max(map(len, texts)), charset="".join(sorted(set("".join(texts))))
    )
    parts = dict(given.spaces) if isinstance(given, spaces.Dict) else {"observation": given}
    return spaces.Dict({**parts, _MISSION: text})
