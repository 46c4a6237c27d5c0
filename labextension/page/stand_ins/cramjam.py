"""What ckpt_viz uses of cramjam, which has no build for the engine: JavaScript unpacks."""

from types import SimpleNamespace


class DecompressionError(Exception):
    """The bytes are damaged, or have more content than fits."""


def _into(name):
    def decompress(data, buffer):
        # Here, because the build imports this where no page is.
        import ckpt_viz_worker
        from pyodide.ffi import JsException, to_js

        try:
            content = getattr(ckpt_viz_worker, name)(to_js(data), len(buffer)).to_bytes()
        except JsException as error:
            raise DecompressionError(str(error)) from error
        buffer[: len(content)] = content
        return len(content)

    return decompress


zstd = SimpleNamespace(decompress_into=_into("unpackedZstandard"))
snappy = SimpleNamespace(decompress_raw_into=_into("unpackedSnappy"))
