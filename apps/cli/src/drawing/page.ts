import { type PlanTrace, reportTrace, type TraceReport } from '@holdfast/orchestrator';
import { describeDecision, formatCount, formatDuration, toLine } from '@holdfast/orchestrator/text';
import { documentOf } from './document.ts';
import { graphOf } from './graph.ts';
import { cutBlock, type Html, html, nothing, valueBlock } from './html.ts';
import { markdown } from './markdown.ts';
import { fact, listOf, markOf, nodesOf } from './nodes.ts';
import { formatTime } from './text.ts';
import { timelineOf } from './timeline.ts';

const maxMissing = 100;
const maxQuestions = 100;

/**
 * The trace as a page. Shows
 * the request, the status, the output, missing nodes, pending questions, the graph as a drawing, a timeline, and a table of the nodes
 * with inputs, decisions, approval and result.
 *
 * Limits, noted on the page when they apply; the trace itself is complete: 10,000 characters of a value; 2,000 of a message or
 * purpose; 50 decisions and 50 failed attempts per node; a drawing of at most 500 nodes and 3,000 dependencies, otherwise a list; the
 * 500 longest bars in the timeline. The page's size is linear in the trace's.
 */
export function traceToHtml(trace: PlanTrace): string {
  const { run, status } = trace;
  const report = reportTrace(trace);
  const title = report.request === undefined ? `Plan run ${run}` : toLine(report.request, 120);
  const body = html`<a class="skip" href="#nodes">Skip to the table of nodes</a>
<header>
<h1><bdi>${title}</bdi></h1>
${headOf(report)}<nav aria-label="Parts of this page"><ul><li><a href="#result">Result</a></li><li><a href="#graph">Graph</a></li><li><a href="#timeline">Timeline</a></li><li><a href="#nodes">Nodes</a></li></ul></nav>
</header>
<main>
<section id="result" aria-labelledby="result-title"><h2 id="result-title">Result</h2>
${resultOf(report)}</section>
<section id="graph" aria-labelledby="graph-title"><h2 id="graph-title">Graph</h2>
${graphOf(report)}
</section>
<section id="timeline" aria-labelledby="timeline-title"><h2 id="timeline-title">Timeline</h2>
${timelineOf(report)}
</section>
<section id="nodes" aria-labelledby="nodes-title"><h2 id="nodes-title">Nodes</h2>
${nodesOf(report)}
</section>
</main>
`;
  return documentOf(`${title}: ${status}`, body);
}

function headOf(report: TraceReport): Html {
  const { request, status, summary, open, sessionId, digest, startedAtMs, endedAtMs, durationMs } = report;
  return html`<dl>${fact('Request', request === undefined ? undefined : html`<bdi>${toLine(request, 10_000)}</bdi>`)}${fact(
    'Status',
    html`${summary}${open === '' ? '' : `. ${open}`}`,
  )}${fact('Started', html`${formatTime(startedAtMs)}`)}${fact(status === 'suspended' ? 'Suspended' : 'Ended', endedAtMs === undefined ? undefined : html`${formatTime(endedAtMs)}`)}${fact(
    'Duration',
    durationMs === undefined ? undefined : html`${formatDuration(durationMs)}`,
  )}${fact('Session', html`<code><bdi>${toLine(sessionId, 200)}</bdi></code>`)}${fact('Plan', html`<code>${toLine(digest, 100)}</code>`)}</dl>
`;
}

function resultOf(report: TraceReport): Html {
  const { output } = report;
  return html`${output === undefined ? html`<p>The final node has no result.</p>` : typeof output === 'string' ? cutBlock(output, markdown) : valueBlock(output)}
${missingOf(report)}${questionsOf(report)}`;
}

function missingOf({ nodes, missing }: TraceReport): Html {
  if (missing.length === 0) return nothing;
  const places = new Map(nodes.map((node, index) => [node, index]));
  const left = missing.length - maxMissing;
  return html`<h3>Missing</h3>
<ul>${missing.slice(0, maxMissing).map(
    (node) => html`<li><a href="#node-${places.get(node) ?? 0}"><bdi>${node.name}</bdi></a> ${markOf(node)}</li>
`,
  )}${left <= 0 ? nothing : html`<li class="cut">and ${formatCount(left, 'more node')} in the table.</li>`}</ul>
`;
}

function questionsOf({ pending }: TraceReport): Html {
  if (pending.length === 0) return nothing;
  const left = pending.length - maxQuestions;
  return html`<h3>Pending questions</h3>
<ul>${pending.slice(0, maxQuestions).map(
    ({ callId, name, asks, expiresAtMs }) =>
      html`<li>Call <code><bdi>${toLine(callId, 200)}</bdi></code> of <code><bdi>${toLine(name, 80)}</bdi></code>, until ${formatTime(expiresAtMs)}${listOf(asks.map((decision) => describeDecision(decision)))}</li>
`,
  )}${left <= 0 ? nothing : html`<li class="cut">and ${formatCount(left, 'more', 'more')}.</li>`}</ul>
`;
}
