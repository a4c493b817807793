"""The HTML page of a report, as a Jinja template, and its style.

The style stands in the page by its hash: the page asks for nothing, runs nothing, and takes no style from a report.
"""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --page: #ffffff; --tint: #f6f8fa; --line: #d1d9e0;
  --minus: #ffebe9; --plus: #dafbe1; --place: #ddf4ff; --accent: #9a6700; }
@media (prefers-color-scheme: dark) {
  :root { --text: #f0f6fc; --soft: #9198a1; --page: #0d1117; --tint: #151b23; --line: #3d444d;
    --minus: #4a1f22; --plus: #14351f; --place: #10294a; --accent: #d29922; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 16px/1.55 system-ui, "Segoe UI", Roboto,
  "Helvetica Neue", Arial, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.3; margin: 0 0 1.5rem; padding: 0 0 0 .9rem;
  border-left: .3rem solid var(--accent); }
h1 small { display: block; font-size: .85rem; font-weight: 400; color: var(--soft); }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .8rem; padding-bottom: .3rem; border-bottom: 1px solid var(--line); }
code { font: .86em/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  background: var(--tint); border: 1px solid var(--line); border-radius: .3em; padding: .05em .3em;
  overflow-wrap: anywhere; white-space: pre-wrap;
  unicode-bidi: isolate; direction: ltr; -webkit-box-decoration-break: clone; box-decoration-break: clone; }
bdi { unicode-bidi: isolate; }
ul { padding-left: 1.3rem; }
li { margin: .35rem 0; }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .6rem 0; padding: 0 .9rem; }
details[open] { padding-bottom: .6rem; }
summary { cursor: pointer; padding: .5rem 0; font-weight: 600; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .6rem 0; font-size: .92rem; }
th, td { border: 1px solid var(--line); padding: .35rem .6rem; text-align: left; vertical-align: top; }
td { max-width: 26rem; }
td code { overflow-wrap: break-word; }
th { background: var(--tint); }
pre { background: var(--tint); border: 1px solid var(--line); border-radius: .4rem; overflow-x: auto; margin: .6rem 0;
  padding: .4rem 0; font: .84rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
pre span { display: block; padding: 0 .8rem; min-width: max-content; unicode-bidi: isolate; direction: ltr; }
.minus { background: var(--minus); }
.plus { background: var(--plus); }
.place { background: var(--place); }
@media print {
  :root { --text: #000; --soft: #444; --page: #fff; --tint: #f4f4f4; --line: #bbb;
    --minus: #fff; --plus: #fff; --place: #fff; }
  main { max-width: none; padding: 0; }
  details::details-content { content-visibility: visible; block-size: auto; }
  summary { list-style: none; break-after: avoid; }
  .wide { overflow: visible; }
  td code { overflow-wrap: anywhere; }
  pre span { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 0; }
  tr, pre span { break-inside: avoid; }
}
"""

# Macros that show a document's blocks, on this page and on others; `build_environment` gives them what they need.
BLOCKS: Final = """\
{%- macro line(spans) -%}
{%- for span in spans -%}
{%- set kind = kind_of(span) -%}
{%- if kind == "Break" -%}<br>
{%- elif kind == "Strong" -%}<strong>{{ span.text }}</strong>
{%- elif kind == "Name" -%}{% if span.text %}<code>{{ shown(span.text) }}</code>{% else %}(empty){% endif %}
{%- elif kind == "Prose" -%}
{%- if shown(span.text).strip() %}<bdi>{{ shown(span.text) }}</bdi>{% else %}(empty){% endif %}
{%- else -%}{{ span.text }}
{%- endif -%}
{%- endfor -%}
{%- endmacro -%}
{%- macro show(blocks, title="h2") -%}
{%- for block in blocks -%}
{%- set kind = kind_of(block) -%}
{%- if kind == "Section" %}
<section>
<{{ title }}>{{ block.title }}</{{ title }}>
{{- show(block.blocks) }}
</section>
{%- elif kind == "Details" %}
<details>
<summary>{{ line(block.summary) }}</summary>
{{- show(block.blocks) }}
</details>
{%- elif kind == "Paragraph" %}
<p>{{ line(block.spans) }}</p>
{%- elif kind == "Items" %}
<ul>
{%- for item in block["items"] %}
<li>{{ line(item) }}</li>
{%- endfor %}
</ul>
{%- elif kind == "Table" %}
<div class="wide"><table>
<thead><tr>{% for cell in block.head %}<th scope="col">{{ cell }}</th>{% endfor %}</tr></thead>
<tbody>
{%- for row in block.rows %}
<tr>{% for cell in row %}<td>{{ line(cell) }}</td>{% endfor %}</tr>
{%- endfor %}
</tbody>
</table></div>
{%- else %}
<pre>
{%- for sign, text in block.lines -%}
<span class="{{ sign_names[sign] }}">{{ sign }} {{ shown(text) }}</span>
{%- endfor -%}
</pre>
{%- endif -%}
{%- endfor -%}
{%- endmacro -%}
"""

TEMPLATE: Final = """\
{%- from "blocks" import line, show -%}
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Poolwright: {{ shown(title) }}</title>
<style>{{ style }}</style>
</head>
<body>
<main>
<h1><small>Poolwright</small> {{ line(content.headline) }}</h1>
{{- show(content.sections) }}
</main>
</body>
</html>
"""
