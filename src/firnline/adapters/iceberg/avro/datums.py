"""Single values by their schema, as plain Python: partitions, field ids, the summaries of a manifest list."""

from __future__ import annotations

import struct
from collections.abc import Callable

from firnline.adapters.iceberg.avro.container import Damaged, long_at
from firnline.adapters.iceberg.avro.schemas import Array, Atom, Fixed, Record, Type, Union

_Read = Callable[[bytes, int], tuple[object, int]]  # from a position, the value and the position behind


def reader(of: Type) -> Callable[[bytes], object]:
    """What turns the bytes of one value, and nothing else, into it. Records become tuples, arrays lists."""
    read = _reader(of)

    def value_of(data: bytes) -> object:
        try:
            value, end = read(data, 0)
        except (IndexError, struct.error) as error:
            raise Damaged("a value ends within itself") from error
        if end != len(data):
            raise Damaged("a value is longer than its type")
        return value

    return value_of


def _reader(of: Type) -> _Read:
    match of:
        case Atom(kind):
            return _ATOMS[kind]
        case Fixed(size):
            return lambda data, at: _slice(data, at, size)
        case Union(branches):
            return _choice(tuple(_reader(branch) for branch in branches))
        case Record(fields):
            return _record(tuple(_reader(field.type) for field in fields))
        case Array(items):
            return _array(_reader(items))


def _choice(branches: tuple[_Read, ...]) -> _Read:
    def read(data: bytes, at: int) -> tuple[object, int]:
        index, at = long_at(data, at)
        if not 0 <= index < len(branches):
            raise Damaged("a value is of none of the types it may have")
        return branches[index](data, at)

    return read


def _record(fields: tuple[_Read, ...]) -> _Read:
    def read(data: bytes, at: int) -> tuple[object, int]:
        values = []
        for field in fields:
            value, at = field(data, at)
            values.append(value)
        return tuple(values), at

    return read


def _array(item: _Read) -> _Read:
    def read(data: bytes, at: int) -> tuple[object, int]:
        values: list[object] = []
        while True:
            count, at = long_at(data, at)
            if count == 0:
                return values, at
            if count < 0:
                count = -count
                _, at = long_at(data, at)
            if count > len(data):
                raise Damaged("a list is longer than its block")
            for _ in range(count):
                value, end = item(data, at)
                if end == at:  # nothing can be repeated without end in no bytes at all
                    raise Damaged("a list holds items of no size")
                values.append(value)
                at = end

    return read


def _slice(data: bytes, at: int, size: int) -> tuple[bytes, int]:
    end = at + size
    if size < 0 or end > len(data):
        raise Damaged("a value ends within itself")
    return data[at:end], end


def _bytes(data: bytes, at: int) -> tuple[object, int]:
    size, at = long_at(data, at)
    return _slice(data, at, size)


def _string(data: bytes, at: int) -> tuple[object, int]:
    size, at = long_at(data, at)
    raw, at = _slice(data, at, size)
    return raw.decode("utf-8", "replace"), at


_ATOMS: dict[str, _Read] = {
    "null": lambda _, at: (None, at),
    "boolean": lambda data, at: (bool(data[at]), at + 1),
    "int": long_at,
    "long": long_at,
    "float": lambda data, at: (struct.unpack_from("<f", data, at)[0], at + 4),
    "double": lambda data, at: (struct.unpack_from("<d", data, at)[0], at + 8),
    "string": _string,
    "bytes": _bytes,
}
