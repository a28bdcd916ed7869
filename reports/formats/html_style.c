// SPDX-License-Identifier: GPL-2.0-or-later
/* Page frame, style. */
#include "reports/formats/html_parts.h"

#include "reports/escape.h"

static const char style[] =
	":root{--bg:#fff;--fg:#1c2126;--dim:#626d78;--line:#e2e6ea;--panel:#f5f7f9;--before:#"
	"2d6cb0;"
	"--after:#c44d17;--good:#2b7d46;--mark:rgba(196,77,23,.09)}\n"
	"@media (prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e4e7ea;--dim:#97a1ab;"
	"--line:#2b3137;--panel:#1c2126;--before:#6fabee;--after:#f08b57;--good:#6cc48a;"
	"--mark:rgba(240,139,87,.13)}}\n"
	"*{box-sizing:border-box}\n"
	"body{margin:0;background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,-apple-system,"
	"'Segoe UI',Roboto,'DejaVu Sans',sans-serif}\n"
	"main{max-width:1020px;margin:0 auto;padding:28px 24px 60px}\n"
	"h1{font-size:23px;line-height:1.3;margin:2px 0 6px;font-weight:650}\n"
	"h2{font-size:16px;margin:34px 0 8px;font-weight:650}\n"
	"a{color:var(--before)}\n"
	"p{margin:6px 0}\n"
	"code,pre,td.num{font-family:ui-monospace,'SF Mono','DejaVu Sans Mono',monospace}\n"
	"code,pre{font-size:13px}\n"
	"code{overflow-wrap:anywhere}\n"
	".dim,.legend{color:var(--dim)}.legend{font-size:13px}\n"
	".headline{display:flex;flex-wrap:wrap;gap:6px 26px;align-items:center;margin:18px 0 8px;"
	"padding:14px 18px;background:var(--panel);border-left:4px solid var(--line)}\n"
	".headline.worse{border-color:var(--after)}.headline.better{border-color:var(--good)}\n"
	".big{font-size:32px;font-weight:700;line-height:1.1}\n"
	".worse .big,td.worse{color:var(--after)}.better .big,td.better{color:var(--good)}\n"
	".big small{display:block;font-size:14px;font-weight:600}\n"
	".headline dl{display:flex;flex-wrap:wrap;gap:4px 26px;margin:0}\n"
	".headline dt{font-size:12px;color:var(--dim)}.headline dd{margin:0}\n"
	".note{padding:8px 14px;background:var(--panel);border-left:4px solid var(--before)}\n"
	"table{border-collapse:collapse;width:100%;font-size:14px}\n"
	"th{text-align:left;font-weight:600;color:var(--dim);font-size:13px}\n"
	"th,td{padding:5px 12px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}\n"
	"td.num,th.num{text-align:right;white-space:nowrap;font-size:13px}td.num{font-size:12.5px}"
	"\n"
	"td.site{padding-left:20px;color:var(--dim)}tr.class td{font-weight:600}\n"
	"table.facts th{width:150px}\n"
	".scroll{overflow-x:auto}\n"
	"pre{background:var(--panel);padding:12px 14px;overflow-x:auto;margin:8px 0}\n"
	"summary{cursor:pointer}\n"
	"svg.plot{display:block;width:100%;height:auto;min-width:680px}\n"
	"svg.forest{width:150px;height:16px;display:block}\n"
	"svg.key{width:12px;height:12px;margin:0 5px 0 12px;vertical-align:-1px}\n"
	"p.legend svg.key:first-child{margin-left:0}\n"
	"svg text{fill:var(--fg);font-size:12px}svg .tick,svg "
	".label{fill:var(--dim);font-size:11px}\n"
	"svg .mass{fill:var(--after);font-size:11px;font-weight:700}\n"
	"svg .label.culprit{fill:var(--after);font-weight:700}\n"
	"svg .name{font-weight:600;font-size:13px}svg .value{fill:var(--dim)}\n"
	".grid{stroke:var(--line)}.axis{stroke:var(--dim);stroke-opacity:.55}\n"
	".mark{fill:var(--mark)}\n"
	".level{stroke-width:1.6;stroke-dasharray:6 4}\n"
	".level.before,.ring.before{stroke:var(--before)}.level.after,.ring.after{stroke:var(--"
	"after)}\n"
	".dot.before,.bar.before{fill:var(--before)}.dot.after,.bar.after{fill:var(--after)}\n"
	".dot.other,.bar.other{fill:var(--dim)}.dot{fill-opacity:.85}\n"
	".ring{fill:var(--bg);stroke-width:1.7}\n"
	".whisker{stroke-width:2}.whisker.before{stroke:var(--good)}.whisker.after{stroke:var(--"
	"after)}"
	".whisker.other{stroke:var(--dim)}\n"
	".forest .dot.before{fill:var(--good)}\n"
	".beyond.after{fill:var(--after)}.beyond.before{fill:var(--good)}.beyond.other{fill:var(--"
	"dim)}\n"
	".cross{stroke:var(--dim);stroke-width:1.6;fill:none}\n";

void html_open(struct str *out, const char *title)
{
	str_add(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
		     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		     "style-src 'unsafe-inline'\"/>\n<title>");
	escape_html(out, title);
	str_addf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n", style);
}

void html_close(struct str *out)
{
	str_add(out, "</main>\n</body>\n</html>\n");
}
