"""A name server whose answers change from one question to the next, over UDP and TCP."""

from __future__ import annotations

import collections
import ipaddress
import socket
import struct
import threading
from typing import Sequence

A, AAAA = 1, 28
NAME_ERROR, SERVER_FAILURE = 3, 2


class Name:
    """What is answered for a name: the addresses of each round of questions; the last round stays."""

    def __init__(self, *rounds: Sequence[str], code: int = 0) -> None:
        self.rounds = rounds or ((),)
        self.code = code


class Resolver:
    """Answers on 127.0.0.1:53 for the names it knows; others do not exist."""

    def __init__(self) -> None:
        self.names: dict[str, Name] = {}
        self.asked: collections.Counter[tuple[str, int]] = collections.Counter()
        self._lock = threading.Lock()
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", 53))
        self._tcp = socket.create_server(("127.0.0.1", 53))
        threading.Thread(target=self._serve_udp, daemon=True).start()
        threading.Thread(target=self._serve_tcp, daemon=True).start()

    def _serve_udp(self) -> None:
        while True:
            question, asker = self._udp.recvfrom(4096)
            answer = self._answer(question)
            if len(answer) > 512:
                # Cut off: the whole is to be had over TCP.
                head = bytearray(self._answer(question, only_head=True))
                head[2] |= 0x02
                answer = bytes(head)
            self._udp.sendto(answer, asker)

    def _serve_tcp(self) -> None:
        while True:
            client, _ = self._tcp.accept()
            threading.Thread(target=self._converse, args=(client,), daemon=True).start()

    def _converse(self, client: socket.socket) -> None:
        with client, client.makefile("rwb") as stream:
            while len(size := stream.read(2)) == 2:
                answer = self._answer(stream.read(struct.unpack(">H", size)[0]), counts=False)
                stream.write(struct.pack(">H", len(answer)) + answer)
                stream.flush()

    def _answer(self, question: bytes, only_head: bool = False, counts: bool = True) -> bytes:
        labels: list[str] = []
        place = 12
        while question[place]:
            count = question[place]
            labels.append(question[place + 1 : place + 1 + count].decode("ascii", "replace").lower())
            place += 1 + count
        (kind,) = struct.unpack_from(">H", question, place + 1)
        asked = question[12 : place + 5]
        text = ".".join(labels)
        name = self.names.get(text)
        code = NAME_ERROR if name is None else name.code
        records = b""
        number = 0
        if name is not None and not only_head:
            with self._lock:
                turn = self.asked[text, kind]
                if counts:
                    self.asked[text, kind] += 1
                else:
                    turn -= 1  # The same question came over UDP, and was too large to be answered there.
            for address in map(ipaddress.ip_address, name.rounds[min(max(turn, 0), len(name.rounds) - 1)]):
                if (A if address.version == 4 else AAAA) == kind:
                    records += struct.pack(">HHHIH", 0xC00C, kind, 1, 0, len(address.packed)) + address.packed
                    number += 1
        head = question[:2] + struct.pack(">HHHHH", 0x8180 | code, 1, number, 0, 0)
        return head + asked + records
