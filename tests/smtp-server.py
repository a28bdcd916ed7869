#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A mail server for tests: smtp-server.py DIR [MODE]. Writes DIR/port when it listens, and each message with its
envelope to DIR/N.eml. MODE: take (default); later (451 after the text); never (550 after the text); die (takes the text and
ends the process before the answer); silent (takes the text and never answers); auth (wants the user lab and the word in DIR/../login)."""
import asyncio
import os
import signal
import sys

from aiosmtpd.smtp import SMTP, AuthResult

directory = sys.argv[1]
mode = sys.argv[2] if len(sys.argv) > 2 else "take"
count = 0


class Handler:
    async def handle_DATA(self, server, session, envelope):
        global count
        count += 1
        path = os.path.join(directory, "%d.eml" % count)
        with open(path + ".new", "wb") as out:
            out.write(b"X-From: %s\r\n" % envelope.mail_from.encode())
            for to in envelope.rcpt_tos:
                out.write(b"X-To: %s\r\n" % to.encode())
            out.write(envelope.original_content)
        os.rename(path + ".new", path)
        if mode == "die":
            os._exit(1)
        if mode == "silent":
            await asyncio.sleep(1000000)
        if mode == "later":
            return "451 4.3.0 try again later"
        if mode == "never":
            return "550 5.7.1 not wanted here"
        return "250 taken"


def knows(server, session, envelope, mechanism, data):
    with open(os.path.join(directory, "..", "login"), "rb") as word:
        good = data.login == b"lab" and data.password == word.read().strip()
    return AuthResult(success=good)


async def main():
    loop = asyncio.get_running_loop()
    wants = dict(auth_required=True, auth_require_tls=False, authenticator=knows) if mode == "auth" else {}
    server = await loop.create_server(lambda: SMTP(Handler(), hostname="test.invalid", loop=loop, **wants), "127.0.0.1", 0)
    with open(os.path.join(directory, "port.new"), "w") as out:
        out.write("%d\n" % server.sockets[0].getsockname()[1])
    os.rename(os.path.join(directory, "port.new"), os.path.join(directory, "port"))
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    while os.getppid() != 1 and not stop.is_set():
        await asyncio.sleep(0.1)


asyncio.run(main())
