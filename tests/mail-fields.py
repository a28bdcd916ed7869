#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What another program reads in a mail: mail-fields.py FILE WHAT...; WHAT is a header's name, `names` (all header names,
in order), `body`, or `defects` (what the parser found wrong; empty is good)."""
import email
import email.policy
import sys

with open(sys.argv[1], "rb") as file:
    mail = email.message_from_binary_file(file, policy=email.policy.default)
for what in sys.argv[2:]:
    if what == "names":
        print(" ".join(mail.keys()))
    elif what == "body":
        print(mail.get_content(), end="")
    elif what == "defects":
        print(" ".join(str(d) for d in mail.defects + [d for h in mail.values() for d in h.defects]))
    else:
        print(mail[what])
