"""The GGUF container: named metadata and named tensors in one little-endian file. Standard library only.

Layout (version 3): "GGUF", version, number of tensors, number of metadata; the metadata; name, shape, type and offset of
every tensor; padding; the tensors, each padded to 32 bytes.
Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""
import struct
from enum import IntEnum

VERSION = 3
ALIGNMENT = 32  # bytes


class Value(IntEnum):
    """Types of metadata."""

    UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9


class TensorType(IntEnum):
    F32, F16, Q8_0 = 0, 1, 8


def string(text):
    data = text.encode()
    return struct.pack('<Q', len(data)) + data


def padding(size):
    return b'\0' * (-size % ALIGNMENT)


PACK = {
    Value.UINT32: lambda value: struct.pack('<I', value),
    Value.INT32: lambda value: struct.pack('<i', value),
    Value.FLOAT32: lambda value: struct.pack('<f', value),
    Value.BOOL: lambda value: struct.pack('<?', value),
    Value.STRING: string,
}


class Gguf:
    """Collects metadata and tensors; `bytes()` is the file."""

    def __init__(self):
        self.metadata, self.tensors = [], []

    def add(self, key, kind, value):
        self.metadata.append(string(key) + struct.pack('<I', kind) + PACK[kind](value))

    def add_array(self, key, kind, values):
        head = struct.pack('<IIQ', Value.ARRAY, kind, len(values))
        self.metadata.append(string(key) + head + b''.join(PACK[kind](value) for value in values))

    def add_tensor(self, name, shape, tensor_type, data):
        """`shape`: the dimension that is contiguous in `data` comes first."""
        self.tensors.append((name, shape, tensor_type, data))

    def bytes(self):
        info, blobs, offset = b'', [], 0
        for name, shape, tensor_type, data in self.tensors:
            dimensions = struct.pack(f'<I{len(shape)}Q', len(shape), *shape)
            info += string(name) + dimensions + struct.pack('<IQ', tensor_type, offset)
            blobs.append(data + padding(len(data)))
            offset += len(blobs[-1])
        head = b'GGUF' + struct.pack('<IQQ', VERSION, len(self.tensors), len(self.metadata))
        head += b''.join(self.metadata) + info
        return head + padding(len(head)) + b''.join(blobs)
