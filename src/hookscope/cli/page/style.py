"""How the page looks: light and dark, on a screen and on paper."""

STYLE = """
:root {
  color-scheme: light dark;
  --back: #fbfbf9; --card: #ffffff; --text: #24292e; --faint: #6a7178; --line: #e3e4e0;
  --good: #2e7d4f; --bad: #b3372f; --odd: #92620a; --bar: #7c93b2; --mark: #fff3c9; --code: #f4f4f0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #16181b; --card: #1d2024; --text: #d8dbde; --faint: #8f979f; --line: #30353b;
    --good: #6fbf8b; --bad: #ee8880; --odd: #d9aa55; --bar: #6d83a3; --mark: #46401f; --code: #23272c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--back); color: var(--text);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif;
}
main { max-width: 62rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.6rem; margin: 0.1rem 0 0.4rem; font-weight: 600; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2.2rem 0 0.7rem; font-weight: 600; }
h3 { font-size: 1rem; margin: 0; font-weight: 600; overflow-wrap: anywhere; }
h4 { font-size: 0.85rem; margin: 1rem 0 0.3rem; font-weight: 600; color: var(--faint); }
p { margin: 0.3rem 0; overflow-wrap: anywhere; }
.faint, footer { color: var(--faint); }
footer { margin-top: 3rem; font-size: 0.85rem; }
.good { color: var(--good); } .bad { color: var(--bad); } .odd { color: var(--odd); }
.state { font-weight: 600; white-space: nowrap; }
article {
  background: var(--card); border: 1px solid var(--line); border-radius: 8px;
  padding: 0.9rem 1.1rem; margin: 0.8rem 0;
}
.head { display: flex; gap: 0.8rem; align-items: baseline; flex-wrap: wrap; }
pre, code, .mono { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre {
  background: var(--code); border-radius: 6px; padding: 0.6rem 0.8rem; margin: 0.3rem 0;
  white-space: pre-wrap; overflow-wrap: anywhere; max-height: 40rem; overflow: auto;
}
mark { background: var(--mark); color: inherit; display: block; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; padding: 0.25rem 0.8rem 0.25rem 0; font-weight: normal; }
th { color: var(--faint); white-space: nowrap; width: 1%; }
td { overflow-wrap: anywhere; }
td.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; width: 1%; }
td.time { width: 45%; min-width: 8rem; }
svg { display: block; width: 100%; height: 0.9rem; margin-top: 0.35rem; }
svg .lane { fill: var(--line); } svg .bar { fill: var(--bar); }
svg .bar.bad { fill: var(--bad); } svg .bar.odd { fill: var(--odd); }
ul { margin: 0.3rem 0; padding-left: 1.2rem; }
li { overflow-wrap: anywhere; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 0.8rem; }
details > summary { cursor: pointer; color: var(--faint); }
@media (max-width: 45rem) { .pair { grid-template-columns: 1fr; } td.time { display: none; } }
@media print { pre { max-height: none; } article { break-inside: avoid; } }
"""
