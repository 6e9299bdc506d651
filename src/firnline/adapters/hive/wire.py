"""One connection to a metastore: thrift's binary protocol over a buffered socket, as HMS 2.3, 3 and 4 speak it.

What a commit must know of a failure is whether the whole request may have reached the server: a message without its
last byte is never carried out. Encrypted lines, SASL and framed messages are not spoken here.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any

from hive_metastore.ThriftHiveMetastore import Client
from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.protocol.TProtocol import TProtocolException
from thrift.Thrift import TApplicationException, TException
from thrift.transport.TTransport import TBufferedTransport, TTransportBase, TTransportException

from firnline.config.endpoints import HiveEndpoint

UNKNOWN_METHOD = "UNKNOWN_METHOD"  # the name of the fault of a server that does not know the call: nothing was done
HEARD_MAX = 64  # bytes of the first answer kept, to say what kind of server it is that does not speak thrift
_TEXT_MAX = 1 << 26  # bytes of one parameter of one table: what is longer was not written by anybody on purpose
_CHUNK = 1 << 16


class Unreachable(Exception):
    """There is no connection: nothing was ever sent. `reason` is what the machine says."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Broken(Exception):
    """A call ended without an answer. `sent`: the request may have reached the server whole. `slow`: it did not answer
    in time. `heard`: the first bytes this connection ever gave, when none of them were an answer.
    """

    def __init__(self, reason: str, *, sent: bool, slow: bool = False, heard: bytes | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.sent = sent
        self.slow = slow
        self.heard = heard


class Fault(Exception):
    """What the metastore answers when it does not do what it was asked. `name` is the kind of error, as thrift or the
    metastore calls it.

    The errors that thrift's compiler makes cannot be passed on as they are: they refuse to be given a traceback, which
    is what `contextlib` does with every error that crosses a context manager.
    """

    def __init__(self, name: str, text: str) -> None:
        super().__init__(f"{name}: {text}")
        self.name = name
        self.text = text


class _Socket(TTransportBase):  # type: ignore[misc]  # thrift ships no types
    """A socket with one deadline per call, which remembers whether the call left, and what was heard first.

    Thrift's own socket gives every single read the whole time anew, and logs each failure to connect as an error.
    """

    def __init__(self, line: socket.socket) -> None:
        self.line = line
        self.deadline = 0.0
        self.sent = False
        self.heard = b""

    def isOpen(self) -> bool:  # thrift's name
        return self.line.fileno() >= 0

    def close(self) -> None:
        self.line.close()

    def read(self, size: int) -> bytes:
        self.line.settimeout(max(self.deadline - time.monotonic(), 0.001))
        data = self.line.recv(size)
        if not data:
            raise EOFError("the server closed the connection")
        if len(self.heard) < HEARD_MAX:
            self.heard += data[: HEARD_MAX - len(self.heard)]
        return data

    def write(self, data: bytes) -> None:
        self.line.settimeout(max(self.deadline - time.monotonic(), 0.001))
        self.line.sendall(data)

    def flush(self) -> None:
        self.sent = True  # the buffer around this socket writes the whole message, then flushes


class Connection:
    """A thrift client on one socket. Not for two threads at once; after an error of the line it is closed."""

    def __init__(self, endpoint: HiveEndpoint) -> None:
        self._seconds = endpoint.timeout_millis / 1000
        self._socket = _Socket(_connected(endpoint))
        buffered = TBufferedTransport(self._socket, rbuf_size=_CHUNK)
        protocol = TBinaryProtocolAccelerated(buffered, strictRead=True, string_length_limit=_TEXT_MAX)
        self._client = Client(protocol)
        self._answered = False

    def call(self, method: str, *given: Any) -> Any:
        """The answer. Fault when it is an error of the metastore, Broken when there is none."""
        self._socket.deadline = time.monotonic() + self._seconds
        self._socket.sent = False
        ask: Callable[..., Any] = getattr(self._client, method)
        try:
            answer = ask(*given)
        except (TTransportException, TProtocolException) as error:
            raise self._broken(error) from error
        except TApplicationException as error:
            self._answered = True
            name = UNKNOWN_METHOD if error.type == TApplicationException.UNKNOWN_METHOD else "TApplicationException"
            raise Fault(name, str(error.message)) from None
        except TException as error:
            self._answered = True
            raise Fault(type(error).__name__, str(getattr(error, "message", ""))) from None
        except Exception as error:  # the socket's, or of bytes that are no answer, or of a text that cannot be sent
            raise self._broken(error) from error
        except BaseException:
            self.close()  # interrupted: the next thing heard on this line would be the answer to this call
            raise
        self._answered = True
        return answer

    @property
    def alive(self) -> bool:
        """Whether the line still stands as far as this side can know without sending: a server that went away in the
        meantime has closed it.
        """
        if not self._socket.isOpen():
            return False
        self._socket.line.settimeout(0)
        try:
            self._socket.line.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False  # closed by the server, or it talks without being asked

    def close(self) -> None:
        """Give the socket back."""
        self._socket.close()

    def _broken(self, error: Exception) -> Broken:
        self.close()
        slow = isinstance(error, TimeoutError)
        reason = f"no answer within {self._seconds:g} s" if slow else str(error) or type(error).__name__
        heard = None if self._answered else self._socket.heard
        return Broken(reason, sent=self._socket.sent, slow=slow, heard=heard)


def _connected(endpoint: HiveEndpoint) -> socket.socket:
    seconds = endpoint.aws.connect_millis / 1000
    try:
        line = socket.create_connection((endpoint.host, endpoint.port), timeout=seconds)
    except TimeoutError as error:
        raise Unreachable(f"no answer within {seconds:g} s") from error
    except (OSError, UnicodeError) as error:
        raise Unreachable(getattr(error, "strerror", None) or str(error)) from error
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return line
