#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# A culprit whose author means harm: quotes, HTML, SQL, lines that look like headers, bytes that are no text, a subject without
# end. Database, mail, page and command line show all of it as text.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/fake-line.sh"
test_begin
line_settings
plant 5 'metric=fault_ns:ns:lower:1000:0.03' 'metric=lock.lruvec.wait_per_op:ns:lower:50:0.1' shift=3:0.4

# Commits 3 to 5 again, the third as no git commit would write it.
cd "$dir/tree" || exit 1
export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org
/usr/bin/python3 - "$(git rev-parse 'main~2^{tree}')" "$(git rev-parse main~3)" >"$dir/raw" <<'EOT'
import sys
tree, parent = (word.encode() for word in sys.argv[1:])
subject = (b"mm: \"quoted\" 'so' </title><script>alert(1)</script> &amp; <!-- %s%n $(id) `id`; '); drop table commits; --"
           b"\rBcc: evil@example.org\r =?utf-8?q?=0d=0aBcc:_evil@example.org?= \xff\xfe\x01\x1b[31m \xe2\x80\xae" + b"x" * 5000)
body = (b"\r\nBcc: evil@example.org\r\nSubject: other\r\n\r\n.\r\nFrom here\n-- \n<img src=x onerror=alert(1)>\n\xc3\x28\n"
        b"Link: https://lore.example.org/r/a@b>%0d%0aBcc: evil@example.org\n"
        b"Message-ID: <x@y\r\nBcc: evil@example.org>\nSigned-off-by: '; drop table boots; --\n")
author = b"O'Hostile \"</a><b>\"\rBcc: evil\r\xe9 -- "
sys.stdout.buffer.write(b"tree " + tree + b"\nparent " + parent + b"\nauthor " + author.replace(b"<", b"(").replace(b">", b")") +
                        b" <\"x\"'y',evil\r@example.org> 1700000000 +0000\ncommitter A <a@example.org> 1700000000 +0000\n\n" +
                        subject + b"\n" + body)
EOT
culprit=$(git hash-object -t commit -w --stdin --literally <"$dir/raw")
new=$culprit
for c in main~1 main; do
	new=$(git log -1 --format=%B "$c" | git commit-tree -p "$new" "$c^{tree}")
done
git checkout -q --detach
git branch -qf main "$new"
cd "$dir" || exit 1
start_all
ok 'the daemons find it and send the mail' wait_sql 600 "select bool_or(state = 'sent') from outbox"
stop_all
is 'the culprit is the hostile commit' "$(sql "select c.oid from regressions r join commits c on c.id = r.culprit")" "$culprit"
is 'the tables are there' "$(sql "select count(*) from commits")" 6
is 'one mail' "$(mails)" 1
cat >"$dir/check.py" <<'EOT'
import email, email.policy, html.parser, json, sys

mail_path, page_path, index_path, sql_path = sys.argv[1:]
row = json.load(open(sql_path))
bad = []


def want(what, good):
    if not good:
        bad.append(what)


raw = open(mail_path, "rb").read()
mail = email.message_from_bytes(raw, policy=email.policy.default)
names = [name.lower() for name in mail.keys()]
want("a header twice", len(names) == len(set(names)))
want("headers: " + " ".join(names), set(names) <= {"date", "from", "to", "subject", "message-id", "in-reply-to", "references",
     "user-agent", "x-mmperf-regression", "auto-submitted", "mime-version", "content-type", "content-transfer-encoding"})
want("defects", not mail.defects and not [d for h in mail.values() for d in h.defects])
want("subject of the mail is the stored one", mail["subject"] == row["mail_subject"])
want("recipients", mail["to"] == "undisclosed-recipients:;")  # emulated: for the spool
want("long lines", max(len(line) for line in raw.split(b"\n")) <= 998)
want("control characters in the mail", not [b for b in raw if b < 32 and b not in (9, 10)])
body = mail.get_content()
want("control characters in the text", not [c for c in body if ord(c) < 32 and c not in "\n\t"])
want("directions in the text", not [c for c in body if c in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068"])
want("a line of the body that looks like a header", not [l for l in body.splitlines() if l.startswith("Bcc:")])
want("the body names what it is", '"quoted"' in body and "<script>alert(1)</script>" in body)


class Text(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.text, self.tags, self.attributes, self.comments = "", set(), set(), 0

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, data):
        self.comments += 1


for path in (page_path, index_path):
    page = Text()
    page.feed(open(path, encoding="utf-8").read())
    page.close()
    want(path + ": tags", not page.tags & {"script", "img", "iframe", "object", "base"})
    want(path + ": attributes", not [a for a in page.attributes if a.startswith("on")])
    want(path + ": comments", page.comments == 0)
    want(path + ": the subject as text", "\"quoted\" 'so' </title><script>alert(1)</script> &amp; <!-- %s%n $(id) `id`; '); drop" in page.text)
    want(path + ": control characters", not [c for c in page.text if ord(c) < 32 and c not in "\n\t"])
text = row["subject"]
want("the database has the whole subject", text.startswith("mm: \"quoted\" 'so' </title>") and text.count("x") >= 5000)
want("the database has the author", row["author"].startswith("O'Hostile \""))
want("the database has the body", "<img src=x onerror=alert(1)>" in row["body"] and "drop table boots" in row["body"])
print("\n".join(bad))
EOT
sql "select json_build_object('subject', c.subject, 'author', c.author_name, 'body', c.body, 'mail_subject', o.subject)
	from regressions r join commits c on c.id = r.culprit join outbox o on o.regression = r.id" >"$dir/row.json"
is 'mail, page and database hold it as text' "$(/usr/bin/python3 "$dir/check.py" "$dir/state/spool"/*.eml \
	"$dir/state/pages/regression-$(sql 'select id from regressions').html" "$dir/state/pages/index.html" "$dir/row.json" 2>&1)" ''
ok 'the page is well-formed' xmllint --noout "$dir/state/pages"/*.html
for words in regressions 'log -n 100' 'bisect show 1' "report $(sql 'select id from regressions')"; do
	# shellcheck disable=SC2086
	mmperf $words >"$dir/out" 2>"$dir/err"
	is "mmperf ${words%% *}: no control character reaches the terminal" "$? $(tr -d '\n\t -~\200-\377' <"$dir/out" | wc -c)" '0 0'
	is "mmperf ${words%% *}: no line of its own" "$(grep -c '^Bcc' "$dir/out")" 0
done
is 'no log has it raw' "$(cat "$dir"/*.log | tr -d '\n\t -~\200-\377' | wc -c) $(grep -c '^Bcc' "$dir"/*.log | grep -vc ':0$')" '0 0'
test_end
