/** The page's only style sheet. After a change, update `styleHash`; a test prints the right one. */
export const style: string = `
:root{color-scheme:light dark;--text:#1f2328;--dim:#59636e;--page:#fff;--line:#d1d9e0;--block:#f6f8fa;--link:#0550ae;
--ok:#1a7f37;--ok-fill:#dafbe1;--bad:#b42318;--bad-fill:#ffe3e0;--doubt:#8a5a00;--doubt-fill:#fff1cf;
--skipped:#59636e;--skipped-fill:#eceef0;--open:#0550ae;--open-fill:#dcecff}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--dim:#9da7b3;--page:#0d1117;--line:#3d444d;--block:#161b22;--link:#79b8ff;
--ok:#56d364;--ok-fill:#12301b;--bad:#ff8b80;--bad-fill:#43150f;--doubt:#e3b341;--doubt-fill:#372803;
--skipped:#9da7b3;--skipped-fill:#23292f;--open:#79b8ff;--open-fill:#0c2d57}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem 1.5rem 3rem;max-width:90rem;font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--page)}
h1{font-size:1.5rem;margin:.5rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
a{color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.skip{position:absolute;left:-99rem}.skip:focus{position:static}
nav ul{display:flex;flex-wrap:wrap;gap:0 1.25rem;list-style:none;padding:0;margin:.5rem 0}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem 1rem;margin:.5rem 0}
dt{color:var(--dim)}dd{margin:0;min-width:0;overflow-wrap:anywhere}dd ul{margin:0;padding-left:1.1rem}
pre{margin:.25rem 0;padding:.5rem .75rem;background:var(--block);border:1px solid var(--line);border-radius:4px;max-height:30rem;overflow:auto;
white-space:pre-wrap;overflow-wrap:anywhere;font:.87em/1.45 ui-monospace,monospace;unicode-bidi:plaintext}
.markdown{padding:.25rem .75rem;border:1px solid var(--line);border-radius:4px;max-height:30rem;overflow:auto}
code{font:.87em ui-monospace,monospace}bdi{overflow-wrap:anywhere}
.told{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.cut,.note{color:var(--dim);margin:.25rem 0}
.scroll{overflow:auto;border:1px solid var(--line);border-radius:6px;max-height:85vh}
svg{display:block}svg svg{display:inline}
svg text{fill:var(--text);font:13px system-ui,sans-serif}svg .small{font-size:12px;fill:var(--dim)}svg .name{font-weight:600}
.edge{fill:none;stroke:var(--dim);stroke-width:1.3}.head{fill:var(--dim)}
.box{stroke-width:1.5}.final{stroke-width:3.5}
.axis{stroke:var(--line);stroke-width:1}.wait{stroke:var(--dim);stroke-width:2;stroke-dasharray:2 3}
.retry{stroke:var(--text);stroke-width:2}.person{stroke-width:1;stroke-dasharray:3 2}
.ok .box,.ok .person{fill:var(--ok-fill);stroke:var(--ok)}.ok .bar{fill:var(--ok)}
.bad .box,.bad .person{fill:var(--bad-fill);stroke:var(--bad)}.bad .bar{fill:var(--bad)}
.doubt .box,.doubt .person{fill:var(--doubt-fill);stroke:var(--doubt)}.doubt .bar{fill:var(--doubt)}
.skipped .box,.skipped .person{fill:var(--skipped-fill);stroke:var(--skipped)}.skipped .bar{fill:var(--skipped)}
.open .box,.open .person{fill:var(--open-fill);stroke:var(--open)}.open .bar{fill:var(--open)}
svg a:hover .box,svg a:focus .box{stroke-width:3.5}svg a:hover text{text-decoration:underline}
.mark{display:inline-block;padding:0 .5rem;border:1px solid;border-radius:1rem;font-weight:600;white-space:nowrap}
.mark.ok{color:var(--ok);background:var(--ok-fill)}.mark.bad{color:var(--bad);background:var(--bad-fill)}
.mark.doubt{color:var(--doubt);background:var(--doubt-fill)}.mark.skipped{color:var(--skipped);background:var(--skipped-fill)}
.mark.open{color:var(--open);background:var(--open-fill)}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
thead th{position:sticky;top:0;background:var(--page);border-bottom-width:2px;white-space:nowrap}
td.number{white-space:nowrap;font-variant-numeric:tabular-nums}tbody th bdi{display:inline-block;width:max-content;max-width:13ch}td.tool{min-width:9rem}td.more{width:50%;min-width:16rem}details{position:relative}
@media (max-width:60rem){.table{overflow-x:auto}}
tr:target{outline:3px solid var(--open);outline-offset:-3px}
summary{cursor:pointer;color:var(--link)}
@media print{body{max-width:none;padding:0;font-size:11px}nav,.skip{display:none}.scroll{max-height:none;border:0;overflow:visible}
.scroll svg{max-width:100%;height:auto}pre{max-height:none}thead th{position:static}tr,svg{break-inside:avoid}
.table{overflow:visible}td.tool,td.more{min-width:0}th,td{padding:.25rem .35rem}thead th{white-space:normal}
details::details-content{content-visibility:visible;block-size:auto}summary{color:var(--dim)}}
`;

/** SHA-256 of the style sheet for the page's Content-Security-Policy. */
export const styleHash = 'sha256-lLMOxkHFa4y4tP1mUsyS1qpBGmc4eqEFSEn4dkNd/0Y=';
